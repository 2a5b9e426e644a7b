package db_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

var rangeWords = strings.Fields("harbour lantern copper violin meadow tunnel")

// rangeDraft is a message of one of a few sessions and threads, which everyone sees or Ana does not.
func rangeDraft(r *rand.Rand, at time.Time) chain.Draft {
	sessions := []string{"shared", "later", "secret"}
	i := r.IntN(len(sessions))
	d := from(ana, sessions[i], rangeWords[r.IntN(len(rangeWords))]+" and "+rangeWords[r.IntN(len(rangeWords))], ben)
	if sessions[i] == "secret" {
		d.OwnerID, d.PlayerIDs = cleo, nil
	}
	d.CreatedAt = &at
	if n := r.IntN(3); n < 2 {
		d.ThreadHash = ptr(hashOf("thread %d", n))
	}
	if r.IntN(3) > 0 {
		d.Channel = ptr([]string{"webchat", "voice"}[r.IntN(2)])
	}
	if r.IntN(2) > 0 {
		d.MasterPlayer = ptr([]chain.Hash{ana, ben}[r.IntN(2)])
	}
	d.Importance = r.IntN(3)
	if r.IntN(5) == 0 {
		d.EventType = chain.EventError
	}
	return d
}

func drawMatch(t *rapid.T) (m selection.Match) {
	some := func(name string) bool { return rapid.IntRange(0, 2).Draw(t, name) == 0 }
	if some("channels") {
		m.Channels = rapid.SliceOfN(rapid.SampledFrom([]string{"webchat", "voice", "nowhere"}), 0, 2).Draw(t, "channels of")
	}
	if some("importance") {
		m.Importance = rapid.SliceOfN(rapid.IntRange(0, 2), 0, 2).Draw(t, "importance of")
	}
	if some("text") {
		m.Text = ptr(strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(rangeWords, "the", "nothing")), 1, 2).Draw(t, "words"), " "))
	}
	players := rapid.SliceOfN(rapid.SampledFrom([]chain.Hash{ana, ben, cleo}), 0, 2)
	if some("receivers") {
		m.Receivers = players.Draw(t, "receivers of")
	}
	if some("leaders") {
		m.Leaders = players.Draw(t, "leaders of")
	}
	if some("since") {
		m.Since = ptr(longAgo.Add(time.Duration(rapid.IntRange(0, 130).Draw(t, "since minute")) * time.Minute))
	}
	if some("until") {
		m.Until = ptr(longAgo.Add(time.Duration(rapid.IntRange(0, 130).Draw(t, "until minute")) * time.Minute))
	}
	return m
}

// rangeLists reads a line by cursors, and of it what matches, by the log's list and not by positions.
func rangeLists(t *rapid.T, view *db.DB, line db.Line, match selection.Match) (hashes []chain.Hash, messages map[chain.Hash]chain.Message) {
	scope, messages := selection.Scope{Sessions: []chain.Hash{line.Hash}}, map[chain.Hash]chain.Message{}
	if line.Thread {
		scope = selection.Scope{Threads: []chain.Hash{line.Hash}}
	}
	matching := map[chain.Hash]bool{}
	for p := (db.Page[chain.Hash]{Limit: 40}); ; {
		rows, err := view.Messages(t.Context(), scope, match, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range rows.Items {
			matching[item.Key] = true
			p.After = &item.Key
		}
		if !rows.More {
			break
		}
	}
	if n, err := view.CountMessages(t.Context(), scope, match); err != nil || int(n) != len(matching) {
		t.Fatalf("CountMessages = %d, %v; want %d", n, err, len(matching))
	}
	take := func(m chain.Message) {
		if matching[m.Hash] {
			hashes = append(hashes, m.Hash)
			messages[m.Hash] = m
		}
	}
	if line.Thread {
		for p := (db.Page[chain.Hash]{Limit: 30}); ; {
			rows, err := view.ThreadMessages(t.Context(), line.Hash, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range rows.Items {
				take(item.Value)
				p.After = &item.Key
			}
			if !rows.More {
				return hashes, messages
			}
		}
	}
	for p := (db.Page[int64]{Limit: 30}); ; {
		rows, err := view.SessionMessages(t.Context(), line.Hash, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range rows.Items {
			take(item.Value)
			p.After = &item.Key
		}
		if !rows.More {
			return hashes, messages
		}
	}
}

// checkRanges has all that goes by position agree with the lists by cursor.
func checkRanges(t *rapid.T, view *db.DB, line db.Line, match selection.Match) {
	want, messages := rangeLists(t, view, line, match)
	step := rapid.IntRange(1, 50).Draw(t, "count")
	var got []chain.Hash
	for from := 0; from <= len(want); from += step {
		found, total, err := view.Range(t.Context(), line, match, from, step)
		if err != nil || total != len(want) {
			t.Fatalf("Range(%d) = %d in all, %v; want %d", from, total, err, len(want))
		}
		for _, m := range found {
			got = append(got, m.Hash)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("ranges of %d, by cursor and by position:\n%s", step, diff)
	}
	for i, hash := range want {
		if place, ok, err := view.Place(t.Context(), line, match, hash); err != nil || !ok || place != i {
			t.Fatalf("Place(%d) = %d, %t, %v", i, place, ok, err)
		}
	}
	moment := longAgo.Add(time.Duration(rapid.IntRange(0, 140).Draw(t, "moment")) * time.Minute)
	first := slices.IndexFunc(want, func(h chain.Hash) bool { return !messages[h].CreatedAt.Before(moment) })
	if first < 0 {
		first = len(want)
	}
	if place, err := view.PlaceAt(t.Context(), line, match, moment); err != nil || place != first {
		t.Fatalf("PlaceAt(%v) = %d, %v; want %d", moment, place, err, first)
	}
	marks, err := view.Marks(t.Context(), line, match)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantMarks(want, messages, line.Thread), marks); diff != "" {
		t.Fatalf("marks:\n%s", diff)
	}
	if n, err := view.CountMarks(t.Context(), line, match); err != nil || n != len(marks) {
		t.Fatalf("CountMarks = %d, %v; want %d", n, err, len(marks))
	}
}

func wantMarks(list []chain.Hash, messages map[chain.Hash]chain.Message, thread bool) []db.Mark {
	marks, begun := []db.Mark{}, map[chain.Hash]bool{}
	for i, hash := range list {
		m := messages[hash]
		kind := db.MarkKind("")
		switch {
		case m.EventType == chain.EventError:
			kind = db.MarkError
		case m.Importance == 2:
			kind = db.MarkImportant
		case thread && !begun[m.SessionHash]:
			kind = db.MarkSession
		}
		begun[m.SessionHash] = true
		if kind != "" {
			marks = append(marks, db.Mark{Position: i, Kind: kind, Hash: hash, CreatedAt: m.CreatedAt})
		}
	}
	return marks
}

// For random filters, ranges one after the other are the list by cursors, whoever looks, while the log grows, on two servers;
// positions of messages and moments agree with it.
func TestRangesAreTheList(t *testing.T) {
	both(t, func(t *testing.T, store *db.DB) {
		other := openURL(t, store.Pool().Config().ConnString())
		random := rand.New(rand.NewPCG(3, 5))
		minute := 0
		grow := func(by *db.DB, n int) {
			drafts := make([]chain.Draft, n)
			for i := range drafts {
				drafts[i] = rangeDraft(random, longAgo.Add(time.Duration(minute)*time.Minute))
				minute += random.IntN(2)
			}
			mustAppend(t, by, drafts...)
		}
		grow(store, 80)
		rapid.Check(t, func(t *rapid.T) {
			by := rapid.SampledFrom([]*db.DB{store, other}).Draw(t, "server that writes")
			if more := rapid.IntRange(0, 4).Draw(t, "more"); more > 0 && minute < 140 {
				grow(by, more)
			}
			view := rapid.SampledFrom([]*db.DB{store, store.As(ana), store.As(cleo), other}).Draw(t, "view")
			line := rapid.SampledFrom([]db.Line{{hashOf("shared"), false}, {hashOf("secret"), false}, {hashOf("thread 0"), true}, {hashOf("thread 1"), true}, {hashOf("none"), true}}).Draw(t, "line")
			checkRanges(t, view, line, drawMatch(t))
		})
	})
}

// What is sent to another session of a thread with an earlier time stands where its time says, whenever it becomes visible.
func TestRangeWithLateMessages(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	thread := hashOf("thread")
	line := db.Line{Hash: thread, Thread: true}
	say := func(session string, minute int) chain.Hash {
		d := draft(session, fmt.Sprint(session, " at ", minute))
		d.ThreadHash, d.CreatedAt = &thread, ptr(longAgo.Add(time.Duration(minute)*time.Minute))
		return mustAppend(t, store, d)[0].Hash
	}
	list := func() (hashes []chain.Hash) {
		t.Helper()
		found, total, err := store.Range(t.Context(), line, selection.Match{}, 0, 200)
		if err != nil || total != len(found) {
			t.Fatal(total, err)
		}
		for _, m := range found {
			hashes = append(hashes, m.Hash)
		}
		return hashes
	}
	a, c := say("one", 1), say("one", 3)
	if diff := cmp.Diff([]chain.Hash{a, c}, list()); diff != "" {
		t.Fatal(diff)
	}

	// It has its id before the next message has, and is seen after that.
	tx, err := store.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	var b chain.Hash
	if err := tx.QueryRow(t.Context(), "INSERT INTO log.messages (session_hash, thread_hash, owner_id, content, created_at) VALUES ($1, $2, $1, 'late', $3) RETURNING hash",
		hashOf("two").String(), thread.String(), longAgo.Add(2*time.Minute)).Scan(&b); err != nil {
		t.Fatal(err)
	}
	d := say("one", 4)
	for range 3 {
		if diff := cmp.Diff([]chain.Hash{a, c, d}, list()); diff != "" {
			t.Fatal(diff)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if diff := cmp.Diff([]chain.Hash{a, b, c, d}, list()); diff != "" {
			t.Fatal(diff)
		}
	}
}

// Two databases that differ only in what a player cannot see give the same by position, and as use.
func TestRangesOfTwoWorlds(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			v := newVocabulary(40, 11)
			one, other := twoWorlds(t, 300, v)
			if !fenced {
				one.Unfence()
				other.Unfence()
			}
			hidden, err := other.Messages(t.Context(), selection.Scope{Owners: []chain.Hash{cleo}}, selection.Match{}, db.Page[chain.Hash]{Limit: 3})
			if err != nil || len(hidden.Items) == 0 {
				t.Fatal("nothing is hidden", err)
			}
			rapid.Check(t, func(t *rapid.T) {
				line := db.Line{Hash: hashOf("thread%d", rapid.IntRange(0, 4).Draw(t, "thread")), Thread: true}
				if rapid.Bool().Draw(t, "session") {
					line = db.Line{Hash: hashOf("%s", rapid.SampledFrom([]string{"mine0", "mine3", "hidden0"}).Draw(t, "session of"))}
				}
				match := selection.Match{}
				if rapid.Bool().Draw(t, "text") {
					match.Text = ptr(v.text(1))
				}
				if rapid.Bool().Draw(t, "since") {
					match.Since = ptr(longAgo.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "since second")) * time.Second))
				}
				from, bucket := rapid.IntRange(0, 80).Draw(t, "from"), rapid.SampledFrom([]db.UsageBucket{"day", "week", "month"}).Draw(t, "bucket")
				who := rapid.SampledFrom([]chain.Hash{ana, ben, cleo, hashOf("ply:ana2")}).Draw(t, "component")
				var told [2]string
				for i, store := range []*db.DB{one, other} {
					told[i] = tellRanges(t, store.As(ana), line, match, from, who, bucket, hidden.Items[0].Key)
				}
				if diff := cmp.Diff(told[0], told[1]); diff != "" {
					t.Fatalf("the worlds differ:\n%s", diff)
				}
			})
		})
	}
}

func tellRanges(t *rapid.T, view *db.DB, line db.Line, match selection.Match, from int, who chain.Hash, bucket db.UsageBucket, message chain.Hash) string {
	messages, total, err := view.Range(t.Context(), line, match, from, 20)
	if err != nil {
		t.Fatal(err)
	}
	hashes := []chain.Hash{}
	for _, m := range messages {
		hashes = append(hashes, m.Hash)
		message = m.Hash
	}
	place, ok, err := view.Place(t.Context(), line, match, message)
	if err != nil {
		t.Fatal(err)
	}
	at, err := view.PlaceAt(t.Context(), line, match, longAgo.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	marks, err := view.Marks(t.Context(), line, match)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := view.ComponentUsage(t.Context(), who, bucket)
	if err != nil {
		t.Fatal(err)
	}
	threads, err := view.Threads(t.Context(), selection.Scope{}, match, db.Page[chain.Hash]{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	counted, err := view.CountThreads(t.Context(), selection.Scope{}, match)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := view.Sessions(t.Context(), selection.Scope{}, match, db.Page[chain.Hash]{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{hashes, total, place, ok, at, marks, usage, threads, counted, sessions})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Of more marks than are given, those stay that tell most, from the beginning to the end.
func TestMarksAreFew(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	drafts := make([]chain.Draft, 1000)
	for i := range drafts {
		d := draft("one", fmt.Sprint(i))
		d.ThreadHash, d.Importance = ptr(hashOf("thread")), 2
		if i%100 == 99 {
			d.EventType = chain.EventError
		}
		drafts[i] = d
	}
	mustAppend(t, store, drafts...)
	line := db.Line{Hash: hashOf("thread"), Thread: true}
	marks, err := store.Marks(t.Context(), line, selection.Match{})
	if err != nil || len(marks) != db.MaxMarks {
		t.Fatalf("%d marks, %v; want %d", len(marks), err, db.MaxMarks)
	}
	errors := 0
	for i, m := range marks {
		if m.Position/2 != i {
			t.Fatalf("mark %d is at %d, want one of each two", i, m.Position)
		}
		if m.Kind == db.MarkError {
			errors++
		}
	}
	if n, err := store.CountMarks(t.Context(), line, selection.Match{}); err != nil || n != 1000 || errors != 10 {
		t.Errorf("CountMarks = %d, %v, with %d errors; want 1000 and 10", n, err, errors)
	}
}
