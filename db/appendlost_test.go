package db_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// cutter loses one connection to Postgres: once what a group of at least two calls sends is what is to be cut, the
// answer to that is awaited and thrown away.
type cutter struct {
	cut func(sent []byte) (calls int)

	mu   sync.Mutex
	done bool
}

// option makes a store connect through the cutter.
func (c *cutter) option(config *pgxpool.Config) {
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &cutConn{Conn: conn, cutter: c}, err
	}
}

type cutConn struct {
	net.Conn
	cutter *cutter

	mu   sync.Mutex // pgx may read and write at once
	lose bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.cutter.cut(b) >= 2 {
		c.cutter.mu.Lock()
		lose := !c.cutter.done
		c.cutter.done = true
		c.cutter.mu.Unlock()
		c.mu.Lock()
		c.lose = c.lose || lose
		c.mu.Unlock()
	}
	return c.Conn.Write(b)
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lose && err == nil {
		_ = c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// rows counts the rows of messages that are sent: each has its owner once.
func rows(sent []byte) int { return bytes.Count(sent, []byte(hashOf("ply:owner").String())) }

// sessionsOnly counts the hashes of what is sent before any row: twice those of the sessions.
func sessionsOnly(sent []byte) int {
	if rows(sent) > 0 {
		return 0
	}
	return len(hashText.FindAll(sent, -1)) / 2
}

var hashText = regexp.MustCompile(`[0-9a-f]{64}`)

// A group whose connection is lost is not written again, and its calls hear what is known: once its rows and COMMIT were
// sent, that it may have been written; before, that it was not.
func TestAppendConnectionLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		cut     func([]byte) int
		says    string
		written int // how often what got an error is in the log
	}{
		{"at COMMIT", rows, "whether the messages were written is not known", 1},
		{"before the rows are sent", sessionsOnly, "nothing was written", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cutter := &cutter{cut: tt.cut}
			store, err := db.Open(t.Context(), dbtest.New(t), 4, slog.New(slog.DiscardHandler), cutter.option)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			errs := make([]error, 100)
			var wait sync.WaitGroup
			for i := range errs {
				wait.Go(func() {
					_, errs[i] = store.Append(t.Context(), []chain.Draft{draft(fmt.Sprint(i), fmt.Sprint(i))})
				})
			}
			wait.Wait()
			times := map[string]int{}
			for _, m := range checkChains(t, store) {
				times[*m.Content]++
			}
			failed := 0
			for i, err := range errs {
				want := 1
				if err != nil {
					failed++
					want = tt.written
					if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("call %d: %v (%s), want UNAVAILABLE and %q", i, err, fault.CodeOf(err), tt.says)
					}
				}
				if got := times[fmt.Sprint(i)]; got != want {
					t.Errorf("call %d, which got %v, is in the log %d times, want %d", i, err, got, want)
				}
			}
			if failed < 2 {
				t.Errorf("%d calls lost their connection, want a group of at least two", failed)
			}
		})
	}
}

// lateConn holds back what a group of rows is sent with, once, until Postgres has ended the session, which waits for it within a
// transaction. It lets Postgres wait for a second, not ten.
type lateConn struct {
	net.Conn
	held *atomic.Bool
	gone bool // holds it back until the session's process is gone as well

	mu    sync.Mutex
	early []byte // what Postgres said meanwhile
}

func (c *lateConn) Write(b []byte) (int, error) {
	if rows(b) > 0 && c.held.CompareAndSwap(false, true) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for said := make([]byte, 4<<10); ; {
			n, err := c.Conn.Read(said)
			c.early = append(c.early, said[:n]...)
			if err != nil || !c.gone {
				break
			}
		}
	}
	return c.Conn.Write(bytes.Replace(b, []byte("idle_in_transaction_session_timeout\x0010s\x00"), []byte("idle_in_transaction_session_timeout\x00 1s\x00"), 1))
}

func (c *lateConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := copy(b, c.early); n > 0 {
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// A group whose session Postgres has ended before it came is written over another one: nothing of it was.
func TestAppendAfterIdleTimeout(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("process gone %t", gone), func(t *testing.T) {
			t.Parallel()
			var held atomic.Bool
			store, err := db.Open(t.Context(), dbtest.New(t), 4, slog.New(slog.DiscardHandler), func(config *pgxpool.Config) {
				dial := config.ConnConfig.DialFunc
				config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					return &lateConn{Conn: conn, held: &held, gone: gone}, err
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if _, err := store.Append(t.Context(), []chain.Draft{draft("s", "in time")}); err != nil || !held.Load() {
				t.Errorf("Append() = %v, held back: %t; want it written", err, held.Load())
			}
			if got := checkChains(t, store); len(got) != 1 {
				t.Errorf("the log has %d messages, want one", len(got))
			}
		})
	}
}

// Reads that hold every connection of the pool do not hold up an append.
func TestAppendWhilePoolIsBusy(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for range store.Pool().Config().MaxConns {
		conn, err := store.Pool().Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := store.Append(ctx, []chain.Draft{draft("s", "in time")}); err != nil {
		t.Errorf("Append() with a busy pool = %v", err)
	}
}
