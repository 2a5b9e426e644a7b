package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxvec "github.com/pgvector/pgvector-go/pgx"

	"github.com/tzzr/context-manager/internal/fault"
)

// How connections notice that nobody is there any more.
const (
	connectLimit      = 2 * time.Second // for one host to take a connection, unless connect_timeout says otherwise
	registerLimit     = 5 * time.Second // for a new connection to tell what types it has
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3
	unacknowledged    = 10 * time.Second // for which what was sent may stay so (TCP_USER_TIMEOUT)
)

// address is a database, and how to connect to it.
type address struct {
	config *pgxpool.Config
	pooled bool        // a pooler stands between, which may give each transaction another connection
	hasty  atomic.Bool // the login's own commits would not wait: what the last connection has told
}

// readAddress reads a database's address, and connects once to see what is there.
//
// A pooler in transaction mode refuses parameters of the connection that it does not know, and forgets what a session
// was told; statements that are prepared by name are gone with the next transaction. It is known by the process number
// that it invents for its clients: that is not the one of the process that answers. Behind it, statements are sent
// whole each time, which plans them for the values at hand, and every setting that matters is set in a transaction.
func readAddress(ctx context.Context, url string) (*address, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the database's address cannot be read")
	}
	steadfast(config.ConnConfig)
	config.ConnConfig.RuntimeParams["application_name"] = "context-manager"
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	a := &address{config: config}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, registerLimit)
		defer cancel()
		if !a.pooled {
			told, err := conn.PgConn().Exec(ctx, awaitSQL).ReadAll()
			if err != nil {
				return err
			}
			a.hasty.Store(len(told) == 1 && told[0].CommandTag.RowsAffected() > 0)
		}
		return pgxvec.RegisterTypes(ctx, conn)
	}
	if err := a.look(ctx); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the database cannot be reached")
	}
	if a.pooled {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return a, nil
}

// awaitSQL makes commits of a session wait for what the database has to wait for, where its configuration, or that of the
// login, says that they do not; what waits for more stays as it is. A row says that it was so.
const awaitSQL = "SELECT set_config('synchronous_commit', 'on', FALSE) WHERE current_setting('synchronous_commit') IN ('off', 'local')"

// beginSQL begins a transaction that awaits: behind a pooler nothing else does, and a configuration can be changed meanwhile.
const beginSQL = "begin; SELECT set_config('synchronous_commit', 'on', TRUE) WHERE current_setting('synchronous_commit') IN ('off', 'local')"

// look learns whether who takes the connection is another than who answers, and whether commits wait.
func (a *address) look(ctx context.Context) error {
	config := a.config.ConnConfig.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var pid uint32
	var hasty bool
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid(), current_setting('synchronous_commit') IN ('off', 'local')").Scan(&pid, &hasty); err != nil {
		return err
	}
	a.pooled = pid != conn.PgConn().PID()
	a.hasty.Store(hasty)
	return nil
}

// with gives how to connect with settings of the session. Behind a pooler there is no session: who needs them there sets
// them in transactions.
func (a *address) with(settings map[string]string) *pgxpool.Config {
	config := a.config.Copy()
	if !a.pooled {
		config.ConnConfig.RuntimeParams["jit"] = "off" // compiling costs more than these queries do
		// Postgres, too, notices a connection that was cut somewhere on the way, and holds no locks for it for hours.
		for name, value := range map[string]float64{"idle": keepAliveIdle.Seconds(), "interval": keepAliveInterval.Seconds(), "count": keepAliveCount} {
			config.ConnConfig.RuntimeParams["tcp_keepalives_"+name] = fmt.Sprint(value)
		}
		maps.Copy(config.ConnConfig.RuntimeParams, settings)
	}
	return config
}

// steadfast makes connections notice a network that is cut, and end with a server that cannot write any more.
func steadfast(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectLimit
	}
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount},
		Control:         control,
	}
	config.DialFunc = dialer.DialContext
	known := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, pg *pgconn.PgError) bool {
		return (known == nil || known(conn, pg)) && !goneServer(pg.Code)
	}
}

// goneServer tells whether a code says that the server has ended, is ending or starting, or has become a standby: none of
// its connections is of use, and another may lead elsewhere.
func goneServer(code string) bool {
	switch code {
	case "25006", "57P01", "57P02", "57P03": // read only, ended by an administrator, by a crash, not yet or no longer there
		return true
	}
	return strings.HasPrefix(code, "08")
}

// How long a database may be slow, or not ready yet, before a start gives it up; and how often it is tried.
const (
	startPatience = 30 * time.Second
	startEvery    = 100 * time.Millisecond
)

// patiently begins something anew for as long as the database takes what comes and does not answer in time. Where nobody
// listens, or somebody refuses, it does not wait: the address may be wrong.
func patiently(ctx context.Context, begin func() error) error {
	for began := time.Now(); ; {
		err := begin()
		if err == nil || !isSlow(err) || ctx.Err() != nil || time.Since(began) >= startPatience {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(startEvery):
		}
	}
}

// isSlow tells whether an error says that there is a database, which may answer later.
func isSlow(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "57P03" // it starts
	}
	for _, slow := range []error{errNoConnection, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET} {
		if errors.Is(err, slow) {
			return true
		}
	}
	return pgconn.Timeout(err)
}

// isLost tells whether an error says that the database cannot be reached, or not any more.
func isLost(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, lost := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, pgx.ErrTxClosed} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return pgconn.SafeToRetry(err)
}
