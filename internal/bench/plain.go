package bench

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	//go:embed sql/count.sql
	countSQL string
	//go:embed sql/left.sql
	leftSQL string
	//go:embed sql/lag.sql
	lagSQL string
	//go:embed sql/rows.sql
	rowsSQL string
	//go:embed sql/plain.sql
	plainSQL string
	//go:embed sql/sync.sql
	syncSQL string
)

const columns = 27 // of log.messages

// plainTable is the limit of appending: a table like the log's, without a chain, and clients that do nothing but INSERT.
type plainTable struct {
	pool  *pgxpool.Pool
	last  int64    // id up to which the table has the log's messages
	names []string // of the columns
}

func newPlainTable(ctx context.Context, database string) (*plainTable, error) {
	config, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	config.MaxConns = Connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	p := &plainTable{pool: pool}
	if _, err := pool.Exec(ctx, plainSQL); err != nil {
		pool.Close()
		return nil, err
	}
	return p, nil
}

func (p *plainTable) close() { p.pool.Close() }

// catchUp brings the table up to the log.
func (p *plainTable) catchUp(ctx context.Context) error {
	if _, err := p.pool.Exec(ctx, syncSQL, p.last); err != nil {
		return err
	}
	if err := p.mark(ctx); err != nil {
		return err
	}
	_, err := p.pool.Exec(ctx, "VACUUM ANALYZE plain_messages")
	return err
}

func (p *plainTable) mark(ctx context.Context) error {
	return p.pool.QueryRow(ctx, "SELECT COALESCE(max(id), 0) FROM log.messages").Scan(&p.last)
}

// insert writes the messages that the log has and the table has not, with so many rows a statement over so many
// connections, for at most a turn. What is left is written afterwards.
func (p *plainTable) insert(ctx context.Context, connections, batch int, limit time.Duration) (turn, error) {
	rows, err := p.fetch(ctx)
	if err != nil {
		return turn{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	statement := insertStatement(p.names, batch)
	for range connections { // planned, as the server's statements are
		if _, err := p.pool.Exec(ctx, "SELECT 1"); err != nil {
			return turn{}, err
		}
	}
	each := make([][]time.Duration, connections)
	var next atomic.Int64
	start := time.Now()
	end := start.Add(limit)
	var wait sync.WaitGroup
	for c := range connections {
		wait.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				at := int(next.Add(int64(batch))) - batch
				if at+batch > len(rows) || !began.Before(end) {
					next.Add(int64(-batch))
					return
				}
				args := make([]any, 0, batch*columns)
				for _, row := range rows[at : at+batch] {
					args = append(args, row...)
				}
				if _, err := p.pool.Exec(ctx, statement, args...); err != nil {
					cancel(err)
					return
				}
				each[c] = append(each[c], time.Since(began))
			}
		})
	}
	wait.Wait()
	done := turn{took: time.Since(start)}
	for _, list := range each {
		done.messages += batch * len(list)
		done.each = append(done.each, list...)
	}
	if err := context.Cause(ctx); err != nil {
		return done, err
	}
	_, err = p.pool.Exec(ctx, syncSQL+" ON CONFLICT DO NOTHING", p.last)
	if err != nil {
		return done, err
	}
	return done, p.mark(ctx)
}

// fetch reads the rows to write.
func (p *plainTable) fetch(ctx context.Context) ([][]any, error) {
	found, err := p.pool.Query(ctx, rowsSQL, p.last)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	p.names = p.names[:0]
	for _, field := range found.FieldDescriptions() {
		p.names = append(p.names, field.Name)
	}
	var rows [][]any
	for found.Next() {
		row, err := found.Values()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

func insertStatement(names []string, rows int) string {
	values := make([]string, rows)
	for i := range values {
		places := make([]string, len(names))
		for j := range places {
			places[j] = fmt.Sprintf("$%d", i*len(names)+j+1)
		}
		values[i] = "(" + strings.Join(places, ", ") + ")"
	}
	return "INSERT INTO plain_messages (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(values, ", ")
}
