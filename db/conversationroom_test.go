package db_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// fill42 gives the user 42 as many conversations with the assistant as are allowed.
func fill42(t *testing.T, store *db.DB, conn *pgx.Conn) {
	t.Helper()
	c := start(t, store, memory.Client, "42")
	mustExec(t, conn, `INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, created_at, last_activity, expires_at)
		SELECT 'client:42:' || gen_random_uuid(), role, user_id, person, assistant, lpad(i::TEXT, 64, '0'), created_at, last_activity, expires_at
		FROM memory.conversations, generate_series(1, $2 - (SELECT count(*) FROM memory.conversations)) AS i WHERE id = $1`, c.ID.String(), db.MaxConversations)
}

// Deleting always makes room: a user who has as many conversations as are allowed has one erased that has ended, or deletes a
// live one, and gets the fresh one. Only where there is nothing to delete, none is begun.
func TestDeletedConversationMakesRoom(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	ended := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
	mustExec(t, conn, "UPDATE memory.conversations SET expires_at = clock_timestamp() WHERE id = $1", ended.ID.String())
	if n, err := store.SweepConversations(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d were swept, %v", n, err)
	}
	fill42(t, store, conn)
	full := func(what string, most int) {
		t.Helper()
		if _, err := store.StartConversation(t.Context(), memory.Client, "42", assistant); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%s, one more is started: %v, want CONFLICT", what, err)
		}
		if n := count(t, conn, rowsOfMemory); n != most {
			t.Errorf("%s, there are %d, want %d", what, n, most)
		}
	}
	full("before", db.MaxConversations)
	fresh, err := store.DeleteConversation(t.Context(), ended.ID, "x", assistant)
	if err != nil || fresh.ID == ended.ID || fresh.Person != ended.Person || fresh.Assistant != assistant {
		t.Fatalf("of one that has ended: %+v, %v", fresh, err)
	}
	if n := value[int](t, conn, fmt.Sprintf(unerased, ended.ID.Session())); n != 0 {
		t.Errorf("%d messages are left of what has ended", n)
	}
	full("erased after its end", db.MaxConversations+1)
	if _, err := store.DeleteConversation(t.Context(), ended.ID, "x", assistant); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("repeated without need: %v, want CONFLICT", err)
	}
	full("repeated", db.MaxConversations+1)
	for reason, what := range map[string]string{"": "deleted", "x": "deleted and erased"} {
		if fresh, err = store.DeleteConversation(t.Context(), fresh.ID, reason, assistant); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := store.Conversation(t.Context(), fresh.ID); err != nil {
			t.Errorf("%s, the fresh one: %v", what, err)
		}
		full(what, db.MaxConversations+1)
	}
	wantLog(t, store, 2)
}

// However many are begun at once, on whichever server, started or in place of what was erased before, no more are begun than are
// allowed.
func TestConversationsBegunAtOnce(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other, conn := openURL(t, url), superuser(t, url)
	const room, begin = 3, 24
	erased := make([]memory.ID, begin/2)
	for i := range erased {
		erased[i] = exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas").ID
		if _, err := store.DeleteConversation(t.Context(), erased[i], "x", assistant); err != nil {
			t.Fatal(err)
		}
	}
	fill42(t, store, conn)
	mustExec(t, conn, "DELETE FROM memory.conversations WHERE id IN (SELECT id FROM memory.conversations LIMIT $1)", room)
	errs := make([]error, begin)
	var wait sync.WaitGroup
	for i := range errs {
		on := []*db.DB{store, other}[i/2%2]
		wait.Go(func() {
			if i%2 == 0 {
				_, errs[i] = on.StartConversation(t.Context(), memory.Client, "42", assistant)
			} else {
				_, errs[i] = on.DeleteConversation(t.Context(), erased[i/2], "x", assistant)
			}
		})
	}
	wait.Wait()
	begun := 0
	for _, err := range errs {
		if err == nil {
			begun++
		} else if fault.CodeOf(err) != fault.Conflict {
			t.Errorf("one of %d: %v, want CONFLICT", begin, err)
		}
	}
	if n := count(t, conn, rowsOfMemory); begun != room || n != db.MaxConversations {
		t.Errorf("%d of %d are begun, and there are %d; want %d and %d", begun, begin, n, room, db.MaxConversations)
	}
}

// The last portion begins the fresh conversation, and the first one removes the working memory: wherever a call breaks off, the
// same call goes on, at the limit as well.
func TestDeletedConversationIsNeverHalfReplaced(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	mustExec(t, conn, "CREATE FUNCTION public.full() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'")
	for _, messages := range []int{2, 50, 51, 100} {
		var c memory.Conversation
		if messages == 2 {
			c = exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
		} else {
			c = long(t, store, messages)
		}
		fill42(t, store, conn)
		left := fmt.Sprintf(unerased, c.ID.Session())
		mustExec(t, conn, "CREATE TRIGGER zz_full BEFORE INSERT ON memory.conversations FOR EACH ROW EXECUTE FUNCTION public.full()")
		if _, err := store.DeleteConversation(t.Context(), c.ID, "x", assistant); fault.CodeOf(err) != fault.Unavailable {
			t.Fatalf("%d messages, broken off: %v", messages, err)
		}
		want := messages % 50
		if want == 0 {
			want = 50
		}
		if n := value[int](t, conn, left); n != want {
			t.Errorf("%d messages, broken off: %d are left, want %d, the last portion", messages, n, want)
		}
		_, err := store.Conversation(t.Context(), c.ID)
		if live := messages <= 50; live != (err == nil) {
			t.Errorf("%d messages, broken off: %v; it is in memory: %v", messages, err, live)
		}
		mustExec(t, conn, "DROP TRIGGER zz_full ON memory.conversations")
		mustExec(t, conn, "INSERT INTO memory.conversations SELECT 'client:42:' || gen_random_uuid(), role, user_id, person, assistant, lpad($1::INT::TEXT, 64, 'f'), history, state, created_at, last_activity, expires_at FROM memory.conversations LIMIT 1", messages)
		fresh, err := store.DeleteConversation(t.Context(), c.ID, "x", assistant)
		if err != nil || fresh.Person != c.Person || value[int](t, conn, left) != 0 {
			t.Errorf("%d messages, repeated: %+v, %v", messages, fresh, err)
		}
		if _, err := store.Conversation(t.Context(), fresh.ID); err != nil {
			t.Errorf("%d messages, the fresh one: %v", messages, err)
		}
		mustExec(t, conn, "DELETE FROM memory.conversations")
	}
	wantLog(t, store, 2+50+51+100)
}

// A conversation that nothing was said in is replaced as a whole, or not at all, with the log or without.
func TestSilentConversationIsReplaced(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	mustExec(t, conn, "CREATE FUNCTION public.full() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full''; END'")
	for _, reason := range []string{"", "x"} {
		c := start(t, store, memory.Client, "42")
		mustExec(t, conn, "CREATE TRIGGER zz_full BEFORE INSERT ON memory.conversations FOR EACH ROW EXECUTE FUNCTION public.full()")
		if _, err := store.DeleteConversation(t.Context(), c.ID, reason, assistant); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("with the reason %q, broken off: %v", reason, err)
		}
		mustExec(t, conn, "DROP TRIGGER zz_full ON memory.conversations")
		var fresh memory.Conversation
		var err error
		if fresh, err = store.DeleteConversation(t.Context(), c.ID, reason, assistant); err != nil || fresh.Assistant != assistant {
			t.Errorf("with the reason %q, repeated: %+v, %v", reason, fresh, err)
		}
		_, err = store.Conversation(t.Context(), c.ID)
		wantGone(t, "the old one", err)
	}
	wantLog(t, store, 0)
}
