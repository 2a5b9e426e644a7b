package db_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

var eraser = hashOf("ply:admin")

func mustErase(t testing.TB, store *db.DB, message chain.Hash) chain.Message {
	t.Helper()
	erasure, err := store.Erase(t.Context(), message, eraser, "asked for")
	if err != nil {
		t.Fatalf("Erase() = %v", err)
	}
	return erasure
}

// wantLog wants a log without breaks, with so many erased messages.
func wantLog(t testing.TB, store *db.DB, erased int64) {
	t.Helper()
	log, err := store.VerifyLog(t.Context(), nil)
	if err != nil || !log.Valid || log.Erased != erased {
		t.Errorf("VerifyLog() = %d erased, breaks %s, %v; want %d and none", log.Erased, words(log.Breaks), err, erased)
	}
}

func read(t testing.TB, store *db.DB, hash chain.Hash) chain.Message {
	t.Helper()
	found, err := store.MessagesByHash(t.Context(), []chain.Hash{hash})
	if err != nil || len(found) != 1 {
		t.Fatalf("MessagesByHash() = %+v, %v", found, err)
	}
	return found[0]
}

// secret is a message with a word that nothing else holds, in every field that an erasure removes, and beside other
// things that many messages hold.
func secret(session string) chain.Draft {
	d := draft(session, "The code of the safe is xylographer.\n- not an item, xylographer\r\nand the hotel is booked.")
	d.ThreadHash, d.IdempotencyKey = ptr(hashOf("t")), ptr("key")
	d.Attachments, d.Ambient = ptr(chain.JSON(`{"file": "xylographer.pdf"}`)), ptr(chain.JSON(`{"place": "xylographer"}`))
	d.PlayerIDs, d.Role = []chain.Hash{hashOf("p")}, ptr("user")
	return d
}

func TestErase(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	feed := mustSubscribe(t, store)
	before := mustAppend(t, store, draft("s", "first"), secret("s"), draft("s", "third"), draft("other", "elsewhere"))
	target := before[1]
	erasure := mustErase(t, store, target.Hash)

	want := target
	want.Content, want.Attachments, want.Ambient, want.Salt = nil, nil, nil, nil
	if diff := cmp.Diff(want, read(t, store, target.Hash), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what is left of the message differs: %s", diff)
	}
	if got := erasure.ComputeHash(); got != erasure.Hash {
		t.Errorf("the erasure's fields give %s, want %s", got, erasure.Hash)
	}
	if *erasure.Content != "asked for" || erasure.EventType != chain.EventErasure || erasure.OwnerID != eraser || erasure.Sequence != 4 ||
		erasure.SessionHash != target.SessionHash || *erasure.ThreadHash != *target.ThreadHash || *erasure.PrevHash != before[2].Hash {
		t.Errorf("erasure = %+v", erasure)
	}
	if want := fmt.Sprintf(`{"erased": "%s", "sequence": 2}`, target.Hash); string(*erasure.Attachments) != want {
		t.Errorf("attachments = %s, want %s", *erasure.Attachments, want)
	}
	refs, err := store.RefsOf(t.Context(), []chain.Hash{erasure.Hash})
	if diff := cmp.Diff(map[chain.Hash][]chain.Ref{erasure.Hash: {{Type: chain.RefContext, Hash: target.Hash}}}, refs); err != nil || diff != "" {
		t.Errorf("refs: %v %s", err, diff)
	}
	records, err := store.ErasuresOf(t.Context(), []chain.Hash{before[0].Hash, target.Hash, erasure.Hash, hashOf("nothing")})
	if diff := cmp.Diff(map[chain.Hash]chain.Message{target.Hash: erasure}, records); err != nil || diff != "" {
		t.Errorf("ErasuresOf: %v %s", err, diff)
	}
	for i := range before {
		if m := next(t, feed); m.Hash != before[i].Hash {
			t.Fatalf("message %d of the feed is %s, want %s", i, m.Hash, before[i].Hash)
		}
	}
	if m := next(t, feed); m.Hash != erasure.Hash {
		t.Errorf("the feed gives %s after the erasure, want %s", m.Hash, erasure.Hash)
	}
	wantLog(t, store, 1)
	after := mustAppend(t, store, draft("s", "after it"))
	if *after[0].PrevHash != erasure.Hash {
		t.Errorf("prev_hash of the next message = %s, want %s", after[0].PrevHash, erasure.Hash)
	}
	wantLog(t, store, 1)
}

func TestEraseRefuses(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	target := mustAppend(t, store, draft("s", "first"), draft("s", "second"))
	erasure := mustErase(t, store, target[0].Hash)
	state := logState(t, conn)
	tests := []struct {
		name    string
		message chain.Hash
		reason  string
		want    fault.Code
		part    string
	}{
		{"no reason", target[1].Hash, "", fault.BadUserInput, "reason: is empty"},
		{"long reason", target[1].Hash, strings.Repeat("x", 1025), fault.BadUserInput, "reason: has 1025 bytes; at most 1024"},
		{"reason that is no text", target[1].Hash, "a\x00b", fault.BadUserInput, "reason: holds"},
		{"no such message", hashOf("nothing"), "why", fault.NotFound, "no such message"},
		{"erased before", target[0].Hash, "why", fault.Conflict, "was erased before"},
		{"an erasure", erasure.Hash, "why", fault.Conflict, "an ERASURE message cannot be erased"},
	}
	for _, c := range tests {
		if _, err := store.Erase(t.Context(), c.message, eraser, c.reason); fault.CodeOf(err) != c.want || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: Erase() = %v, want %s with %q", c.name, err, c.want, c.part)
		}
	}
	for _, c := range []struct{ reason, code string }{{"NULL", "CM002"}, {"''", "CM002"}, {"repeat('ä', 513)", "CM002"}} {
		if _, err := conn.Exec(t.Context(), "SELECT log.erase($1, $2, "+c.reason+")", target[1].Hash, eraser); sqlState(err) != c.code {
			t.Errorf("log.erase with reason %s = %v, want %s", c.reason, err, c.code)
		}
	}
	if got := logState(t, conn); got != state {
		t.Errorf("the log was %s and is %s", state, got)
	}
	if _, err := store.Erase(t.Context(), target[1].Hash, eraser, strings.Repeat("x", 1024)); err != nil {
		t.Errorf("Erase() with a reason of 1024 bytes = %v", err)
	}
	wantLog(t, store, 2)
}

// logState tells whether anything in the log changed.
func logState(t testing.TB, conn *pgx.Conn) string {
	t.Helper()
	return value[string](t, conn, `SELECT concat_ws(' ', (SELECT count(*) || ':' || md5(string_agg(m::TEXT, ',' ORDER BY id)) FROM log.messages m),
		(SELECT count(*) || ':' || md5(string_agg(r::TEXT, ',' ORDER BY message_hash, position)) FROM log.message_refs r),
		(SELECT count(*) || ':' || md5(string_agg(k::TEXT, ',' ORDER BY owner_id, key)) FROM log.append_keys k),
		(SELECT count(*) || ':' || md5(string_agg(s::TEXT, ',' ORDER BY id)) FROM memory.selections s))`)
}

// A key stands for its erased message whatever is sent with it, the same content or another.
func TestEraseKeepsIdempotency(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	again := secret("s")
	target := mustAppend(t, store, again)[0]
	other := secret("s")
	other.Content = "something else"
	if _, err := store.Append(t.Context(), []chain.Draft{other}); fault.CodeOf(err) != fault.Conflict {
		t.Fatalf("Append() with the key of another = %v, want %s", err, fault.Conflict)
	}
	mustErase(t, store, target.Hash)
	for _, d := range []chain.Draft{again, other} {
		got := mustAppend(t, store, d)
		if len(got) != 1 || got[0].Hash != target.Hash || got[0].Content != nil || got[0].Salt != nil {
			t.Errorf("Append() with the key of an erased message = %+v, want what is left of it", got)
		}
	}
	if n := value[int](t, superuser(t, url), "SELECT count(*) FROM log.messages"); n != 2 {
		t.Errorf("there are %d messages, want the erased one and its erasure", n)
	}
}

// No search finds an erased message, nor does anything bring its vectors back.
func TestEraseIsNotFound(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	target := mustAppend(t, store, draft("s", "The hotel is by the sea."), secret("s"), draft("s", "It rains."))[1]
	if found := ask(t, store, "xylographer", nil); len(found.Items) == 0 || found.Items[0].Hash != target.Hash {
		t.Fatalf("before: %+v", found.Items)
	}
	mustErase(t, store, target.Hash)
	never := func(query string) {
		t.Helper()
		s := ask(t, store, query, func(r *selection.Request) { r.Limit, r.Threshold = 200, 0 })
		for _, item := range s.Items {
			if item.Hash == target.Hash {
				t.Errorf("%q: the erased message is item %d", query, item.Position)
			}
		}
		for _, d := range s.Dropped {
			if d.Hash == target.Hash {
				t.Errorf("%q: the erased message was dropped as %s", query, d.Reason)
			}
		}
	}
	never("xylographer")
	never("Is the hotel booked?")
	// As if it had no vectors yet.
	mustExec(t, conn, "INSERT INTO embedding.backlog VALUES ($1, $1)", target.ID)
	never("the code of the safe")
	_, err := conn.Exec(t.Context(), `INSERT INTO embedding.lexical (kind, source_id, passage, vector, terms, keys, draw) VALUES ('context', $1, 0, '{1:1}/536870912', '{1}', '{1}', 0)`, target.ID)
	if sqlState(err) != "CM008" {
		t.Errorf("vectors of an erased message are answered by %v, want CM008", err)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.lexical WHERE kind = 'context' AND source_id = $1", target.ID); n != 0 {
		t.Errorf("the erased message has %d vectors", n)
	}
}

// Receipts hold before and after; of a block, the text of the erased message goes and the others stay.
func TestEraseKeepsReceipts(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	target := mustAppend(t, store, draft("s", "The hotel in Lisbon is by the sea.\n- a list\n- of things"), secret("s"), draft("t", "Another hotel is booked."))[1]
	both := ask(t, store, "Which hotel is booked?", nil)
	without := ask(t, store, "Lisbon", func(r *selection.Request) { r.Limit = 1 })
	old := ask(t, store, "booked hotel", nil)
	place := slices.IndexFunc(both.Items, func(i selection.Item) bool { return i.Hash == target.Hash })
	if place < 0 || len(both.Items) < 3 || len(without.Items) != 1 || without.Items[0].Hash == target.Hash {
		t.Fatalf("selected %+v and %+v", both.Items, without.Items)
	}
	// The last as it was kept before there was version 2.
	old.RenderedDigest, old.RenderedSalt = nil, nil
	var err error
	if old.Receipt, err = old.ComputeReceipt(); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "UPDATE memory.selections SET rendered_digest = NULL, rendered_salt = NULL, receipt = $2 WHERE id = CAST($1::TEXT AS UUID)", old.ID, old.Receipt)
	kept := func(s selection.Selection) selection.Selection {
		t.Helper()
		k, err := store.Selection(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if k := kept(old); !k.Holds() || !k.HasPreimage() {
		t.Errorf("before the erasure the receipt of version 1 does not hold")
	}
	mustErase(t, store, target.Hash)

	if diff := cmp.Diff(without, kept(without)); diff != "" {
		t.Errorf("a selection without the erased message changed: %s", diff)
	}
	want := both
	want.Items = slices.Clone(both.Items)
	want.Items[place].Explanation.MatchedTerms = []string{}
	want.Erased, want.RenderedSalt = true, nil
	lines := strings.Split(both.Rendered, "\n- ")
	lines[place+1] = "[erased]"
	want.Rendered = strings.Join(lines, "\n- ")
	got := kept(both)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the selection differs: %s", diff)
	}
	if preimage, err := got.Preimage(); !got.Holds() || err != nil || chain.Sum(preimage) != both.Receipt {
		t.Errorf("after the erasure the receipt does not hold: %s, %v", preimage, err)
	}
	if k := kept(old); k.Holds() || k.HasPreimage() || k.Receipt != old.Receipt || strings.Contains(k.Rendered, "xylographer") {
		t.Errorf("after the erasure the one of version 1 is %+v", k)
	}
	// The other items go one after the other, and the places still fit.
	for i, item := range both.Items {
		if i != place {
			mustErase(t, store, item.Hash)
		}
	}
	if k, want := kept(both), selection.Heading+strings.Repeat("\n- [erased]", len(both.Items)); k.Rendered != want || !k.Holds() {
		t.Errorf("with everything erased rendered = %q, want %q", k.Rendered, want)
	}
}

// Nothing of the text is left in any table of any schema, the samples that ANALYZE keeps included.
func TestEraseLeavesNothing(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	hidden := secret("s")
	drafts := []chain.Draft{hidden}
	for i := range 50 {
		drafts = append(drafts, draft("s", fmt.Sprintf("Message %d is about the hotel in Lisbon.", i)))
	}
	target := mustAppend(t, store, drafts...)[0]
	ask(t, store, "Which code has the safe?", nil)
	old := ask(t, store, "booked hotel", nil)
	mustExec(t, conn, "UPDATE memory.selections SET rendered_digest = NULL, rendered_salt = NULL WHERE id = CAST($1::TEXT AS UUID)", old.ID)
	mustExec(t, conn, "ANALYZE")
	traces := map[string]string{
		"the word": "xylographer", "its bytes": fmt.Sprintf("%x", "xylographer"), "the salt": fmt.Sprintf("%x", target.Salt), "the fingerprint": hidden.Fingerprint().String(),
	}
	for _, term := range distinctive(*target.Content, *mustAppend(t, store, draft("s", "The hotel is booked, and the safe is of the code."))[0].Content) {
		traces[fmt.Sprintf("the term %d", term)] = fmt.Sprintf(`\m%d\M`, term)
	}
	if len(traces) < 8 {
		t.Fatalf("%d traces, want more terms", len(traces))
	}
	found := tablesWith(t, conn, traces)
	for what := range traces {
		if len(found[what]) == 0 && what != "its bytes" {
			t.Errorf("%s is nowhere before the erasure: the test looks for the wrong thing", what)
		}
	}
	mustErase(t, store, target.Hash)
	for what, tables := range tablesWith(t, conn, traces) {
		t.Errorf("%s is left in %s", what, strings.Join(tables, ", "))
	}
}

// distinctive gives terms that the index has for one text and not for another.
func distinctive(text, other string) []int32 {
	terms := map[int32]bool{}
	for _, p := range (embeddings.Lexical{}).Document(text) {
		for _, term := range p.Terms {
			terms[term] = true
		}
	}
	for _, p := range (embeddings.Lexical{}).Document(other) {
		for _, term := range p.Terms {
			delete(terms, term)
		}
	}
	list := make([]int32, 0, len(terms))
	for term := range terms {
		list = append(list, term)
	}
	return list
}

// tablesWith names, for each of the patterns, the tables that have a row whose text matches, those of the system
// included.
func tablesWith(t testing.TB, conn *pgx.Conn, patterns map[string]string) map[string][]string {
	t.Helper()
	rows, _ := conn.Query(t.Context(), "SELECT oid::REGCLASS::TEXT FROM pg_class WHERE relkind IN ('r', 'm', 'p') ORDER BY 1")
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 20 {
		t.Fatalf("tables: %v, %v", tables, err)
	}
	found := map[string][]string{}
	any := strings.Join(slices.Collect(maps.Values(patterns)), "|")
	for _, table := range tables {
		rows, _ := conn.Query(t.Context(), fmt.Sprintf("SELECT t::TEXT FROM %s t WHERE t::TEXT ~ $1", table), any)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		for what, pattern := range patterns {
			if matches := regexp.MustCompile(strings.NewReplacer(`\m`, `\b`, `\M`, `\b`).Replace(pattern)).MatchString; slices.ContainsFunc(texts, matches) {
				found[what] = append(found[what], table)
			}
		}
	}
	return found
}
