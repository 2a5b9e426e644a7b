package db_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// vectors counts the messages that have search vectors, and those that wait for them.
func vectors(t *testing.T, store *db.DB) (made, waiting int) {
	t.Helper()
	err := store.Pool().QueryRow(t.Context(), `SELECT (SELECT count(DISTINCT source_id) FROM embedding.lexical WHERE kind = 'context'),
		(SELECT COALESCE(sum(last_id - first_id + 1), 0) FROM embedding.backlog)`).Scan(&made, &waiting)
	if err != nil {
		t.Fatal(err)
	}
	return made, waiting
}

// eventually asks until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

// Search vectors follow by themselves, also those of what other programs write, in runs longer than a batch.
func TestVectorsFollow(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustAppend(t, store, draft("a", "by the server"))
	conn := superuser(t, url)
	mustExec(t, conn, `INSERT INTO log.messages (session_hash, owner_id, content)
		SELECT log.sha256('b'), log.sha256('o'), 'by another program, ' || i FROM generate_series(1, 2500) i`)
	eventually(t, "2,501 messages have vectors", func() bool {
		made, waiting := vectors(t, store)
		return made == 2501 && waiting == 0
	})
}

// A search finds what was committed before it, whether or not the vectors are there yet: here others hold some of what
// waits, and are done while it searches.
func TestSearchTakesInWhatWaits(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	for i := range 20 {
		mustAppend(t, store, draft("a", fmt.Sprintf("The word of round %d is quokka%d.", i, i)))
		mustExec(t, conn, fmt.Sprintf("INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('b'), log.sha256('o'), 'And wombat%d is another.')", i))
		for _, word := range []string{"quokka", "wombat"} {
			found, err := store.RequestContext(t.Context(), selection.Request{Query: fmt.Sprintf("%s%d", word, i), Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(found.Rendered, fmt.Sprintf("%s%d", word, i)) {
				t.Fatalf("round %d: the search for %s%d gave %q", i, word, i, found.Rendered)
			}
		}
	}
}

// Vectors of every message, once, however many stores make them at a time.
func TestVectorsOnce(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other, err := db.Open(t.Context(), url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var drafts []chain.Draft
	for i := range 1000 {
		drafts = append(drafts, draft(fmt.Sprint("s", i%7), fmt.Sprintf("message %d", i)))
	}
	for _, s := range []*db.DB{store, other, store, other} {
		mustAppend(t, s, slices.Clone(drafts)...)
	}
	eventually(t, "4,000 messages have vectors", func() bool {
		made, waiting := vectors(t, store)
		return made == 4000 && waiting == 0
	})
}

// A batch takes as many runs as it has room for, and leaves all others as they are: to write them anew for each batch would take
// longer the more there are, and leaves dead rows, which every search reads.
func TestBatchLeavesOtherRuns(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	store.HoldIndexing(true)
	conn := superuser(t, url)
	for run := range 60 {
		mustExec(t, conn, `INSERT INTO log.messages (session_hash, owner_id, content)
			SELECT log.sha256('b'), log.sha256('o'), 'number ' || i FROM generate_series(1, 90) i`)
		mustExec(t, conn, "CREATE TABLE IF NOT EXISTS runs AS SELECT 0 AS run, ctid AS place, first_id FROM embedding.backlog WHERE FALSE")
		mustExec(t, conn, "INSERT INTO runs SELECT $1, ctid, first_id FROM embedding.backlog b WHERE NOT EXISTS (SELECT FROM runs r WHERE r.first_id = b.first_id)", run)
	}
	// 5,400 messages are more than a search takes in, so that it makes vectors of one batch: of the newest eleven runs, and of ten
	// messages of the one before those.
	if _, err := store.RequestContext(t.Context(), selection.Request{Query: "number", Limit: 5}); err != nil {
		t.Fatal(err)
	}
	if made, waiting := vectors(t, store); made != 1000 || waiting != 4400 {
		t.Errorf("%d messages have vectors and %d wait, want 1000 and 4400", made, waiting)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.backlog b JOIN runs r ON r.place = b.ctid AND r.first_id = b.first_id AND r.run < 48"); n != 48 {
		t.Errorf("%d runs were left as they were, want 48", n)
	}
}

// Vectors wait for a lull while several append, also if one of them happens to be alone now and then; not while somebody searches, nor
// when very many wait, nor for one who appends by one call after the other.
func TestVectorsWaitForALull(t *testing.T) {
	t.Parallel()
	const now, long = time.Millisecond, time.Minute
	for _, test := range []struct {
		name                         string
		writing                      int
		behind                       int64
		together, appended, searched time.Duration
		due                          bool
	}{
		{"several append", 1, 24_999, now, now, long, false},
		{"several append, one alone for a while", 0, 24_999, 900 * time.Millisecond, now, long, false},
		{"several append, and very many wait", 2, 25_000, now, now, long, true},
		{"much is appended at once, which takes long", 1, 5000, 200 * time.Millisecond, 200 * time.Millisecond, long, false},
		{"a lull", 0, 1, 60 * time.Millisecond, 60 * time.Millisecond, long, true},
		{"somebody searches", 1, 1, now, now, 9 * time.Second, true},
		{"one appends", 1, 1000, long, now, long, true},
		{"one appends, and few wait", 1, 999, long, now, long, false},
	} {
		if got := db.VectorsDue(test.writing, test.behind, test.together, test.appended, test.searched); got != test.due {
			t.Errorf("%s: due = %t, want %t", test.name, got, test.due)
		}
	}
}
