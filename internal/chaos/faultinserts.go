package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// eventInserters are how many send their events by SQL, beside the senders that post them.
const eventInserters = 4

// insertRole may insert events, and read them; nothing else.
const insertRole = "chaos_tool"

const grantInsertsSQL = "CREATE ROLE " + insertRole + "; GRANT INSERT, SELECT ON public.ia_nest_events TO " + insertRole

const insertSQL = `INSERT INTO ia_nest_events (source, agent, user_id, channel, thread_id, event_type, role, importance, tags, content, payload)
	VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10) RETURNING id`

// inserter writes events as an automation tool's node does: each in a transaction of its own, by a plain INSERT that it repeats
// until the database has said that it is there.
type inserter struct {
	database func() (string, error)
	as       string // the role
	conn     *pgx.Conn
	again    int // events that were sent once more
}

// grantInserts makes the role that inserters write as.
func grantInserts(ctx context.Context, database string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, grantInsertsSQL)
	return err
}

// insert writes a list, one after the other, and gives the hashes of the messages.
func (in *inserter) insert(ctx context.Context, list []event) ([]string, error) {
	hashes := make([]string, len(list))
	for i := range list {
		first := time.Now()
		for {
			var err error
			if hashes[i], err = in.try(ctx, &list[i]); err == nil {
				break
			}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case !mayPass(err):
				return nil, fmt.Errorf("%s is refused: %w", list[i].Content, err)
			case time.Since(first) > longest:
				return nil, fmt.Errorf("%s is not written in %s: %w", list[i].Content, longest, err)
			}
			in.again++
			if err := pause(ctx, retryEvery); err != nil {
				return nil, err
			}
		}
	}
	return hashes, nil
}

func (in *inserter) try(ctx context.Context, e *event) (hash string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if in.conn == nil || in.conn.IsClosed() {
		if err := in.connect(ctx); err != nil {
			return "", err
		}
	}
	var id int64
	if _, err := in.conn.Exec(ctx, "SET ROLE "+in.as); err != nil {
		return "", err
	}
	if err := in.conn.QueryRow(ctx, insertSQL, e.Source, e.Agent, e.User, e.Channel, e.Thread, e.Type, e.Role, e.Tags, e.Content, e.Payload).Scan(&id); err != nil {
		return "", err
	}
	if _, err := in.conn.Exec(ctx, "RESET ROLE"); err != nil { // a tool does not see hashes
		return "", err
	}
	err = in.conn.QueryRow(ctx, "SELECT hash::TEXT FROM log.messages WHERE id = $1", id).Scan(&hash)
	return hash, err
}

func (in *inserter) connect(ctx context.Context) error {
	at, err := in.database()
	if err != nil {
		return err
	}
	in.conn, err = pgx.Connect(ctx, at)
	return err
}

func (in *inserter) close() {
	if in.conn != nil {
		_ = in.conn.Close(context.Background())
	}
}

// mayPass tells whether the same statement may do later, as a tool is to take it: two were in each other's way (class 40), or
// the connection was lost, or there is none to be had.
func mayPass(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return true
	}
	switch pg.Code[:2] {
	case "40", "08", "53", "57":
		return true
	}
	return false
}
