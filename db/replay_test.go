package db_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

func mustReplay(t testing.TB, store *db.DB, id string) selection.Replay {
	t.Helper()
	r, err := store.ReplayContext(t.Context(), id)
	if err != nil {
		t.Fatalf("ReplayContext() = %v", err)
	}
	return r
}

func wantIdentical(t testing.TB, what string, r selection.Replay) {
	t.Helper()
	if !r.Identical || r.Replayed.Receipt != r.Original.Receipt || len(r.Causes)+len(r.Differences) > 0 || r.Replayed.ID != "" {
		t.Errorf("%s: identical: %t, causes %+v, differences %q", what, r.Identical, r.Causes, r.Differences)
	}
}

// wantCauses wants these kinds of causes, some difference, and gives the causes by kind.
func wantCauses(t testing.TB, what string, r selection.Replay, kinds ...selection.CauseKind) map[selection.CauseKind]selection.Cause {
	t.Helper()
	got, byKind := []selection.CauseKind{}, map[selection.CauseKind]selection.Cause{}
	for _, c := range r.Causes {
		got, byKind[c.Kind] = append(got, c.Kind), c
		if c.Message == "" {
			t.Errorf("%s: the cause %s says nothing", what, c.Kind)
		}
	}
	if r.Identical || !slices.Equal(got, kinds) {
		t.Errorf("%s: identical: %t, causes %+v, want %v; differences %q", what, r.Identical, r.Causes, kinds, r.Differences)
	}
	return byKind
}

// asKept changes a kept selection and gives it the receipt of what it is then, as if it had been made so.
func asKept(t testing.TB, store *db.DB, conn *pgx.Conn, id string, change func(*selection.Selection), set string, args ...any) {
	t.Helper()
	s, err := store.Selection(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	change(&s)
	receipt, err := s.ComputeReceipt()
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "UPDATE memory.selections SET receipt = $2, "+set+" WHERE id = CAST($1::TEXT AS UUID)", append([]any{id, receipt}, args...)...)
}

// Whatever is added, a selection is the same when it is computed again, and nothing is kept by that.
func TestReplayIsIdentical(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	log := talk(t, store)
	record := []knowledge.Draft{{Kind: chain.RefAccountant, Book: "ledger", Title: "Hotels", Content: "Hotel Miramar, 980 euros"}}
	if _, err := store.AddRecords(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	selections := []selection.Selection{
		ask(t, store, "Which hotel did we book in Lisbon?", nil),
		ask(t, store, "water the plants", func(r *selection.Request) { r.TokenBudget, r.Limit = ptr(40), 2 }),
		ask(t, store, "submarine propulsion", func(r *selection.Request) { r.Threshold = 0.7 }),
		ask(t, store, "breakfast", func(r *selection.Request) { r.Scope.Threads, r.At = []chain.Hash{hashOf("t1")}, log["price"].CreatedAt }),
		ask(t, store, "hotel", func(r *selection.Request) { r.Scope.Types = []chain.RefType{chain.RefAccountant} }),
	}
	selections = append(selections, ask(t, store, "the plants, and which hotel in Lisbon?", func(r *selection.Request) { r.PreviousID = selections[0].ID }))
	for round := range 2 {
		for _, s := range selections {
			wantIdentical(t, s.Request.Query, mustReplay(t, openURL(t, url), s.ID))
		}
		if round > 0 {
			break
		}
		for i := range 20 {
			mustAppend(t, store, draft("trip", "Which hotel in Lisbon has breakfast and water for the plants?"), draft("new", "The Hotel Miramar, "+strings.Repeat("again ", i)))
		}
		record[0].Content = "Hotel Miramar, 1,080 euros"
		if _, err := store.AddRecords(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	if n := value[int](t, superuser(t, url), "SELECT count(*) FROM memory.selections"); n != len(selections) {
		t.Errorf("there are %d selections, want %d", n, len(selections))
	}
	if _, err := store.ReplayContext(t.Context(), "00000000-0000-0000-0000-000000000000"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("ReplayContext() of an unknown id = %v, want NOT_FOUND", err)
	}
}

// A message that another transaction commits later, below the position, is no difference.
func TestReplayWithoutLateMessage(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	talk(t, store)
	tx, err := superuser(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('late'), log.sha256('o'), 'Which hotel did we book in Lisbon?')`); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, draft("after", "It rains in Lisbon."))
	s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	if len(s.Absent) == 0 || s.LogSize != 7 {
		t.Errorf("absent = %v of %d, want the late one", s.Absent, s.LogSize)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if late := ask(t, store, "Which hotel did we book in Lisbon?", nil); late.LogSize != 8 || len(late.Items) == len(s.Items) && late.Items[0].Hash == s.Items[0].Hash {
		t.Errorf("the late one is not found: %+v", late.Items)
	}
	wantIdentical(t, "with a late message", mustReplay(t, store, s.ID))
	// What absent does not cover is named.
	conn := superuser(t, url)
	asKept(t, store, conn, s.ID, func(s *selection.Selection) { s.Absent = nil }, "absent = '{}'")
	wantCauses(t, "what was absent is not", mustReplay(t, store, s.ID), selection.CauseLate)
}

func TestReplayNamesErasure(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	within := ask(t, store, "Which hotel did we book in Lisbon?", func(r *selection.Request) { r.Limit = 1 })
	mustErase(t, store, log["hotel"].Hash)
	cause := wantCauses(t, "an item", mustReplay(t, store, within.ID), selection.CauseErased)[selection.CauseErased]
	if len(cause.Messages) != 1 || cause.Messages[0] != log["hotel"].Hash {
		t.Errorf("erased: %+v, want the hotel", cause)
	}
	// What was not selected, but changed what others are worth.
	beside := ask(t, store, "breakfast and the plants", func(r *selection.Request) { r.Limit = 1 })
	mustErase(t, store, log["price"].Hash)
	if r := mustReplay(t, store, beside.ID); !r.Identical {
		cause = wantCauses(t, "a candidate", r, selection.CauseErased)[selection.CauseErased]
		if !slices.Equal(cause.Messages, []chain.Hash{log["price"].Hash}) { // not what was erased before the request
			t.Errorf("erased: %+v, want the price", cause)
		}
	} else {
		t.Error("without a candidate the replay is identical")
	}
	elsewhere := ask(t, store, "water the plants", func(r *selection.Request) { r.Scope.Sessions = []chain.Hash{hashOf("session:home")} })
	mustErase(t, store, log["spanish"].Hash)
	wantIdentical(t, "erased out of scope", mustReplay(t, store, elsewhere.ID))
}

// What words to look for in a large scope is told by a sample of the whole log: so an erasure out of the scope can be why
// another receipt comes out. In a small scope it cannot.
func TestReplayNamesErasureOutOfLargeScope(t *testing.T) {
	t.Parallel()
	for small, want := range map[int]selection.CauseKind{1: selection.CauseErased, 100: selection.CauseUnknown} {
		store, url := open(t)
		store.LimitScopes(small, 1)
		log := talk(t, store)
		s := ask(t, store, "water the plants", func(r *selection.Request) { r.Scope.Sessions = []chain.Hash{hashOf("session:home")} })
		if len(s.Items) == 0 {
			t.Fatal("nothing is found")
		}
		mustErase(t, store, log["spanish"].Hash)
		conn := superuser(t, url)
		mustExec(t, conn, "SET session_replication_role = replica")
		mustExec(t, conn, "DELETE FROM embedding.lexical l USING log.messages m WHERE m.hash = $1 AND l.source_id = m.id AND l.kind = 'context'", s.Items[0].Hash)
		cause := wantCauses(t, string(want), mustReplay(t, store, s.ID), want)[want]
		if want == selection.CauseErased && (!slices.Equal(cause.Messages, []chain.Hash{log["spanish"].Hash}) || !strings.Contains(cause.Message, "sample")) {
			t.Errorf("cause = %+v, want what was erased, and why that matters", cause)
		}
	}
}

func TestReplayNamesComponents(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustAppend(t, store, draft("s", "The hotel is booked."), draft("s", "Breakfast is included."))
	upsert := func(name string, preferences ...string) {
		t.Helper()
		if _, err := store.UpsertComponents(t.Context(), []component.Draft{
			{Namespace: "ply", Key: "owner", Name: &name, Preferences: preferences}, {Namespace: "ply", Key: "someone", Name: &name},
		}); err != nil {
			t.Fatal(err)
		}
	}
	upsert("Marta", "breakfast")
	s := ask(t, store, "hotel", func(r *selection.Request) { r.Player = ptr(hashOf("ply:owner")) })
	upsert("Marta", "breakfast")
	wantIdentical(t, "written again as it was", mustReplay(t, store, s.ID))
	mustExec(t, superuser(t, url), "UPDATE core.players SET name = 'Elena' WHERE key = 'someone'")
	wantIdentical(t, "somebody else", mustReplay(t, store, s.ID))
	mustExec(t, superuser(t, url), "UPDATE core.players SET name = 'Elena' WHERE key = 'owner'")
	r := mustReplay(t, store, s.ID)
	if cause := wantCauses(t, "renamed", r, selection.CauseComponents)[selection.CauseComponents]; !strings.Contains(cause.Message, `"Elena"`) {
		t.Errorf("cause = %+v, want the name", cause)
	}
	if !strings.Contains(r.Replayed.Rendered, "Elena") || !strings.Contains(r.Original.Rendered, "Marta") {
		t.Errorf("rendered %q and %q", r.Original.Rendered, r.Replayed.Rendered)
	}
}

// When a component was changed is the database's to say: a server's clock that is wrong makes no cause, and hides none.
func TestReplayNamesComponentsByOneClock(t *testing.T) {
	t.Parallel()
	for _, wrong := range []time.Duration{-time.Hour, time.Hour} {
		store, url := open(t)
		store.Clock = func() time.Time { return time.Now().Add(wrong) }
		log := talk(t, store)
		conn := superuser(t, url)
		mustExec(t, conn, "INSERT INTO core.players (hash, namespace, key, name) SELECT DISTINCT owner_id, 'ply', owner_id::TEXT, 'Marta' FROM log.messages")
		s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
		mustErase(t, store, log["hotel"].Hash)
		wantCauses(t, "changed before", mustReplay(t, store, s.ID), selection.CauseErased)
		mustExec(t, conn, "UPDATE core.players SET name = 'Elena'")
		wantCauses(t, "changed since", mustReplay(t, store, s.ID), selection.CauseErased, selection.CauseComponents)
	}
}

func TestReplayNamesPolicyAndModel(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	talk(t, store)
	with := func(s *selection.Selection, key string, value any) []byte {
		policy := map[string]any{}
		if err := json.Unmarshal(s.Policy, &policy); err != nil {
			t.Fatal(err)
		}
		policy[key] = value
		text, err := json.Marshal(policy)
		if err != nil {
			t.Fatal(err)
		}
		s.Policy = text
		return text
	}
	for _, c := range []struct {
		key   string
		value any
		alone bool
	}{{"recency", 0.2, true}, {"session", 0.9, false}} { // nothing is recent; the session is not what gave these scores
		s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
		changed := s
		text := with(&changed, c.key, c.value)
		asKept(t, store, conn, s.ID, func(k *selection.Selection) { k.Policy = text }, "policy_text = $3", string(text))
		cause := wantCauses(t, c.key, mustReplay(t, store, s.ID), selection.CausePolicy)[selection.CausePolicy]
		if cause.Alone == nil || *cause.Alone != c.alone {
			t.Errorf("%s: alone = %v, want %t", c.key, cause.Alone, c.alone)
		}
	}
	s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	asKept(t, store, conn, s.ID, func(s *selection.Selection) { s.Model = "lexical-v0" }, "embedding_model = 'lexical-v0'")
	if cause := wantCauses(t, "words", mustReplay(t, store, s.ID), selection.CauseModel)[selection.CauseModel]; !strings.Contains(cause.Message, "lexical-v0") {
		t.Errorf("cause = %+v", cause)
	}
	s = ask(t, store, "Which hotel did we book in Lisbon?", nil)
	asKept(t, store, conn, s.ID, func(s *selection.Selection) { s.DenseModel = "gone" }, "dense_model = 'gone', dense_vector = '{1}'")
	if cause := wantCauses(t, "dense", mustReplay(t, store, s.ID), selection.CauseModel)[selection.CauseModel]; !strings.Contains(cause.Message, "gone") {
		t.Errorf("cause = %+v", cause)
	}
}

// What was changed by other means is no other cause.
func TestReplayNamesTampering(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	talk(t, store)
	s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	mustExec(t, conn, "UPDATE memory.selections SET tokens = tokens + 1 WHERE id = CAST($1::TEXT AS UUID)", s.ID)
	cause := wantCauses(t, "the selection", mustReplay(t, store, s.ID), selection.CauseUnknown)[selection.CauseUnknown]
	if !strings.Contains(cause.Message, "not what its receipt covers") {
		t.Errorf("cause = %+v", cause)
	}
	s = ask(t, store, "Which hotel did we book in Lisbon?", nil)
	mustExec(t, conn, "SET session_replication_role = replica; DELETE FROM embedding.lexical WHERE source_id = 1 AND kind = 'context'")
	wantCauses(t, "search vectors", mustReplay(t, store, s.ID), selection.CauseUnknown)
}

// Selections of the earlier versions are computed again as well as can be.
func TestReplayOfEarlierVersions(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	talk(t, store)
	two := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	salt := []byte("0123456789abcdef")
	digest := selection.RenderedDigest(salt, two.Rendered)
	asKept(t, store, conn, two.ID, func(s *selection.Selection) { s.RecordPosition, s.RenderedDigest, s.RenderedSalt = nil, &digest, salt },
		"record_position = NULL, rendered_digest = $3, rendered_salt = $4", digest, salt)
	one := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	asKept(t, store, conn, one.ID, func(s *selection.Selection) { s.RecordPosition, s.RenderedDigest, s.RenderedSalt = nil, nil, nil },
		"record_position = NULL, rendered_digest = NULL, rendered_salt = NULL")
	mustAppend(t, store, draft("trip", "Which hotel did we book in Lisbon?"))
	if _, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "b", Title: "Hotel", Content: "in Lisbon", CreatedAt: ptr(time.Now().Add(time.Minute))}}); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"version 1": one.ID, "version 2": two.ID} {
		r := mustReplay(t, store, id)
		wantIdentical(t, name, r)
		if len(r.Untold) != 1 {
			t.Errorf("%s: untold = %q, want what was not kept", name, r.Untold)
		}
	}
}

// A policy that was kept as jsonb has lost the order of its fields; the receipt is over the first one's.
func TestSelectionOfFirstPolicyHolds(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	talk(t, store)
	s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	const policy = `{"version":"lexical-v1","before":[0.5,0.2,0.1,0.1],"after":[0.4,0.2,0.1,0.1],"answer":0.4,"session":0.2,"owner":0.2,"time":0.2,"question":0.1,` +
		`"record":1.6,"middle":0.24,"semantic":0.5,"semanticFloor":0.2,"recency":0.1,"recencyWindow":3600,"preference":0.15}`
	asKept(t, store, superuser(t, url), s.ID, func(s *selection.Selection) { s.RecordPosition, s.Policy = nil, []byte(policy) },
		"record_position = NULL, policy_text = NULL, policy = CAST($3::TEXT AS JSONB)", policy)
	kept, err := store.Selection(t.Context(), s.ID)
	if err != nil || !kept.Holds() || string(kept.Policy) != policy {
		t.Errorf("holds: %t, %v, policy %s", kept.Holds(), err, kept.Policy)
	}
	cause := wantCauses(t, "the first policy", mustReplay(t, store, s.ID), selection.CausePolicy)[selection.CausePolicy]
	if !strings.Contains(cause.Message, "lexical-v1") || cause.Alone == nil {
		t.Errorf("cause = %+v", cause)
	}
}
