package db_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

// vocabulary is a language of so many words, the first of which are the most common.
type vocabulary struct {
	words  []string
	random *rand.Rand
	zipf   *rand.Zipf
}

func newVocabulary(size int, seed uint64) *vocabulary {
	v := &vocabulary{random: rand.New(rand.NewPCG(seed, 7))}
	for i := range size {
		word := ""
		for n := i + 1; n > 0 || len(word) < 4; n /= 12 {
			word += string("bcdfghklmnpr"[n%12]) + string("aeiou"[(n/5+i)%5])
		}
		v.words = append(v.words, word)
	}
	v.zipf = rand.NewZipf(v.random, 1.1, 3, uint64(size-1))
	return v
}

func (v *vocabulary) text(words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = v.words[v.zipf.Uint64()]
	}
	return strings.Join(list, " ")
}

// crowd fills a log with messages of some sessions, in a thread each: every third is player "a"'s, and the others "b"'s.
func crowd(t testing.TB, store *db.DB, v *vocabulary, messages int) {
	t.Helper()
	var drafts []chain.Draft
	for i := range messages {
		d := draft(fmt.Sprint("s", v.random.IntN(1+messages/25)), v.text(4+v.random.IntN(12)))
		d.OwnerID, d.ThreadHash, d.CreatedAt = hashOf("b"), &d.SessionHash, &longAgo
		if i%3 == 0 {
			d.OwnerID = hashOf("a")
		}
		drafts = append(drafts, d)
	}
	for chunk := range slices.Chunk(drafts, 1000) {
		mustAppend(t, store, chunk...)
	}
}

func mustSearch(t testing.TB, store *db.DB, in db.Searching) db.Found {
	t.Helper()
	if in.Request.At.IsZero() {
		in.Request.At = longAgo.Add(time.Hour)
	}
	found, err := store.Search(t.Context(), in)
	if err != nil {
		t.Fatalf("search for %q: %v", in.Request.Query, err)
	}
	return found
}

type score struct {
	Hash        chain.Hash
	Score       float64
	Explanation selection.Explanation
}

func scores(best []selection.Candidate) []score {
	list := make([]score, len(best))
	for i, c := range best {
		list[i] = score{c.Hash, c.Score, c.Explanation}
	}
	return list
}

// scopesOfCrowd are searched in every way that there is, with at most 60 messages looked at and 500 listed.
var scopesOfCrowd = map[string]struct {
	scope selection.Scope
	way   string
}{
	"a thread":       {selection.Scope{Threads: []chain.Hash{hashOf("session:s3")}}, "few"},
	"a third":        {selection.Scope{Owners: []chain.Hash{hashOf("a")}}, "listed"},
	"two thirds":     {selection.Scope{Owners: []chain.Hash{hashOf("b")}}, "large"},
	"everything":     {selection.Scope{}, "large"},
	"since long ago": {selection.Scope{Since: &longAgo}, "large"},
	"messages":       {selection.Scope{Types: []chain.RefType{chain.RefContext}}, "large"},
	"records":        {selection.Scope{Types: []chain.RefType{chain.RefSecretary}}, "large"},
	"nothing at all": {selection.Scope{Threads: []chain.Hash{}}, "few"},
	"two threads":    {selection.Scope{Threads: []chain.Hash{hashOf("session:s1"), hashOf("session:s2")}}, "listed"},
}

// A search of the log as another one saw it finds the same to the last digit, whatever was written since: also what
// had its id before and was committed after.
func TestSearchAgain(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	v := newVocabulary(3000, 1)
	crowd(t, store, v, 1200)
	if _, err := store.AddRecords(t.Context(), []knowledge.Draft{
		{Kind: chain.RefSecretary, Book: "files", Title: v.text(3), Content: v.text(30)},
		{Kind: chain.RefAccountant, Book: "ledger", Title: v.text(3), Content: v.text(30)},
	}); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		late := superuser(t, url)
		// Among those who write is one whom the query names, and who has written nothing yet.
		query, quentin := fmt.Sprintf("%s late%d quentin%d", v.text(5), round, round), hashOf("quentin%d", round)
		mustExec(t, late, fmt.Sprintf("INSERT INTO core.players (hash, namespace, key, name) VALUES ('%s', 'plu', 'q%d', 'Quentin%d')", quentin, round, round))
		tx, err := late.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `INSERT INTO log.messages (session_hash, thread_hash, owner_id, content)
			SELECT $1::TEXT, $1, o, $2 FROM unnest($3::TEXT[]) o`,
			hashOf("session:s3").String(), query, []string{hashOf("a").String(), hashOf("b").String(), quentin.String()}); err != nil {
			t.Fatal(err)
		}
		crowd(t, store, v, 30) // beyond the ids that are held, and in other sessions

		before := map[string]db.Found{}
		for name, of := range scopesOfCrowd {
			found := mustSearch(t, store, db.Searching{Request: selection.Request{Query: query, Scope: of.scope, Limit: 100}, Small: 60, Listed: 500})
			if found.Way != of.way && name != "records" {
				t.Errorf("%s was searched as %s, want %s", name, found.Way, of.way)
			}
			if position, size, absent, _ := found.At.Log(); len(absent) != 3 || size != position-3 {
				t.Errorf("%s: position %d, size %d, absent %v; want three absent", name, position, size, absent)
			}
			before[name] = found
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		crowd(t, store, v, 40)
		if _, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "b", Title: "t", Content: query}}); err != nil {
			t.Fatal(err)
		}
		for name, of := range scopesOfCrowd {
			request := selection.Request{Query: query, Scope: of.scope, Limit: 100}
			was := before[name]
			again := mustSearch(t, store, db.Searching{Request: request, At: &was.At, Small: 60, Listed: 500})
			if diff := cmp.Diff(scores(was.Best), scores(again.Best)); diff != "" {
				t.Errorf("round %d, %s: again differs: %s", round, name, diff)
			}
			now := mustSearch(t, store, db.Searching{Request: request, Small: 60, Listed: 500})
			if name != "nothing at all" && name != "two threads" && cmp.Equal(scores(was.Best), scores(now.Best)) {
				t.Errorf("round %d, %s: what was written since makes no difference", round, name)
			}
		}
	}
}

// In a large scope as in a small one, what stands beside a message that was found is found, too, whatever its own words.
func TestSearchLooksAround(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, draft("s", "Good morning."), draft("s", "Which quokka did they adopt?"), draft("s", "The brown one."), draft("t", "Good night."))
	for _, small := range []int{100, 1} {
		found := mustSearch(t, store, db.Searching{Request: selection.Request{Query: "quokka adopted", Limit: 5}, Small: small})
		at := slices.IndexFunc(found.Best, func(c selection.Candidate) bool { return c.Text == "The brown one." })
		if at < 0 || found.Best[at].Explanation.Neighbours == 0 {
			t.Errorf("searched as %s: the answer is at %d of %d", found.Way, at, len(found.Best))
		}
	}
}

// Ways of searching differ in what they look at, and not in what they find of a log that each can see as a whole: the
// products of the first ten are those of a look at everything that has a word of the query.
func TestSearchFindsTheNearest(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	v := newVocabulary(3000, 2)
	crowd(t, store, v, 2000)
	conn := superuser(t, url)
	for name, of := range scopesOfCrowd {
		if name == "records" || name == "nothing at all" {
			continue
		}
		owner := of.scope.Owners
		for range 5 {
			found := mustSearch(t, store, db.Searching{
				Request: selection.Request{Query: v.words[50+v.random.IntN(900)] + " " + v.text(4), Scope: of.scope, Limit: 10}, Small: 60, Listed: 800,
			})
			var threads []string
			for _, h := range of.scope.Threads {
				threads = append(threads, h.String())
			}
			var who *chain.Hash
			if owner != nil {
				who = &owner[0]
			}
			rows, err := conn.Query(t.Context(), `SELECT -(l.vector <#> CAST($1::TEXT AS sparsevec)) AS product FROM embedding.lexical l
				JOIN log.messages m ON m.id = l.source_id AND l.kind = 'context'
				WHERE ($2::TEXT[] IS NULL OR m.thread_hash = ANY ($2)) AND ($3::TEXT IS NULL OR m.owner_id = $3) AND l.keys && $4
				ORDER BY product DESC LIMIT 10`, found.Vector, threads, who, found.Keys)
			if err != nil {
				t.Fatal(err)
			}
			want, err := pgx.CollectRows(rows, pgx.RowTo[float64])
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			for _, p := range found.Products[:min(len(want), len(found.Products))] {
				got = append(got, p.Score)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, as %s: %s", name, found.Way, diff)
			}
		}
	}
}

// The size of the log is the count of its messages in every snapshot, whether or not a sealer takes them into the tree
// meanwhile, and what is absent covers every id that comes late.
func TestLogStateUnderAppends(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		t.Run(fmt.Sprintf("sealed=%v", sealed), func(t *testing.T) {
			t.Parallel()
			store, url := open(t)
			if sealed {
				s := newSealed(t, url)
				s.start(t, s.config())
			}
			var writers sync.WaitGroup
			done := make(chan struct{})
			for w := range 3 {
				conn := superuser(t, url)
				writers.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-done:
							return
						default:
						}
						// By hand, so that ids are held for a while, and now and then never used.
						end := "COMMIT"
						if i%7 == 3 {
							end = "ROLLBACK"
						}
						_, err := conn.Exec(t.Context(), fmt.Sprintf(`BEGIN; INSERT INTO log.messages (session_hash, owner_id, content)
							SELECT log.sha256('w%d'), log.sha256('o'), 'x' FROM generate_series(1, %d); SELECT pg_sleep(0.002); %s`, w, 1+i%5, end))
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			var earlier []db.AsOf
			var seen [][]int64
			for range 150 {
				at, counted, ids, err := store.State(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, size, _, _ := at.Log(); size != counted {
					t.Fatalf("size = %d, counted %d", size, counted)
				}
				earlier, seen = append(earlier, at), append(seen, ids)
			}
			close(done)
			writers.Wait()
			_, _, all, err := store.State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, at := range earlier {
				position, _, absent, _ := at.Log()
				then := slices.DeleteFunc(slices.Clone(all), func(id int64) bool {
					_, out := slices.BinarySearch(absent, id)
					return out || id > position
				})
				if !slices.Equal(then, seen[i]) {
					t.Fatalf("snapshot %d: the state says %d messages up to %d, %d were seen", i, len(then), position, len(seen[i]))
				}
			}
		})
	}
}

// While very many messages have no search vectors, a search takes in the newest, ranks what there is and says how many it
// did not see.
func TestSearchOfAnUnindexedLog(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	store.HoldIndexing(true)
	conn := superuser(t, url)
	mustExec(t, conn, `INSERT INTO log.messages (session_hash, owner_id, content)
		SELECT log.sha256('b'), log.sha256('o'), 'message number' || i FROM generate_series(1, 6000) i`)
	mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('c'), log.sha256('o'), 'A quokka is the newest.')")
	found := mustSearch(t, store, db.Searching{Request: selection.Request{Query: "quokka", Limit: 5}})
	if len(found.Best) == 0 || found.Best[0].Text != "A quokka is the newest." || found.Unindexed < 4000 {
		t.Errorf("found %d, of %d unindexed", len(found.Best), found.Unindexed)
	}
	store.HoldIndexing(false)
	eventually(t, "all 6,001 messages have vectors", func() bool {
		made, waiting := vectors(t, store)
		return made == 6001 && waiting == 0
	})
	if found := mustSearch(t, store, db.Searching{Request: selection.Request{Query: "number17", Limit: 5}}); found.Unindexed != 0 || len(found.Best) == 0 {
		t.Errorf("of an indexed log: %d found, %d unindexed", len(found.Best), found.Unindexed)
	}
}

// Who is named in a session just then, by a message that has no search vectors yet, finds what else it holds; and so it is on replay.
func TestSearchUnindexedMembership(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	store.HoldIndexing(true) // but by searches
	mustAppend(t, store, draft("s", "a quokka in the garden"), draft("s", "the quokka is gone"), draft("t", "no quokka here"))
	for name, scope := range map[string]selection.Scope{"all": {}, "a session": {Sessions: []chain.Hash{draft("s", "").SessionHash}}} {
		guest := chain.Sum([]byte(name))
		in := db.Searching{Request: selection.Request{Query: "quokka", Limit: 5, Scope: scope}, Viewer: &guest}
		if found := mustSearch(t, store, in); len(found.Best) != 0 {
			t.Fatalf("%s: a stranger finds %d", name, len(found.Best))
		}
		in.Before = func() {
			d := draft("s", "quokka, "+name)
			d.PlayerIDs = []chain.Hash{guest}
			mustAppend(t, store, d)
		}
		found := mustSearch(t, store, in)
		in.Before, in.At = nil, &found.At
		again := mustSearch(t, store, in)
		if len(found.Best) < 2 || slices.ContainsFunc(found.Best, func(c selection.Candidate) bool { return c.Text == "quokka, "+name }) {
			t.Errorf("%s: found %v", name, scores(found.Best))
		}
		if diff := cmp.Diff(scores(found.Best), scores(again.Best)); diff != "" {
			t.Errorf("%s: on replay: %s", name, diff)
		}
	}
}

// What is to be kept is among the best, behind those within reach.
func TestSearchKeeps(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for i := range 120 {
		mustAppend(t, store, draft("s", fmt.Sprintf("quokka %s", strings.Repeat("and so on ", i))))
	}
	last := mustAppend(t, store, draft("t", "nothing of the sort"))[0]
	request := selection.Request{Query: "quokka", Limit: 3}
	plain := mustSearch(t, store, db.Searching{Request: request})
	kept := mustSearch(t, store, db.Searching{Request: request, Keep: []chain.Hash{last.Hash}})
	reach := request.Limit + selection.Reach
	if len(plain.Best) != reach || len(kept.Best) != reach+1 || kept.Best[reach].Hash != last.Hash {
		t.Fatalf("%d, and %d with one kept; want %d and one more", len(plain.Best), len(kept.Best), reach)
	}
	if diff := cmp.Diff(scores(plain.Best), scores(kept.Best[:reach])); diff != "" {
		t.Errorf("what is kept changes the others: %s", diff)
	}
	if !kept.Best[reach].CreatedAt.Equal(last.CreatedAt) || kept.Best[reach].Text != *last.Content {
		t.Errorf("what is kept = %+v", kept.Best[reach])
	}
}
