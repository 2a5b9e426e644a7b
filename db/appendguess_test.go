package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// writerStatements are what the writer's connections are asked, from its first group on.
type writerStatements struct {
	mu    sync.Mutex
	conns map[*pgx.Conn]bool
	sent  []string
}

func (s *writerStatements) add(conn *pgx.Conn, sql string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(sql, "begin isolation level read committed") {
		s.conns[conn] = true
	}
	if s.conns[conn] {
		s.sent = append(s.sent, sql)
	}
}

// taken gives them, and forgets them.
func (s *writerStatements) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

func (s *writerStatements) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.add(conn, data.SQL)
	return ctx
}

func (s *writerStatements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *writerStatements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *writerStatements) TraceBatchQuery(_ context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	s.add(conn, data.SQL)
}

func (s *writerStatements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Whoever is in no session tells another's from a free one by nothing that leaves no trace: an append that cannot be written
// is refused alike in both, whatever it is refused for, and by the same statements.
func TestForeignSessionIsAsFreeUntilWritten(t *testing.T) {
	t.Parallel()
	statements, url := &writerStatements{conns: map[*pgx.Conn]bool{}}, dbtest.New(t)
	store, err := db.Open(t.Context(), url, 8, slog.New(slog.DiscardHandler), db.WithTracer(statements))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	dan := hashOf("dan")
	theirs := mustAppend(t, store, from(ana, "theirs", "hidden"), from(ana, "theirs", "more"))
	mustAppend(t, store, from(dan, "dan's", "own"))
	key := from(dan, "dan's", "with a key")
	key.IdempotencyKey = ptr("used")
	mustAppend(t, store, key)
	conn := superuser(t, url)
	before := count(t, conn, "SELECT count(*) FROM log.messages")
	for name, probe := range probesOfSessions(dan, theirs) {
		var told []string
		var sent [][]string
		for _, session := range []chain.Hash{theirs[0].SessionHash, hashOf("session:free")} {
			statements.taken()
			_, err := store.As(dan).Append(t.Context(), probe(session))
			told, sent = append(told, fmt.Sprintf("%+v", err)), append(sent, statements.taken())
			if err == nil {
				t.Errorf("%s: it was written", name)
			}
		}
		if diff := cmp.Diff(told[0], told[1]); diff != "" {
			t.Errorf("%s: another's session (-) and a free one (+): %s", name, diff)
		}
		if diff := cmp.Diff(sent[0], sent[1]); diff != "" || len(sent[0]) == 0 {
			t.Errorf("%s: by %d statements; another's session (-) and a free one (+): %s", name, len(sent[0]), diff)
		}
	}
	if n := count(t, conn, "SELECT count(*) FROM log.messages"); n != before {
		t.Errorf("%d messages were written", n-before)
	}
}

// probesOfSessions are appends that cannot be written, whosever the session is that they name.
func probesOfSessions(dan chain.Hash, theirs []chain.Message) map[string]func(session chain.Hash) []chain.Draft {
	invented, past := hashOf("invented"), time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	large := strings.Repeat("x", 1<<20)
	reasons := map[string]func(d *chain.Draft){
		"an invented head": func(d *chain.Draft) { d.PrevHash = &invented },
		"the head":         func(d *chain.Draft) { d.PrevHash = &theirs[1].Hash },
		"an invented ref":  func(d *chain.Draft) { d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: invented}} },
		"a hidden ref":     func(d *chain.Draft) { d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: theirs[0].Hash}} },
		"a ref, long ago": func(d *chain.Draft) {
			d.Refs, d.CreatedAt = []chain.Ref{{Type: chain.RefContext, Hash: invented}}, &past
		},
		"a used key":                      func(d *chain.Draft) { d.IdempotencyKey = ptr("used") },
		"a used key and an invented head": func(d *chain.Draft) { d.IdempotencyKey, d.PrevHash = ptr("used"), &invented },
		"the head, and more than is hashed": func(d *chain.Draft) {
			d.PrevHash, d.Content, d.Ambient = &theirs[1].Hash, large, ptr(chain.JSON("[1]"))
		},
		"an audit session": func(d *chain.Draft) { d.SessionHash = db.AuditSession(dan) },
	}
	probes := map[string]func(session chain.Hash) []chain.Draft{}
	for name, reason := range reasons {
		if name != "an audit session" {
			probes[name] = func(session chain.Hash) []chain.Draft {
				d := from(dan, "probe", "let me in", dan)
				d.SessionHash = session
				reason(&d)
				return []chain.Draft{d}
			}
		}
		for where, own := range map[string]bool{"to one's own": true, "again": false} {
			if where == "again" && name == "an audit session" {
				continue
			}
			probes["then "+where+" with "+name] = func(session chain.Hash) []chain.Draft {
				first, next := from(dan, "probe", "let me in", dan), from(dan, "dan's", "and")
				if first.SessionHash = session; !own {
					next.SessionHash = session
				}
				reason(&next)
				return []chain.Draft{first, next}
			}
		}
	}
	probes["then one of before it"] = func(session chain.Hash) []chain.Draft {
		first, next := from(dan, "probe", "let me in", dan), from(dan, "probe", "and")
		first.SessionHash, next.SessionHash = session, session
		first.CreatedAt, next.CreatedAt = ptr(past.Add(time.Hour)), &past
		return []chain.Draft{first, next}
	}
	probes["then one's own of long ago"] = func(session chain.Hash) []chain.Draft {
		first, next := from(dan, "probe", "let me in", dan), from(dan, "dan's", "and")
		first.SessionHash, next.CreatedAt = session, &past
		return []chain.Draft{first, next}
	}
	probes["a key twice"] = func(session chain.Hash) []chain.Draft {
		first, next := from(dan, "probe", "let me in", dan), from(dan, "probe", "and")
		first.SessionHash, next.SessionHash = session, session
		first.IdempotencyKey, next.IdempotencyKey = ptr("new"), ptr("new")
		return []chain.Draft{first, next}
	}
	probes["a key twice, and more than is hashed"] = func(session chain.Hash) []chain.Draft {
		drafts := probes["a key twice"](session)
		drafts[0].Content, drafts[1].Content = large, large+"!"
		drafts[1].Content = drafts[1].Content[1:]
		return drafts
	}
	return probes
}

// Nor do deliveries and exchanges tell whether somebody else has begun what they would go to, unless they could be written.
func TestBegunSessionIsAsFreeUntilDelivered(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	agent, user, stranger := hashOf("agent"), hashOf("user"), hashOf("stranger")
	keyed := event("own", user, agent, "one")
	keyed.IdempotencyKey = ptr("event:1")
	if _, err := store.Deliver(t.Context(), []chain.Draft{keyed}); err != nil {
		t.Fatal(err)
	}
	trap := event("trap", stranger, user, "mine")
	trap.Late = false
	mustAppend(t, store, trap)
	again := event("own", user, agent, "another")
	again.IdempotencyKey = keyed.IdempotencyKey
	twice := event("own", user, agent, "first")
	twice.IdempotencyKey = ptr("event:2")
	other := event("own", user, agent, "second")
	other.IdempotencyKey = twice.IdempotencyKey
	for name, rest := range map[string][]chain.Draft{"a used key": {again}, "a key twice": {twice, other}} {
		var told []string
		for _, thread := range []string{"trap", "free"} {
			_, err := store.Deliver(t.Context(), append([]chain.Draft{event(thread, user, agent, "secret")}, rest...))
			told = append(told, fmt.Sprintf("%+v", err))
		}
		if told[0] != told[1] || told[0] == "<nil>" {
			t.Errorf("events, %s: another's thread is told %s, and a free one %s", name, told[0], told[1])
		}
	}
	var told []string
	for _, taken := range []bool{true, false} {
		c := start(t, store, memory.Client, fmt.Sprint(taken))
		if taken {
			d := draft("", "mine")
			d.SessionHash, d.OwnerID = c.ID.Session(), stranger
			mustAppend(t, store, d)
		}
		state := memory.State{}
		for i := range 3000 { // more entries than a conversation may keep, none of them wrong by itself
			state[fmt.Sprint("k", i)] = []byte("1")
		}
		_, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b", State: state}, assistant)
		told = append(told, fmt.Sprintf("%+v", err))
		if kept, err := store.Conversation(t.Context(), c.ID); err != nil || len(kept.History) != 0 || len(kept.State) != 0 {
			t.Errorf("taken %t: %+v, %v; want nothing kept", taken, kept, err)
		}
	}
	if told[0] != told[1] || told[0] == "<nil>" {
		t.Errorf("an exchange: another's session is told %s, and a free one %s", told[0], told[1])
	}
}

// Of a large call that cannot be written, no JSON goes through Postgres: it would cost more than the refusal. Of one that can be
// written it does, and is kept as Postgres writes it.
func TestRefusedJSONIsNotRead(t *testing.T) {
	t.Parallel()
	statements, url := &writerStatements{conns: map[*pgx.Conn]bool{}}, dbtest.New(t)
	store, err := db.Open(t.Context(), url, 8, slog.New(slog.DiscardHandler), db.WithTracer(statements))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	dan := hashOf("dan")
	mustAppend(t, store, from(ana, "theirs", "hidden"))
	large := func(session string) []chain.Draft {
		drafts := make([]chain.Draft, 3)
		for i := range drafts {
			drafts[i] = from(dan, session, "with attachments")
			drafts[i].Attachments = ptr(chain.JSON(fmt.Sprintf(`{"b":%d,"a":"%s"}`, i, strings.Repeat("x", 500_000))))
		}
		return drafts
	}
	read := func() bool {
		return strings.Contains(strings.Join(statements.taken(), "\n"), "JSONB::TEXT")
	}
	wrong := large("dan's")
	wrong[2].PrevHash = ptr(hashOf("invented"))
	for name, drafts := range map[string][]chain.Draft{"another's session": large("theirs"), "not the head": wrong} {
		if _, err := store.As(dan).Append(t.Context(), drafts); err == nil || read() {
			t.Errorf("%s: %v, or the JSON was read", name, err)
		}
	}
	written, err := store.As(dan).Append(t.Context(), large("dan's"))
	if err != nil || !read() {
		t.Fatalf("Append() = %v, or the JSON was not read", err)
	}
	for i, m := range written {
		if want := chain.JSON(fmt.Sprintf(`{"a": "%s", "b": %d}`, strings.Repeat("x", 500_000), i)); *m.Attachments != want || m.ComputeHash() != m.Hash {
			t.Errorf("message %d: %.40s…, want it as Postgres writes it", i, *m.Attachments)
		}
	}
	wantLog(t, store, 0)
}
