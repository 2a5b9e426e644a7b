package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/ingest"
)

const insertEvent = `INSERT INTO ia_nest_events (source, agent, user_id, channel, thread_id, event_type, role, importance, tags, content, payload)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id`

// sentEvent gives the arguments of insertEvent.
func sentEvent(thread, role, content, payload string) []any {
	return []any{"webchat_backend", "jarvis_webchat", "user_42", "webchat", thread, "message", role, 0, []string{"jarvis", "webchat"}, content, payload}
}

// What tools insert are messages of a chain, as they would be by HTTP.
func TestInsertEvents(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	first := value[int64](t, conn, insertEvent, sentEvent("t-1", "user", "¿puedes bajar la calefacción?", `{"frontend_message_id": "m-1"}`)...)
	again := value[int64](t, conn, insertEvent, sentEvent("t-1", "user", "¿puedes bajar la calefacción?", `{"frontend_message_id": "m-1"}`)...)
	if again != first {
		t.Errorf("the same event again has the id %d, want %d", again, first)
	}
	// What is left out has the defaults; everything else comes back as a node that inserts shows it.
	got := rowOfView(t, conn, `WITH x AS (SELECT 1) SELECT * FROM ia_nest_events WHERE role = 'user'`)
	if got["content"] != "¿puedes bajar la calefacción?" || got["agent"] != "jarvis_webchat" || got["user_id"] != "user_42" || got["thread_id"] != "t-1" {
		t.Errorf("the event is shown as %v", got)
	}
	second := value[int64](t, conn, `INSERT INTO public.ia_nest_events (source, agent, user_id, thread_id, role, content, created_at)
		VALUES ('webchat_backend', 'jarvis_webchat', 'user_42', 't-1', 'assistant', 'Hecho.', '2020-01-01') RETURNING id`)
	session := ingest.EventThread("jarvis_webchat", "user_42", "t-1")
	chained := value[string](t, conn, `SELECT string_agg(sequence || ' ' || (thread_hash = session_hash) || ' ' || (ambient ->> 'thread_id') || ' ' || event_type
		|| ' ' || cardinality(hashtags), ', ' ORDER BY id) FROM log.messages WHERE session_hash = $1`, session.String())
	if want := "1 true t-1 message 2, 2 true t-1 message 0"; chained != want {
		t.Errorf("messages = %s, want %s", chained, want)
	}
	if late := value[bool](t, conn, `SELECT b.created_at = a.created_at + INTERVAL '1 microsecond' AND b.ambient ->> 'created_at' LIKE '2020-01-01%'
		FROM log.messages a, log.messages b WHERE a.id = $1 AND b.id = $2`, first, second); !late {
		t.Error("an event that comes late has not the time behind that of the one before it, or does not say its own")
	}
	if n := value[int](t, conn, broken); n != 0 {
		t.Errorf("%d messages do not hold", n)
	}
	mustExec(t, conn, "SET timezone = 'America/New_York'")
	const dated = `INSERT INTO ia_nest_events (source, agent, user_id, thread_id, role, content, payload, created_at)
		VALUES ('n8n', 'jarvis_webchat', 'user_42', 't-1', 'user', 'a las nueve', '{"frontend_message_id": 9}', '2026-01-01 12:00+00') RETURNING id`
	there := value[int64](t, conn, dated)
	mustExec(t, conn, "SET timezone = 'UTC'")
	if here := value[int64](t, conn, dated); here != there {
		t.Errorf("the same event, by another time zone, has the id %d, want %d", here, there)
	}
	if _, err := conn.Exec(t.Context(), insertEvent, sentEvent("t-1", "user", "otra cosa", `{"frontend_message_id": "m-1"}`)...); sqlState(err) != "23505" {
		t.Errorf("another event with the same id: %v, want 23505", err)
	}
}

// What cannot be an event says why, by the column and its limit, and nothing is left behind.
func TestInsertEventsRefused(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	const dated = `INSERT INTO ia_nest_events (source, agent, user_id, channel, thread_id, event_type, role, importance, tags, content, payload, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::TEXT::TIMESTAMPTZ)`
	change := func(place int, to any) []any {
		args := append(sentEvent("t-1", "user", "hola", "{}"), nil)
		args[place] = to
		return args
	}
	ofBytes := func(n int) string { return strings.Repeat("x", n) }
	const most = 1 << 20
	cases := []struct {
		want string
		args []any
	}{
		{"source is missing, or has more than 200 bytes", change(0, nil)},
		{"source is missing, or has more than 200 bytes", change(0, ofBytes(201))},
		{`source ends in "; by " and a hash, which is the mark of administrators who act for others`, change(0, "crm; by "+hashOf("boss").String())},
		{`source ends in "; by " and a hash, which is the mark of administrators who act for others`, change(0, "crm\nBY: "+hashOf("boss").String()+".\n")},
		{"agent is missing, or has more than 200 bytes", change(1, "")},
		{"user_id is missing, or has more than 200 bytes", change(2, ofBytes(201))},
		{`user_id begins with "client:" or "admin:", which is for users of conversations`, change(2, "client:7")},
		{"channel has more than 256 bytes", change(3, ofBytes(257))},
		{"thread_id is missing, or has more than 200 bytes", change(4, nil)},
		{"event_type is none of message, error, system, tool", change(5, "erasure")},
		{"role is none of user, assistant, system, tool", change(6, "king")},
		{"importance is outside of 0 to 2", change(7, 3)},
		{"tags are more than 256, or one of them is empty or has more than 200 bytes", change(8, []string{""})},
		{"content is missing", change(9, "")},
		{"content has more than 1048576 bytes", change(9, ofBytes(most-1)+"é")},
		{"payload is not a JSON object", change(10, "[1]")},
		{"payload has more than 1048576 bytes as text", change(10, `{"x":"`+ofBytes(most-8)+`"}`)}, // and a space behind the colon
		{"payload has a message id of more than 215 bytes", change(10, `{"frontend_message_id": "`+ofBytes(216)+`"}`)},
		{"created_at is more than five minutes ahead, or infinite", change(11, "9999-12-31")},
		{"created_at is more than five minutes ahead, or infinite", change(11, "294276-12-31")},
		{"created_at is more than five minutes ahead, or infinite", change(11, "-infinity")},
		{"created_at is before the year 1", change(11, "0001-12-31 23:59:59.999999+00 BC")},
	}
	for _, c := range cases {
		_, err := conn.Exec(t.Context(), dated, c.args...)
		told, _ := errors.AsType[*pgconn.PgError](err)
		if told == nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		column, _, _ := strings.Cut(c.want, " ")
		if diff := cmp.Diff([]string{"23514", column, "ia_nest_events." + c.want}, []string{told.Code, told.ColumnName, told.Message}); diff != "" {
			t.Error(diff)
		}
	}
	for _, sql := range []string{"UPDATE ia_nest_events SET content = 'x'", "DELETE FROM ia_nest_events"} {
		if _, err := conn.Exec(t.Context(), sql); sqlState(err) != "55000" {
			t.Errorf("%s: %v, want 55000", sql, err)
		}
	}
	squatter := ingest.EventThread("jarvis_webchat", "user_42", "t-2")
	mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) VALUES ($1, h('squatter'), 'mine')", squatter.String())
	if _, err := conn.Exec(t.Context(), insertEvent, sentEvent("t-2", "user", "hola", "{}")...); sqlState(err) != "23505" {
		t.Errorf("a thread that somebody else has begun: %v, want 23505", err)
	}
	if n := value[int](t, conn, "SELECT (SELECT count(*) FROM log.messages) - 1 + (SELECT count(*) FROM core.players)"); n != 0 {
		t.Errorf("%d rows are left behind", n)
	}
	for _, args := range [][]any{ // at their limits
		change(11, "0001-01-01 00:00:00+00"), change(9, ofBytes(most)), change(10, `{"x":"`+ofBytes(most-9)+`"}`),
	} {
		args[4] = "t-3"
		mustExec(t, conn, dated, args...)
	}
}

// Two tools at once: each event once, in one chain. A login that may insert events may do nothing else.
func TestInsertEventsAtOnce(t *testing.T) {
	t.Parallel()
	admin, url := schema(t)
	name := "tool_" + strings.ReplaceAll(admin.Config().Database, "-", "_")
	mustExec(t, admin, "CREATE ROLE "+name+" NOLOGIN; GRANT INSERT, SELECT ON public.ia_nest_events TO "+name)
	t.Cleanup(func() {
		if _, err := admin.Exec(context.WithoutCancel(t.Context()), "DROP OWNED BY "+name+"; DROP ROLE "+name); err != nil {
			t.Error(err)
		}
	})
	var wait sync.WaitGroup
	for range 2 {
		conn := superuser(t, url)
		mustExec(t, conn, "SET ROLE "+name)
		if _, err := conn.Exec(t.Context(), "INSERT INTO log.messages (session_hash, owner_id, content) VALUES (repeat('a', 64), repeat('a', 64), 'x')"); sqlState(err) != "42501" {
			t.Errorf("an insert into the log: %v, want 42501", err)
		}
		wait.Go(func() {
			for i := range 50 {
				args := sentEvent("t-1", "user", "número", `{"frontend_message_id": "m-`+string(rune('a'+i/2))+`"}`)
				if _, err := conn.Exec(t.Context(), strings.TrimSuffix(insertEvent, "id")+"*", args...); err != nil {
					t.Errorf("insert: %v", err)
				}
			}
		})
	}
	wait.Wait()
	// Who names a stranger first keeps nobody waiting who names them, too; and nothing is shown twice.
	one, err := superuser(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const named = "INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256($1), h('stranger'), 'x')"
	if _, err := one.Exec(t.Context(), named, "one"); err != nil {
		t.Fatal(err)
	}
	mustExec(t, admin, "SET statement_timeout = '10s'")
	mustExec(t, admin, named, "two")
	if err := one.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, admin, "SELECT count(*) FROM ia_nest_events WHERE agent = h('stranger')"); n != 2 {
		t.Errorf("%d events of a stranger whom two named first, want 2", n)
	}
	reader := superuser(t, url)
	mustExec(t, reader, "SET ROLE "+name)
	if n := value[int](t, reader, "SELECT count(*) FROM ("+strings.TrimSuffix(strings.TrimSpace(threadsOfUser), ";")+") t WHERE num_events = 25"); n != 1 {
		t.Errorf("a tool that may read finds %d threads of 25 events, want 1", n)
	}
	if got := value[string](t, admin, "SELECT count(*) || ' ' || max(sequence) FROM log.messages WHERE owner_id <> h('stranger')"); got != "25 25" {
		t.Errorf("messages and the last one's place: %s, want 25 25", got)
	}
	if n := value[int](t, admin, broken); n != 0 {
		t.Errorf("%d messages do not hold", n)
	}
}

// The statements of the specification, word for word.
const (
	contextOfThread = `SELECT
    role,
    content,
    event_type,
    created_at,
    tags,
    payload
FROM ia_nest_events
WHERE agent      = $1      -- 'jarvis_webchat'
  AND user_id    = $2      -- 'user_42'
  AND thread_id  = $3      -- 'thread_20251203_01'
  AND event_type = 'message'
  AND role IN ('user', 'assistant')
ORDER BY created_at DESC
LIMIT $4;                  -- por ejemplo 20`
	threadsOfUser = `SELECT
    thread_id,
    MIN(created_at) AS started_at,
    MAX(created_at) AS last_event_at,
    COUNT(*)        AS num_events
FROM ia_nest_events
WHERE agent   = 'jarvis_webchat'
  AND user_id = 'user_42'
GROUP BY thread_id
ORDER BY last_event_at DESC
LIMIT 20;`
)

// fillEvents makes a log of that many events of a thousand users with two agents, without the triggers that chain them,
// which would take an hour for a million.
func fillEvents(t testing.TB, conn *pgx.Conn, count int) {
	t.Helper()
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, conn, `INSERT INTO core.players (hash, namespace, key)
		SELECT log.sha256('plu:user_' || i), 'plu', 'user_' || i FROM generate_series(0, 49999) AS i
		UNION ALL SELECT log.sha256('ply:' || a), 'ply', a FROM unnest('{jarvis_webchat,jarvis_voice}'::TEXT[]) AS a`)
	mustExec(t, conn, `INSERT INTO log.messages (id, hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, role, event_type, importance,
			channel, source, content, attachments, ambient, salt, content_digest, refs_digest, created_at, id_digest)
		SELECT i, log.sha256('m' || i), log.sha256('s' || e.thread), i / 50000 + 1, CASE WHEN i > 50000 THEN log.sha256('p' || i) END, log.sha256('s' || e.thread),
			CASE WHEN e.asks THEN person ELSE agent END, ARRAY[CASE WHEN e.asks THEN agent ELSE person END], CASE WHEN e.asks THEN 'user' ELSE 'assistant' END,
			'message', 0, 'webchat', 'webchat_backend', 'what is said in message ' || i, '{}', jsonb_build_object('thread_id', 'thread_' || e.thread),
			'\x00112233445566778899aabbccddeeff', log.sha256('c' || i), log.sha256('r'), now() - INTERVAL '1 year' + i * INTERVAL '1 second', log.sha256('d' || i)
		FROM generate_series(1, $1) AS i
		CROSS JOIN LATERAL (SELECT i % 50000 AS thread, i / 50000 % 2 = 0 AS asks) e
		CROSS JOIN LATERAL (SELECT log.sha256('plu:user_' || e.thread % 1000) AS person, log.sha256('ply:' || CASE e.thread % 3 WHEN 0 THEN 'jarvis_voice' ELSE 'jarvis_webchat' END) AS agent) n`, count)
	mustExec(t, conn, "ALTER TABLE log.messages ENABLE TRIGGER ALL")
	mustExec(t, conn, "INSERT INTO log.participants (player) SELECT hash FROM core.players; ANALYZE log.messages, log.participants, core.players")
}

// Both statements go by index, prepared or not; that of a thread by the thread's name as well, however long others of the same
// user are.
func TestEventsViewByIndex(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	fillEvents(t, conn, 50_000)
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, conn, `INSERT INTO log.messages (id, hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, role, event_type, importance,
			source, content, attachments, ambient, salt, content_digest, refs_digest, created_at, id_digest)
		SELECT 1000000 + i, log.sha256('long' || i), log.sha256('long'), i, log.sha256('long' || i - 1), log.sha256('long'), m.owner_id, m.players_id, m.role, 'message', 0,
			m.source, m.content, '{}', '{"thread_id": "thread_long"}', m.salt, m.content_digest, m.refs_digest, now() - i * INTERVAL '1 second', log.sha256('long digest ' || i)
		FROM log.messages m, generate_series(2, 5001) AS i WHERE m.id = 5042`)
	mustExec(t, conn, "ALTER TABLE log.messages ENABLE TRIGGER ALL")
	mustExec(t, conn, "ANALYZE log.messages")
	mustExec(t, conn, "SET plan_cache_mode = force_generic_plan")
	mustExec(t, conn, "PREPARE of_thread (TEXT, TEXT, TEXT, INT) AS "+contextOfThread)
	const ofThread = "EXECUTE of_thread ('jarvis_webchat', '%s', '%s', 20)"
	for name, sql := range map[string]string{"threads of a user": threadsOfUser, "context of a thread": fmt.Sprintf(ofThread, "user_42", "thread_5042")} {
		rows, err := conn.Query(t.Context(), "EXPLAIN (COSTS OFF) "+sql)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "messages_events") || strings.Contains(text, "Seq Scan") {
			t.Errorf("%s:\n%s", name, text)
		}
		byThread := slices.ContainsFunc(plan, func(line string) bool {
			return strings.Contains(line, "Index Cond") && strings.Contains(line, "thread_id") && strings.Contains(line, "$3")
		})
		if name == "context of a thread" && !byThread {
			t.Errorf("%s, with its name in no condition of an index:\n%s", name, text)
		}
	}
	// read gives how many blocks and rows the last of a thread take; the first of a connection reads what the plan needs, too.
	read := func(user, thread string) (blocks, rows int) {
		t.Helper()
		explain := "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + fmt.Sprintf(ofThread, user, thread)
		value[string](t, conn, explain)
		var plan []struct {
			Plan map[string]any `json:"Plan"`
		}
		if err := json.Unmarshal([]byte(value[string](t, conn, explain)), &plan); err != nil {
			t.Fatal(err)
		}
		top := plan[0].Plan
		return int(top["Shared Hit Blocks"].(float64) + top["Shared Read Blocks"].(float64)), int(top["Actual Rows"].(float64))
	}
	alone, one := read("user_44", "thread_5044")
	beside, other := read("user_42", "thread_5042")
	all, last := read("user_42", "thread_long")
	if one != 1 || other != 1 || last != 20 {
		t.Fatalf("%d, %d and %d rows, want 1, 1 and 20", one, other, last)
	}
	if beside > alone+10 {
		t.Errorf("a thread beside one of 5,000 events takes %d blocks, with none beside it %d; the long one takes %d", beside, alone, all)
	}
}

// BenchmarkEventsView measures the two statements on a log of a million.
func BenchmarkEventsView(b *testing.B) {
	_, url := open(b)
	conn := superuser(b, url)
	fillEvents(b, conn, 1_000_000)
	for name, ask := range map[string]func() error{
		"context of a thread": func() error {
			rows, err := conn.Query(b.Context(), contextOfThread, "jarvis_webchat", "user_42", "thread_5042", 20)
			if err != nil {
				return err
			}
			rows.Close()
			if n := rows.CommandTag().RowsAffected(); n != 20 {
				b.Fatalf("%d rows", n)
			}
			return rows.Err()
		},
		"threads of a user": func() error {
			rows, err := conn.Query(b.Context(), threadsOfUser)
			if err != nil {
				return err
			}
			rows.Close()
			if n := rows.CommandTag().RowsAffected(); n != 20 {
				b.Fatalf("%d rows", n)
			}
			return rows.Err()
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
