package db_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/component"
)

// fillThreads makes so many threads of jarvis with a user, of one message each but the first, without the triggers that chain
// them. The first is the latest.
func fillThreads(t *testing.T, conn *pgx.Conn, user string, count, first int) {
	t.Helper()
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, conn, `INSERT INTO core.players (hash, namespace, key) VALUES (log.sha256('plu:' || $1::TEXT), 'plu', $1), (log.sha256('ply:jarvis'), 'ply', 'jarvis')
		ON CONFLICT DO NOTHING`, user)
	mustExec(t, conn, `INSERT INTO log.messages (id, hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, role, event_type, importance, source, content,
			attachments, ambient, salt, content_digest, refs_digest, created_at, id_digest)
		SELECT (SELECT COALESCE(max(id), 0) FROM log.messages) + row_number() OVER (), log.sha256($1 || i || '/' || n), e.session, n, CASE WHEN n > 1 THEN log.sha256($1 || i || '/' || n - 1) END, e.session,
			log.sha256('plu:' || $1), ARRAY[log.sha256('ply:jarvis')], 'user', 'message', 0, 'webchat', 'hola', '{}', jsonb_build_object('thread_id', 'thread ' || i),
			'\x00112233445566778899aabbccddeeff', log.sha256('c'), log.sha256('r'), now() - i * INTERVAL '1 minute' + n * INTERVAL '1 millisecond', log.sha256($1 || i || 'd' || n)
		FROM generate_series(1, $2::INT) AS i CROSS JOIN LATERAL generate_series(1, CASE i WHEN 1 THEN $3::INT ELSE 1 END) AS n
		CROSS JOIN LATERAL (SELECT log.event_session('jarvis', $1, 'thread ' || i) AS session) e`, user, count, first)
	mustExec(t, conn, `INSERT INTO log.members (player, session_hash, since_id, named_by)
		SELECT p.player, m.session_hash, m.id, m.owner_id FROM log.messages m CROSS JOIN LATERAL (VALUES (m.owner_id), (m.players_id[1])) AS p (player)
		WHERE m.sequence = 1 ON CONFLICT DO NOTHING`)
	mustExec(t, conn, "ALTER TABLE log.messages ENABLE TRIGGER ALL")
}

// The latest threads are read by index, and no others, however many there are; and are the same for whoever takes part.
func TestUserThreadsAreBounded(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	fillThreads(t, conn, "few", 10, 50)
	fillThreads(t, conn, "many", 5000, 50)
	fillThreads(t, conn, "long", 10, 5000)
	mustExec(t, conn, "ANALYZE log.messages, log.members, core.players")
	// read gives how many blocks a list takes; the first of a connection reads what the plan needs, too.
	read := func(user string) int {
		t.Helper()
		const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM log.threads_between(log.sha256('plu:' || $1), log.sha256('ply:jarvis'), log.sha256('plu:' || $1), 'jarvis', $1, NULL, 5)`
		value[string](t, conn, explain, user)
		var plan []struct {
			Plan map[string]any `json:"Plan"`
		}
		if err := json.Unmarshal([]byte(value[string](t, conn, explain, user)), &plan); err != nil {
			t.Fatal(err)
		}
		return int(plan[0].Plan["Shared Hit Blocks"].(float64) + plan[0].Plan["Shared Read Blocks"].(float64))
	}
	few, many, long := read("few"), read("many"), read("long")
	if many > 3*few+1000 { // that they are more than 200 is found out by an index
		t.Errorf("the 5 latest of 5,000 threads take %d blocks, those of 10 %d", many, few)
	}
	if long > 2*few {
		t.Errorf("the 5 latest of 10 threads take %d blocks if one has 5,000 events, else %d", long, few)
	}
	agent, person := component.DefaultHash("ply", "jarvis"), component.DefaultHash("plu", "many")
	latest := func(view *db.DB) (list string) {
		t.Helper()
		found, err := view.UserThreads(t.Context(), "jarvis", "many", nil, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range found {
			list += fmt.Sprintf("%s of %d, ", thread.ID, thread.Events)
		}
		return list
	}
	for name, view := range map[string]*db.DB{"an administrator": store, "the agent": store.As(agent), "the user": store.As(person)} {
		if got, want := latest(view), "thread 1 of 50, thread 2 of 1, thread 3 of 1, "; got != want {
			t.Errorf("to %s the latest are %s, want %s", name, got, want)
		}
	}
	if got := latest(store.As(component.DefaultHash("plu", "few"))); got != "" {
		t.Errorf("to another user the latest are %s", got)
	}
}
