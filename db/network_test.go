package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// network is the way to a Postgres, which can be cut.
type network struct {
	listener net.Listener
	to       *pgx.ConnConfig
	url      string

	mu    sync.Mutex
	state wire
	conns map[net.Conn]bool
	moved chan struct{} // closed, and made anew, whenever state changes

	mute string         // the connection on which this is sent first is silent from then on
	sent map[string]int // how often
}

// muteAt silences one connection, for good: that on which some text is sent first.
func (n *network) muteAt(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mute, n.sent = text, map[string]int{}
}

// saw is how often the text of muteAt was sent.
func (n *network) saw(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sent[text]
}

// silences tells whether what is sent silences its connection.
func (n *network) silences(sent []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mute == "" || !bytes.Contains(sent, []byte(n.mute)) {
		return n.state == silenced
	}
	n.sent[n.mute]++
	return n.sent[n.mute] == 1 || n.state == silenced
}

type wire int

const (
	connected wire = iota
	severed        // connections end, and new ones are ended at once
	silenced       // nothing comes through; what was open then is of no use later
)

func newNetwork(t *testing.T, direct string) *network {
	t.Helper()
	to, err := pgx.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "postgres", User: url.UserPassword(to.User, to.Password), Host: listener.Addr().String(), Path: "/" + to.Database, RawQuery: "sslmode=disable"}
	n := &network{listener: listener, to: to, url: address.String(), conns: map[net.Conn]bool{}, moved: make(chan struct{})}
	t.Cleanup(func() { _ = listener.Close(); n.set(severed) })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go n.carry(conn)
		}
	}()
	return n
}

func (n *network) carry(client net.Conn) {
	defer client.Close()
	n.mu.Lock()
	state, moved := n.state, n.moved
	n.mu.Unlock()
	switch state {
	case severed:
		return
	case silenced:
		<-moved
		return
	}
	kind, address := pgconnNetwork(n.to)
	server, err := net.Dial(kind, address)
	if err != nil {
		return
	}
	defer server.Close()
	n.mu.Lock()
	n.conns[client], n.conns[server] = true, true
	n.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { n.copy(server, client) })
	both.Go(func() { n.copy(client, server) })
	both.Wait()
	n.mu.Lock()
	delete(n.conns, client)
	delete(n.conns, server)
	n.mu.Unlock()
}

// copy carries bytes one way. In silence it takes them, and they are gone.
func (n *network) copy(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for silent := false; ; {
		read, err := from.Read(buffer)
		silent = n.silences(buffer[:read]) || silent
		if err != nil && (err == io.EOF || !silent) {
			return
		}
		if err != nil {
			return
		}
		if silent {
			continue
		}
		if _, err := to.Write(buffer[:read]); err != nil {
			return
		}
	}
}

// set changes what the network does.
func (n *network) set(state wire) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state = state
	close(n.moved)
	n.moved = make(chan struct{})
	if state == severed {
		for conn := range n.conns {
			_ = conn.Close()
		}
	}
}

// pgconnNetwork gives how net reaches a host.
func pgconnNetwork(config *pgx.ConnConfig) (kind, address string) {
	if filepath.IsAbs(config.Host) {
		return "unix", filepath.Join(config.Host, ".s.PGSQL."+strconv.Itoa(int(config.Port)))
	}
	return "tcp", net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

// A start waits for a database that does not answer for a while, and for none that is not there.
func TestStartIsPatient(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]wire{"severed": severed, "silenced": silenced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t, dbtest.New(t))
			for _, begin := range []func() error{
				func() error { return db.Migrate(t.Context(), n.url, slog.New(slog.DiscardHandler)) },
				func() error {
					store, err := db.Open(t.Context(), n.url, 4, slog.New(slog.DiscardHandler))
					if err == nil {
						store.Close()
					}
					return err
				},
			} {
				n.set(state)
				time.AfterFunc(3*time.Second, func() { n.set(connected) })
				if err := begin(); err != nil {
					t.Error(err)
				}
			}
			_ = n.listener.Close()
			n.set(severed)
			began := time.Now()
			if _, err := db.Open(t.Context(), n.url, 4, slog.New(slog.DiscardHandler)); fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("where nobody listens, Open() = %v", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("and it waited for %s", took)
			}
		})
	}
}

// While the way to the database is cut, whoever asks is told so in time; once it is whole again, all goes on by itself.
func TestNetworkLost(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]wire{"severed": severed, "silenced": silenced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := dbtest.New(t)
			n := newNetwork(t, direct)
			store, err := db.Open(t.Context(), n.url, 4, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			dir := t.TempDir()
			if _, err := store.StartSealer(t.Context(), db.SealerConfig{Key: filepath.Join(dir, "key"), Checkpoint: filepath.Join(dir, "checkpoint")}); err != nil {
				t.Fatal(err)
			}
			feed := mustSubscribe(t, store)
			conn := superuser(t, direct)
			size := int64(0)
			for round := range 2 {
				mustAppend(t, store, draft("s", fmt.Sprint("before ", round)))
				next(t, feed)
				if got := ask(t, store, "before", nil); len(got.Items) == 0 { // connections are in use
					t.Error("nothing is found")
				}
				n.set(state)
				cutOff(t, store, round)
				n.set(connected)
				eventually(t, "it writes again", func() bool {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					key := fmt.Sprint("after ", round)
					d := draft("s", key)
					d.IdempotencyKey = &key
					_, err := store.Append(ctx, []chain.Draft{d})
					return err == nil
				})
				for *next(t, feed).Content != fmt.Sprint("after ", round) { // what was cut off may have been written
				}
				eventually(t, "it reads again, every time", func() bool {
					for range 8 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						defer cancel()
						if store.Ping(ctx) != nil {
							return false
						}
					}
					return true
				})
				size = int64(value[int](t, conn, "SELECT count(*) FROM log.messages"))
				eventually(t, "it seals again", func() bool { return store.Sealer().State().Newest.Size == size })
			}
			checkChains(t, store)
		})
	}
}

// cutOff asks for everything at once while there is no database.
func cutOff(t *testing.T, store *db.DB, round int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	for i := range 8 {
		for name, do := range map[string]func() error{
			"Ping": func() error { return store.Ping(ctx) },
			"MessagesByHash": func() error {
				_, err := store.MessagesByHash(ctx, []chain.Hash{hashOf("none")})
				return err
			},
			"Append": func() error {
				_, err := store.Append(ctx, []chain.Draft{draft(fmt.Sprint("cut ", i), fmt.Sprint("cut off ", round))})
				return err
			},
		} {
			wait.Go(func() {
				if err := do(); fault.CodeOf(err) != fault.Unavailable {
					t.Errorf("%s = %v (%s), want UNAVAILABLE", name, err, fault.CodeOf(err))
				}
			})
		}
	}
	wait.Wait()
}
