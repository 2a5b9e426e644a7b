package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
)

func rowOfView(t *testing.T, conn *pgx.Conn, sql string) map[string]any {
	t.Helper()
	var row map[string]any
	if err := json.Unmarshal([]byte(value[string](t, conn, "SELECT to_jsonb(v) FROM ("+sql+") v")), &row); err != nil {
		t.Fatal(err)
	}
	return row
}

// Older clients read the log under its old names.
func TestMessagesV7(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	mustExec(t, conn, `INSERT INTO log.messages (session_hash, thread_hash, owner_id, players_id, master_player, role, content, hashtags, ambient, created_at)
		VALUES (h('s'), h('t'), h('o'), ARRAY[h('p'), h('q')], h('m'), 'user', 'hello', ARRAY[h('x')], '{"a": 1}', '2026-01-01 10:00+00')`)
	got := rowOfView(t, conn, "SELECT * FROM log.messages_v7")
	want := map[string]any{
		"id": 1.0, "hash": value[string](t, conn, "SELECT hash FROM log.messages"), "session_hash": hashOf("s").String(), "thread_hash": hashOf("t").String(),
		"sender_id": hashOf("o").String(), "receiver_id": hashOf("p").String(), "leader_id": hashOf("m").String(), "role": "user", "content": "hello",
		"attachments": map[string]any{}, "prev_hash": nil, "hashtags": []any{hashOf("x").String()}, "ambient": map[string]any{"a": 1.0},
		"created_at": "2026-01-01T10:00:00+00:00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log.messages_v7 differs (-want +got): %s", diff)
	}
}

// The log as events: keys where components are known, hashes where they are not.
func TestEventsView(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	mustExec(t, conn, `INSERT INTO core.players (hash, namespace, key) VALUES (h('agent'), 'ply', 'guide'), (h('person'), 'plu', '42');
		INSERT INTO core.hashtags (hash, namespace, key) VALUES (h('tag'), 'hst', 'travel');
		INSERT INTO log.messages (session_hash, thread_hash, owner_id, players_id, role, content, hashtags, importance, channel, source, attachments, ambient, event_type, created_at)
		VALUES (h('s'), h('t'), h('person'), ARRAY[h('agent')], 'user', 'where to?', ARRAY[h('unknown'), h('tag')], 1, 'web', 'test', '{"n": 1}', NULL, 'message', '2026-01-01'),
			(h('s'), h('t'), h('agent'), ARRAY[h('person')], 'assistant', 'home', '{}', 0, NULL, NULL, '{}', '{"thread_id": "t-9"}', 'tool', '2026-01-02'),
			(h('s'), NULL, h('stranger'), '{}', NULL, 'alone', '{}', 0, NULL, NULL, '{}', NULL, 'message', '2026-01-03')`)
	type event = map[string]any
	want := []event{
		{"source": "test", "agent": "guide", "user_id": "42", "channel": "web", "thread_id": hashOf("t").String(), "event_type": "message", "role": "user",
			"importance": 1.0, "tags": []any{hashOf("unknown").String(), "travel"}, "content": "where to?", "payload": event{"n": 1.0}},
		{"source": nil, "agent": "guide", "user_id": "42", "channel": nil, "thread_id": "t-9", "event_type": "tool", "role": "assistant",
			"importance": 0.0, "tags": []any{}, "content": "home", "payload": event{}},
		{"source": nil, "agent": hashOf("stranger").String(), "user_id": nil, "channel": nil, "thread_id": nil, "event_type": "message", "role": nil,
			"importance": 0.0, "tags": []any{}, "content": "alone", "payload": event{}},
	}
	for i, w := range want {
		got := rowOfView(t, conn, fmt.Sprintf("SELECT * FROM public.ia_nest_events ORDER BY agent = '', id OFFSET %d LIMIT 1", i))
		for _, given := range []string{"id", "created_at"} {
			if got[given] == nil {
				t.Errorf("event %d has no %s", i, given)
			}
			delete(got, given)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("event %d differs (-want +got): %s", i, diff)
		}
	}
	if n := value[int](t, conn, "SELECT count(*) FROM public.ia_nest_events WHERE agent = 'guide' AND user_id = '42' AND thread_id = 't-9'"); n != 1 {
		t.Errorf("%d events found by agent, user and thread, want 1", n)
	}
}

// A hash names one component of one kind, and keeps its namespace.
func TestComponentNames(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	mustExec(t, conn, "INSERT INTO core.players (hash, namespace, key) VALUES (h('a'), 'ply', 'a')")
	tests := []struct{ sql, code string }{
		{"INSERT INTO core.items (hash, namespace, key) VALUES (h('a'), 'itm', 'a')", "23505"},
		{"INSERT INTO core.players (hash, namespace, key) VALUES (h('b'), 'ply', 'a')", "23505"},
		{"INSERT INTO core.players (hash, namespace, key) VALUES (h('b'), 'itm', 'b')", "23514"},
		{"INSERT INTO core.players (hash, namespace, key) VALUES (h('b'), 'ply', '')", "23514"},
		{"UPDATE core.players SET namespace = 'plu'", "CM004"},
		{"UPDATE core.players SET hash = h('b')", "CM004"},
	}
	for _, c := range tests {
		if _, err := conn.Exec(t.Context(), c.sql); sqlState(err) != c.code {
			t.Errorf("%s: %v, want %s", c.sql, err, c.code)
		}
	}
	mustExec(t, conn, `DELETE FROM core.players; INSERT INTO core.items (hash, namespace, key) VALUES (h('a'), 'itm', 'a')`)
	views := value[string](t, conn, `SELECT string_agg(viewname, ' ' ORDER BY viewname) FROM pg_views WHERE schemaname = 'core' AND length(viewname) = 3`)
	if want := "flg flu hst hsu itm itu itx loc lou lox plu plx ply spe vsn vue"; views != want {
		t.Errorf("views = %s, want %s", views, want)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM core.itm WHERE key = 'a'") + value[int](t, conn, "SELECT count(*) FROM core.itu"); n != 1 {
		t.Errorf("%d items in the namespaces' views, want 1", n)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM core.flg f WHERE f.hash = log.sha256('flg:' || f.key)"); n != 65 {
		t.Errorf("%d flags of the system, want 65", n)
	}
}

// One notification a statement, that lists the ids; and what is not sealed yet, or has no vectors, is known: records but
// those whose writer says that it brings them. In replica mode, too.
func TestStatementsAnnounce(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"origin", "replica"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			conn, _ := schema(t)
			mustExec(t, conn, "SET session_replication_role = "+role)
			mustExec(t, conn, "LISTEN context_manager_log")
			mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) SELECT h('s'), h('o'), 'c' FROM generate_series(1, 700)")
			mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) SELECT h('s'), h('o'), 'c' WHERE FALSE")
			mustExec(t, conn, "SELECT nextval('log.message_id')")
			mustExec(t, conn, "SELECT say('s', 'one')")
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for _, want := range []string{"1-700", "702-702"} {
				n, err := conn.WaitForNotification(ctx)
				if err != nil || n.Payload != want {
					t.Fatalf("notification = %+v, %v, want %s", n, err, want)
				}
			}
			mustExec(t, conn, "INSERT INTO knowledge.records (kind, book, title, content) VALUES ('secretary', 'b', 't', 'c')")
			for _, outbox := range []string{"seal.outbox", "embedding.backlog"} {
				runs := value[string](t, conn, "SELECT string_agg(first_id || '-' || last_id, ' ' ORDER BY first_id) FROM "+outbox)
				if want := "1-700 702-702"; runs != want {
					t.Errorf("%s = %s, want %s", outbox, runs, want)
				}
			}
			const pending = "SELECT count(*) FROM embedding.pending p JOIN knowledge.records r USING (kind, hash)"
			if n := value[int](t, conn, pending); n != 1 {
				t.Errorf("%d records await their vectors, want 1", n)
			}
			mustExec(t, conn, "BEGIN; SET LOCAL context_manager.embeds = 'on'; INSERT INTO knowledge.records (kind, book, title, content) VALUES ('secretary', 'b', 'with vectors', 'c'); COMMIT")
			if n := value[int](t, conn, pending); n != 1 {
				t.Errorf("%d records await their vectors, want 1", n)
			}
		})
	}
}

// What cannot be written in the database's encoding could not be hashed by everyone alike.
func TestMigrateRefusesOtherEncodings(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(dbtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	conn := superuser(t, address.String())
	name := strings.TrimPrefix(address.Path, "/") + "_latin1"
	mustExec(t, conn, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
	address.Path = "/" + name
	err = db.Migrate(t.Context(), address.String(), slog.New(slog.DiscardHandler))
	mustExec(t, conn, "DROP DATABASE "+name+" WITH (FORCE)")
	if err == nil || !strings.Contains(err.Error(), "must be encoded in UTF8") {
		t.Errorf("Migrate() = %v, want that the encoding must be UTF8", err)
	}
}
