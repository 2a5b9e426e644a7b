package db_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// An exchange whose working memory cannot be written is not in the log either, and what others append at the same time is not
// its matter, unless the database can serve nobody.
func TestExchangeIsInBothOrNeither(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	c := exchanged(t, store, start(t, store, memory.Client, "42").ID, "hola", "buenas")
	other := start(t, store, memory.Client, "43")
	mustExec(t, conn, "CREATE FUNCTION public.fail() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = TG_ARGV[0]; END'")
	for i, state := range []string{"disk_full", "raise_exception"} {
		mustExec(t, conn, fmt.Sprintf("CREATE TRIGGER zz_fail BEFORE UPDATE ON memory.conversations FOR EACH ROW WHEN (OLD.id = '%s') EXECUTE FUNCTION public.fail('%s')", c.ID, state))
		before := count(t, conn, rowsOfLog)
		_, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b", Key: ptr("k")}, assistant)
		if full := state == "disk_full"; err == nil || full != (fault.CodeOf(err) == fault.Unavailable) {
			t.Errorf("%s: %v, %s", state, err, fault.CodeOf(err))
		}
		if n := count(t, conn, rowsOfLog); n != before {
			t.Errorf("%s: the log has %d messages, before %d", state, n, before)
		}
		if kept, err := store.Conversation(t.Context(), c.ID); err != nil || cmp.Diff(c, kept) != "" {
			t.Errorf("%s: the memory has changed: %+v, %v", state, kept, err)
		}
		if state == "raise_exception" { // of a group that fails, each call is tried by itself
			var wait sync.WaitGroup
			for n := range 20 {
				wait.Go(func() {
					var err error
					switch n {
					case 10:
						if _, err := store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b", Key: ptr("k")}, assistant); err == nil {
							t.Errorf("%s, among others: it is recorded", state)
						}
					case 11:
						_, err = store.RecordExchange(t.Context(), other.ID, db.Exchange{User: "a", Assistant: "b"}, assistant)
					default:
						_, err = store.Append(t.Context(), []chain.Draft{draft(fmt.Sprint("beside ", n), "goes on")})
					}
					if err != nil {
						t.Errorf("%s, beside it: %v", state, err)
					}
				})
			}
			wait.Wait()
			if n := count(t, conn, rowsOfLog); n != before+20 {
				t.Errorf("%s, beside it: %d messages, want %d", state, n, before+20)
			}
		}
		mustExec(t, conn, "DROP TRIGGER zz_fail ON memory.conversations")
		if i > 0 {
			c = exchanged(t, store, c.ID, "a", "b") // nothing of the failed ones is left that would keep it from being recorded
		}
	}
	if kept, err := store.Conversation(t.Context(), c.ID); err != nil || len(kept.History) != 4 {
		t.Errorf("afterwards: %+v, %v", kept, err)
	}
	wantLog(t, store, 0)
}

// Whoever repeats an exchange, since they did not hear the answer, is told that the log has it once the conversation has ended;
// others are not.
func TestExchangeAgainAfterTheEnd(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	c := start(t, store, memory.Client, "42")
	repeat := func(view *db.DB, key string) string {
		t.Helper()
		_, err := view.RecordExchange(t.Context(), c.ID, db.Exchange{User: "a", Assistant: "b", Key: &key}, assistant)
		if err == nil {
			return "recorded"
		}
		wantGone(t, key, err)
		if strings.Contains(err.Error(), "was recorded") {
			return "in the log"
		}
		return "gone"
	}
	if got := repeat(store, "k"); got != "recorded" {
		t.Fatalf("at first it is %s", got)
	}
	for _, end := range []string{"UPDATE memory.conversations SET expires_at = clock_timestamp() WHERE id = $1", "DELETE FROM memory.conversations WHERE id = $1"} {
		mustExec(t, conn, end, c.ID.String())
		for name, ask := range map[string]struct {
			view      *db.DB
			key, want string
		}{
			"the assistant": {store.As(assistant), "k", "in the log"}, "an administrator": {store, "k", "in the log"}, "another key": {store, "l", "gone"},
			"the user": {store.As(c.Person), "k", "gone"}, "another assistant": {store.As(hashOf("ply:other")), "k", "gone"},
		} {
			if got := repeat(ask.view, ask.key); got != ask.want {
				t.Errorf("%s: it is %s, want %s", name, got, ask.want)
			}
		}
	}
	if n := count(t, conn, rowsOfLog); n != 2 {
		t.Errorf("the log has %d messages, want 2", n)
	}
}
