package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

func TestAppendChains(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	full := chain.Draft{
		SessionHash: hashOf("s"), ThreadHash: ptr(hashOf("t")), OwnerID: hashOf("o"), PlayerIDs: []chain.Hash{hashOf("p"), hashOf("q")},
		MasterPlayer: ptr(hashOf("m")), Role: ptr("user"), EventType: chain.EventTool, Importance: 2, Channel: ptr(""), Source: ptr("test"),
		Content: "¿Qué tal? \\x41 😀", Attachments: ptr(chain.JSON(`{"b":1e2,"a":[1.10,null]}`)), Ambient: ptr(chain.JSON(`null`)),
		Hashtags: []chain.Hash{hashOf("h")}, FlagID: ptr(hashOf("f")), MasterItemID: ptr(hashOf("mi")), ItemIDs: []chain.Hash{hashOf("i")},
		LocationID: ptr(hashOf("l")), CreatedAt: ptr(time.Date(1969, 7, 20, 20, 17, 40, 123456789, time.UTC)),
	}
	written := mustAppend(t, store, full, draft("other", "x"), chain.Draft{SessionHash: hashOf("s"), OwnerID: hashOf("o"), Content: "second"})
	for i, m := range written {
		if got := m.ComputeHash(); got != m.Hash {
			t.Errorf("message %d: hash = %s, computed %s", i, m.Hash, got)
		}
	}
	first, second := written[0], written[2]
	if first.Sequence != 1 || first.PrevHash != nil || second.Sequence != 2 || second.PrevHash == nil || *second.PrevHash != first.Hash {
		t.Errorf("chain = %d %v, %d %v", first.Sequence, first.PrevHash, second.Sequence, second.PrevHash)
	}
	if want := time.Date(1969, 7, 20, 20, 17, 40, 123456000, time.UTC); !first.CreatedAt.Equal(want) {
		t.Errorf("createdAt = %s, want %s: what is below a microsecond is cut", first.CreatedAt, want)
	}
	if got, want := *first.Attachments, chain.JSON(`{"a": [1.10, null], "b": 100}`); got != want {
		t.Errorf("attachments = %s, want %s", got, want)
	}
	read, err := store.MessagesByHash(t.Context(), []chain.Hash{first.Hash})
	if err != nil || len(read) != 1 {
		t.Fatalf("MessagesByHash() = %d messages, %v", len(read), err)
	}
	if diff := cmp.Diff(first, read[0]); diff != "" {
		t.Errorf("read again, it differs: %s", diff)
	}
}

// What was refused is named, and leaves the log as it was.
func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	head := mustAppend(t, store, draft("s", "first"))[0]
	record, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefAccountant, Book: "b", Title: "t", Content: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*chain.Draft)) []chain.Draft {
		d := draft("s", "second")
		f(&d)
		return []chain.Draft{draft("s", "good"), d}
	}
	tests := []struct {
		name   string
		drafts []chain.Draft
		code   fault.Code
		want   string
	}{
		{"none", nil, fault.BadUserInput, "messages: is empty"},
		{"too many", make([]chain.Draft, 1001), fault.BadUserInput, "messages: has 1001 entries; at most 1000"},
		{"empty content", change(func(d *chain.Draft) { d.Content = "" }), fault.BadUserInput, "messages[1].content: is empty"},
		{"long content", change(func(d *chain.Draft) { d.Content = strings.Repeat("x", 1<<20+1) }), fault.BadUserInput, "messages[1].content: has 1048577 bytes; at most 1048576"},
		{"NUL", change(func(d *chain.Draft) { d.Content = "a\x00" }), fault.BadUserInput, "messages[1].content: holds the character U+0000"},
		{"NUL in role", change(func(d *chain.Draft) { d.Role = ptr("\x00") }), fault.BadUserInput, "messages[1].role: holds the character U+0000"},
		{"NUL escaped in JSON", change(func(d *chain.Draft) { d.Ambient = ptr(chain.JSON(`{"a":"\u0000"}`)) }), fault.BadUserInput, "messages[1].ambient: holds the character U+0000"},
		{"long number", change(func(d *chain.Draft) { d.Attachments = ptr(chain.JSON(`[1e130000]`)) }), fault.BadUserInput, "messages[1].attachments: holds a number of more than 1000 digits"},
		{"no JSON", change(func(d *chain.Draft) { d.Ambient = ptr(chain.JSON(`{`)) }), fault.BadUserInput, "messages[1].ambient: is not valid JSON"},
		{"not UTF-8", change(func(d *chain.Draft) { d.Content = "\xff" }), fault.BadUserInput, "messages[1].content: is not valid UTF-8"},
		{"importance", change(func(d *chain.Draft) { d.Importance = 3 }), fault.BadUserInput, "messages[1].importance: 3 is outside of 0 to 2"},
		{"erasure", change(func(d *chain.Draft) { d.EventType = chain.EventErasure }), fault.BadUserInput, "messages[1].eventType"},
		{"stale prevHash", change(func(d *chain.Draft) { d.PrevHash = ptr(hashOf("stale")) }), fault.Conflict, "messages[1].prevHash: is not the head"},
		{"prevHash no longer head", change(func(d *chain.Draft) { d.PrevHash = &head.Hash }), fault.Conflict, "messages[1].prevHash: is not the head"},
		{"prevHash in a new session", change(func(d *chain.Draft) { d.SessionHash, d.PrevHash = hashOf("new"), &head.Hash }), fault.Conflict, "messages[1].prevHash"},
		{"ref to nothing", change(func(d *chain.Draft) { d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: hashOf("nothing")}} }), fault.BadUserInput, "messages[1].refs[0].hash: names nothing of type CONTEXT"},
		{"ref of another type", change(func(d *chain.Draft) { d.Refs = []chain.Ref{{Type: chain.RefSecretary, Hash: record[0].Hash}} }), fault.BadUserInput, "messages[1].refs[0].hash: names nothing of type SECRETARY"},
		{"ref twice", change(func(d *chain.Draft) {
			d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: head.Hash}, {Type: chain.RefContext, Hash: head.Hash}}
		}), fault.BadUserInput, "messages[1].refs[1].hash: is the same as"},
		{"too early", change(func(d *chain.Draft) { d.CreatedAt = ptr(head.CreatedAt.Add(-time.Microsecond)) }), fault.BadUserInput, "messages[1].createdAt: is before the last message"},
		{"year", change(func(d *chain.Draft) { d.CreatedAt = ptr(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) }), fault.BadUserInput, "messages[1].createdAt: the year is outside"},
		{"long list", change(func(d *chain.Draft) { d.PlayerIDs = make([]chain.Hash, 257) }), fault.BadUserInput, "messages[1].playerIds: has 257 entries; at most 256"},
		{"empty key", change(func(d *chain.Draft) { d.IdempotencyKey = ptr("") }), fault.BadUserInput, "messages[1].idempotencyKey: is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := store.Append(t.Context(), tt.drafts)
			if got := fault.CodeOf(err); err == nil || got != tt.code {
				t.Errorf("Append() = %v (%s), want %s", err, got, tt.code)
			} else if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Append() = %q, want it to say %q", err, tt.want)
			}
		})
	}
	if position, size, err := store.LogPosition(t.Context()); err != nil || size != 1 || position != head.ID {
		t.Errorf("after all refusals the log has %d messages to %d, %v; want 1 to %d", size, position, err, head.ID)
	}
}

func TestAppendIdempotent(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	other := openURL(t, url)
	keyed := func(content string) chain.Draft {
		d := draft("s", content)
		d.IdempotencyKey = ptr("k")
		return d
	}
	// Two servers and many callers at once: one message.
	var wait sync.WaitGroup
	hashes := make([]chain.Hash, 40)
	for i := range hashes {
		wait.Go(func() {
			written, err := []*db.DB{store, other}[i%2].Append(t.Context(), []chain.Draft{keyed("once")})
			if err != nil {
				t.Errorf("Append() = %v", err)
				return
			}
			hashes[i] = written[0].Hash
		})
	}
	wait.Wait()
	for i, h := range hashes {
		if h != hashes[0] {
			t.Fatalf("call %d gave %s, call 0 gave %s", i, h, hashes[0])
		}
	}
	twice := mustAppend(t, store, keyed("once"), draft("s", "more"), keyed("once"))
	if twice[0].Hash != hashes[0] || twice[2].Hash != hashes[0] || twice[1].Sequence != 2 {
		t.Errorf("repeated in one call: %v", twice)
	}
	_, err := store.Append(t.Context(), []chain.Draft{keyed("another")})
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("the key with another message: %v, want CONFLICT", err)
	}
	elsewhere := keyed("once")
	elsewhere.OwnerID = hashOf("someone else")
	if got := mustAppend(t, store, elsewhere)[0]; got.Hash == hashes[0] {
		t.Error("another owner's key gave the first owner's message")
	}
}

func TestAppendRefs(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	records, err := store.AddRecords(t.Context(), []knowledge.Draft{
		{Kind: chain.RefAccountant, Book: "b", Title: "t", Content: "c"}, {Kind: chain.RefSecretary, Book: "b", Title: "t", Content: "c"},
	})
	if err != nil {
		t.Fatal(err)
	}
	earlier := mustAppend(t, store, draft("a", "earlier"))[0]
	d := draft("b", "with refs")
	d.Refs = []chain.Ref{{Type: chain.RefSecretary, Hash: records[1].Hash}, {Type: chain.RefContext, Hash: earlier.Hash}, {Type: chain.RefAccountant, Hash: records[0].Hash}}
	m := mustAppend(t, store, d)[0]
	if m.RefsDigest != chain.RefsDigest(d.Refs) {
		t.Errorf("refs digest = %s", m.RefsDigest)
	}
	refs, err := store.RefsOf(t.Context(), []chain.Hash{m.Hash, earlier.Hash})
	if err != nil || cmp.Diff(map[chain.Hash][]chain.Ref{m.Hash: d.Refs}, refs) != "" {
		t.Errorf("RefsOf() = %v, %v, want those given, in order", refs, err)
	}
	cited, err := store.CitingMessages(t.Context(), earlier.Hash, db.Page[chain.Hash]{Limit: 10})
	if err != nil || len(cited.Items) != 1 || cited.Items[0].Value.Hash != m.Hash {
		t.Errorf("CitingMessages() = %v, %v", cited, err)
	}
}

// Many writers, few sessions and many: no fork, no gap, ids in the order of the chain, and each message once.
func TestAppendConcurrently(t *testing.T) {
	t.Parallel()
	for _, sessions := range []int{1, 1000} {
		t.Run(fmt.Sprintf("%d sessions", sessions), func(t *testing.T) {
			t.Parallel()
			store, url := open(t)
			stores := []*db.DB{store, openURL(t, url)}
			const writers, each = 64, 30
			var wait sync.WaitGroup
			var sent atomic.Int64
			acknowledged := make([][]chain.Hash, writers)
			for w := range writers {
				wait.Go(func() {
					for i := range each {
						n := w*each + i
						batch := []chain.Draft{draft(fmt.Sprint(n%sessions), fmt.Sprint(n))}
						if n%7 == 0 { // several sessions in one call, against the order of locks
							batch = append(batch, draft(fmt.Sprint((n+sessions/2)%sessions), "also"), batch[0])
						}
						sent.Add(int64(len(batch)))
						written, err := stores[w%2].Append(t.Context(), batch)
						if err != nil {
							t.Errorf("Append() = %v", err)
						}
						for _, m := range written {
							acknowledged[w] = append(acknowledged[w], m.Hash)
						}
					}
				})
			}
			wait.Wait()
			var want, got []chain.Hash
			for _, m := range checkChains(t, store) {
				got = append(got, m.Hash)
			}
			want = slices.Concat(acknowledged...)
			sortHashes(got)
			sortHashes(want)
			if !slices.Equal(got, want) || len(slices.Compact(want)) != len(got) || int64(len(got)) != sent.Load() {
				t.Errorf("the log holds %d messages, for %d drafts and %d acknowledged hashes: want the same, each once", len(got), sent.Load(), len(want))
			}
		})
	}
}

func sortHashes(hashes []chain.Hash) {
	slices.SortFunc(hashes, func(a, b chain.Hash) int { return bytes.Compare(a[:], b[:]) })
}

// checkChains reads the log, checks every chain by itself and gives the messages.
func checkChains(t *testing.T, store *db.DB) (messages []chain.Message) {
	t.Helper()
	heads := map[chain.Hash]chain.Message{}
	page := db.Page[chain.Hash]{Limit: 500}
	for {
		rows, err := store.Messages(t.Context(), selection.Scope{}, selection.Match{}, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows.Items {
			m := row.Value
			if m.ComputeHash() != m.Hash {
				t.Errorf("message %d: the hash is not that of its fields", m.ID)
			}
			before, continued := heads[m.SessionHash]
			if m.Sequence != before.Sequence+1 || continued != (m.PrevHash != nil) || continued && *m.PrevHash != before.Hash {
				t.Errorf("message %d is %d in its session after %d, and does not continue it", m.ID, m.Sequence, before.Sequence)
			}
			heads[m.SessionHash] = m
			messages = append(messages, m)
			page.After = ptr(row.Key)
		}
		if !rows.More {
			return messages
		}
	}
}

// A wrong call in a group fails alone, whatever it shares the group with.
func TestAppendGroupsFailAlone(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			d := draft("s", fmt.Sprint(i))
			if i%2 == 1 {
				d.Original = &chain.Original{Hash: hashOf("wrong"), Salt: make([]byte, 16)} // only the database sees it
			}
			_, err := store.Append(t.Context(), []chain.Draft{d})
			if wrong := i%2 == 1; wrong != (fault.CodeOf(err) == fault.BadUserInput && err != nil) {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	if n, err := store.CountMessages(t.Context(), selection.Scope{}, selection.Match{}); err != nil || n != 100 {
		t.Errorf("the log has %d messages, %v; want the 100 right ones", n, err)
	}
}

func TestAppendAfterClose(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	store.Close()
	_, err := store.Append(context.Background(), []chain.Draft{draft("s", "late")})
	if fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Append() after Close = %v, want UNAVAILABLE", err)
	}
}

func TestAppendCancelled(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Append(ctx, []chain.Draft{draft("s", "never")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append() = %v, want it to say that it was cancelled", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	store := openURL(b, dbtest.New(b))
	for _, size := range []int{1, 1000} {
		b.Run(fmt.Sprintf("%d a call", size), func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					drafts := make([]chain.Draft, size)
					for j := range drafts {
						drafts[j] = draft(fmt.Sprint(i%500), "We could meet at the station at noon and walk to the museum together.")
					}
					if _, err := store.Append(b.Context(), drafts); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// A message that a key stands for is the same wherever it is given, its id included: in one call, and in calls that are
// written together.
func TestAppendRepeatsInOneGroup(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	keyed := func(key string) chain.Draft {
		d := draft("s", "content of "+key)
		d.IdempotencyKey = &key
		return d
	}
	got := mustAppend(t, store, keyed("a"), keyed("b"), keyed("a"))
	if got[0].ID == 0 || got[2].ID != got[0].ID || got[1].ID <= got[0].ID || got[2].Hash != got[0].Hash {
		t.Errorf("ids = %d, %d, %d, want the third as the first", got[0].ID, got[1].ID, got[2].ID)
	}
	ids := make([]int64, 64)
	var wait sync.WaitGroup
	for i := range ids {
		wait.Go(func() {
			written, err := store.Append(t.Context(), []chain.Draft{keyed("c")})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = written[0].ID
		})
	}
	wait.Wait()
	if slices.Min(ids) != slices.Max(ids) || ids[0] <= got[1].ID {
		t.Errorf("ids = %v, want the same for all", ids)
	}
}

// A session that somebody else holds holds up nothing but itself.
func TestAppendBesideAHeldSession(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	holder := superuser(t, url)
	mustExec(t, holder, "BEGIN")
	mustExec(t, holder, "SELECT pg_advisory_xact_lock(log.session_lock($1))", hashOf("session:held").String())
	held := make(chan error, 1)
	go func() {
		_, err := store.Append(t.Context(), []chain.Draft{draft("held", "waits")})
		held <- err
	}()
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			if _, err := store.Append(t.Context(), []chain.Draft{draft(fmt.Sprint("free", i), "goes on")}); err != nil {
				t.Errorf("Append() beside a held session = %v", err)
			}
		})
	}
	wait.Wait()
	if err := <-held; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("Append() to the held session = %v, want UNAVAILABLE", err)
	}
	mustExec(t, holder, "COMMIT")
	mustAppend(t, store, draft("held", "goes on as well"))
	if n := len(checkChains(t, store)); n != 33 {
		t.Errorf("%d messages, want 33", n)
	}
}
