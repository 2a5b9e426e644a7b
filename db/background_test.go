package db_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/fault"
)

// What asks in the background does not wait forever for one who takes what is sent and answers nothing: it asks again,
// elsewhere.
func TestBackgroundGivesUp(t *testing.T) {
	t.Parallel()
	for name, works := range map[string]func(t *testing.T, store *db.DB, n *network){
		"name: LogEnd ": func(t *testing.T, store *db.DB, _ *network) {
			feed := mustSubscribe(t, store)
			mustAppend(t, store, draft("s", "told"))
			next(t, feed)
		},
		"LISTEN ": func(t *testing.T, store *db.DB, n *network) {
			mustSubscribe(t, store)
			eventually(t, "it listens", func() bool { return n.saw("LISTEN ") > 1 })
		},
		"name: MessageIDsAfter ": func(t *testing.T, store *db.DB, n *network) {
			feed := mustSubscribe(t, store)
			eventually(t, "it looks again", func() bool { return n.saw("name: MessageIDsAfter ") > 1 })
			mustAppend(t, store, draft("s", "told"))
			next(t, feed)
		},
		"name: MessagesByID ": func(t *testing.T, store *db.DB, _ *network) {
			feed := mustSubscribe(t, store)
			mustAppend(t, store, draft("s", "told"))
			next(t, feed)
		},
		"name: TextsOfMessages ": func(t *testing.T, store *db.DB, n *network) {
			mustAppend(t, store, draft("s", "indexed"))
			conn := superuser(t, n.to.ConnString())
			eventually(t, "it is indexed", func() bool { return value[int](t, conn, "SELECT count(*) FROM embedding.lexical") > 0 })
		},
		"name: OwnSessions ": func(t *testing.T, store *db.DB, _ *network) {
			if _, err := store.As(ana).Subscribe(t.Context(), all); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("Subscribe = %v, want UNAVAILABLE", err)
			}
			if _, err := store.As(ana).Subscribe(t.Context(), all); err != nil {
				t.Errorf("Subscribe again = %v", err)
			}
		},
	} {
		t.Run(strings.TrimSpace(name), func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t, dbtest.New(t))
			n.muteAt(name)
			store, err := db.Open(t.Context(), n.url+"&default_query_exec_mode=describe_exec", 4, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			works(t, store, n)
			if n.saw(name) == 0 {
				t.Errorf("%q was not asked", name)
			}
		})
	}
}
