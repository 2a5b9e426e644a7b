package db_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

var scopeOfAll = selection.Scope{}

// From appending to being found by other words, for messages and records, of before and after the provider was set.
func TestDense(t *testing.T) {
	t.Parallel()
	before, url := open(t)
	early := mustAppend(t, before, append(many(150, "old"), draft("s", "Hotel by the sea: booked."))...)
	if _, err := before.AddRecords(t.Context(), []knowledge.Draft{record("ferry timetable")}); err != nil {
		t.Fatal(err)
	}
	hotel := early[len(early)-1]
	if id, _, notice := nearest(t, before, "zorble"); id != 0 || notice != "" {
		t.Errorf("without a provider: %d, %q; want nothing", id, notice)
	}
	e := newEndpoint(t, map[string]int{"small": 384})
	store := embeds(t, url, e.config("small"))
	untilServing(t, store, "small", 152)
	if id, by, notice := nearest(t, store, "zorble mimsy tove"); id != hotel.ID || by != "small" || notice != "" {
		t.Errorf("the paraphrase finds %d by %q, %q; want %d", id, by, notice, hotel.ID)
	}
	const paraphrase = "zorble mimsy tove"
	if found := ask(t, before, paraphrase, nil); slices.ContainsFunc(found.Items, func(i selection.Item) bool { return i.Hash == hotel.Hash && i.Score > 0 }) || len(found.Notices) > 0 && contains(found.Notices[0], "words alone") {
		t.Errorf("by words alone: %+v, %q", found.Items, found.Notices)
	}
	if found := ask(t, store, paraphrase, func(r *selection.Request) { r.Threshold = 0.1 }); len(found.Items) == 0 || found.Items[0].Hash != hotel.Hash ||
		found.Items[0].Explanation.Semantic == nil || found.DenseModel != "small" || len(found.Notices) != 0 {
		t.Errorf("RequestContext() = %+v under %q, %q; want the hotel first", found.Items, found.DenseModel, found.Notices)
	}
	late := mustAppend(t, store, append(many(100, "new"), draft("s", "mimsy zorble"))...)
	added, err := store.AddRecords(t.Context(), []knowledge.Draft{record("umbrella stand"), record("parasol")})
	if err != nil {
		t.Fatal(err)
	}
	conn := superuser(t, url)
	mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('b'), log.sha256('o'), 'by another program')")
	untilServing(t, store, "small", 256)
	if id, _, _ := nearest(t, store, "sea hotel"); id != late[100].ID {
		t.Errorf("the newest is not found, but %d", id)
	}
	if id, _, _ := nearest(t, store, "umbrella stand"); id != added[0].ID {
		t.Errorf("the record is not found, but %d", id)
	}
	m := model(t, store, "small")
	if *m.Dimensions != 384 || m.Kind != db.DenseModel || m.CreatedAt == nil || m.Refused != 0 {
		t.Errorf("model = %+v", m)
	}
	counts, err := store.EmbeddingCounts(t.Context())
	if want := []db.EmbeddingCount{{Model: "small", Embedded: 256}}; err != nil || !cmp.Equal(counts, want) {
		t.Errorf("EmbeddingCounts() = %+v, %v; want %+v", counts, err, want)
	}
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.dense d JOIN log.messages m ON m.id = d.source_id AND d.kind = 'context' AND m.session_hash = d.session_hash"); n != 253 {
		t.Errorf("%d vectors have their message's session, want 253", n)
	}
	if got := value[string](t, conn, "SELECT indexdef FROM pg_indexes WHERE indexname = 'dense_' || (SELECT id FROM embedding.models WHERE name = 'small') || '_hnsw'"); !contains(got, "USING hnsw", "halfvec(384)", "halfvec_cosine_ops") {
		t.Errorf("the index is %q", got)
	}
}

// The nearest of any scope are those that a look at every vector gives.
func TestDenseNearest(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	messages := mustAppend(t, first, many(400, "word")...)
	var titles []knowledge.Draft
	for _, title := range []string{"alpha", "beta", "gamma"} {
		titles = append(titles, record(title))
	}
	records, err := first.AddRecords(t.Context(), titles)
	if err != nil {
		t.Fatal(err)
	}
	store := embeds(t, url, e.config("small"))
	untilServing(t, store, "small", 403)
	conn := superuser(t, url)
	mustExec(t, conn, "ANALYZE")

	const query = "word7 said unique9 of gamma"
	vector := providertest.Vector(query, 32)
	// exact goes through all of them.
	exact := func(holds func(kind chain.RefType, id int64) bool) []db.Hit {
		var all []db.Hit
		add := func(kind chain.RefType, id int64, text string) {
			if !holds(kind, id) {
				return
			}
			sum := 0.0
			for i, x := range providertest.Vector(text, 32) {
				sum += float64(x) * float64(vector[i])
			}
			all = append(all, db.Hit{Kind: kind, ID: id, Cosine: sum})
		}
		for _, m := range messages {
			add(chain.RefContext, m.ID, *m.Content)
		}
		for _, r := range records {
			add(r.Kind, r.ID, r.SearchText())
		}
		slices.SortFunc(all, func(a, b db.Hit) int {
			if a.Cosine > b.Cosine {
				return -1
			}
			return 1
		})
		return all
	}
	some := []int64{messages[3].ID, messages[7].ID, messages[200].ID}
	session := messages[0].SessionHash
	soon := messages[0].CreatedAt
	isMessage := func(kind chain.RefType, _ int64) bool { return kind == chain.RefContext }
	position := messages[120].ID
	tests := []struct {
		name  string
		scope selection.Scope
		ids   []int64
		at    *db.State
		holds func(chain.RefType, int64) bool
	}{
		{"everything", selection.Scope{}, nil, nil, func(chain.RefType, int64) bool { return true }},
		{"messages", selection.Scope{Types: []chain.RefType{chain.RefContext}}, nil, nil, isMessage},
		{"records", selection.Scope{Types: []chain.RefType{chain.RefSecretary, chain.RefAccountant}}, nil, nil, func(k chain.RefType, id int64) bool { return !isMessage(k, id) }},
		{"no types", selection.Scope{Types: []chain.RefType{}}, nil, nil, func(chain.RefType, int64) bool { return false }},
		{"a session", selection.Scope{Sessions: []chain.Hash{session}}, nil, nil, func(k chain.RefType, id int64) bool {
			return isMessage(k, id) && slices.ContainsFunc(messages, func(m chain.Message) bool { return m.ID == id && m.SessionHash == session })
		}},
		{"known messages", selection.Scope{Sessions: []chain.Hash{session}}, some, nil, func(k chain.RefType, id int64) bool { return isMessage(k, id) && slices.Contains(some, id) }},
		{"no messages", selection.Scope{Sessions: []chain.Hash{}}, []int64{}, nil, func(chain.RefType, int64) bool { return false }},
		{"a time", selection.Scope{Since: &soon}, nil, nil, func(chain.RefType, int64) bool { return true }},
		{"a time before", selection.Scope{Until: &soon}, nil, nil, func(chain.RefType, int64) bool { return false }},
		{"an earlier state", selection.Scope{}, nil, &db.State{Position: position, Records: records[1].ID, Absent: []int64{messages[7].ID}}, func(k chain.RefType, id int64) bool {
			return isMessage(k, id) && id <= position && id != messages[7].ID || !isMessage(k, id) && id <= records[1].ID
		}},
		{"an earlier state of a session", selection.Scope{Sessions: []chain.Hash{session}}, nil, &db.State{Position: position}, func(k chain.RefType, id int64) bool {
			return isMessage(k, id) && id <= position && slices.ContainsFunc(messages, func(m chain.Message) bool { return m.ID == id && m.SessionHash == session })
		}},
		{"an earlier state of known ones", selection.Scope{Sessions: []chain.Hash{session}}, some, &db.State{Position: position}, func(k chain.RefType, id int64) bool {
			return isMessage(k, id) && slices.Contains(some, id) && id <= position
		}},
	}
	for _, c := range tests {
		for _, limit := range []int{1, 10, 150} {
			hits, _, notice, err := store.Nearest(t.Context(), query, c.scope, c.ids, c.at, limit)
			want := exact(c.holds)
			want = want[:min(len(want), limit)]
			if err != nil || notice != "" || len(hits) != len(want) {
				t.Fatalf("%s: Nearest(%d) = %d hits, %q, %v; want %d", c.name, limit, len(hits), notice, err, len(want))
			}
			for i := range hits {
				if !c.holds(hits[i].Kind, hits[i].ID) {
					t.Errorf("%s: %+v is outside", c.name, hits[i])
				}
				if math.Abs(hits[i].Cosine-want[i].Cosine) > 2e-3 { // of half the digits
					t.Errorf("%s: hit %d of %d is %+v, want %+v", c.name, i, limit, hits[i], want[i])
				}
			}
		}
	}
	hits, err := store.Cosines(t.Context(), query, append(some, math.MaxInt64), []int64{records[2].ID})
	if err != nil || len(hits) != 4 {
		t.Errorf("Cosines() = %+v, %v; want 4", hits, err)
	}
	for _, h := range hits {
		want := exact(func(k chain.RefType, id int64) bool { return k == h.Kind && id == h.ID })
		if len(want) != 1 || math.Abs(want[0].Cosine-h.Cosine) > 2e-3 {
			t.Errorf("the cosine of %+v is %+v", h, want)
		}
	}
}

// Dropping a model takes its vectors; the one that serves and the lexical one stay.
func TestDenseDrop(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32, "large": 48})
	first, url := open(t)
	mustAppend(t, first, many(10, "word")...)
	small := embeds(t, url, e.config("small"))
	untilServing(t, small, "small", 10)
	small.Close()
	store := embeds(t, url, e.config("large"))
	untilServing(t, store, "large", 10)
	models, err := store.EmbeddingModels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lexical := models[slices.IndexFunc(models, func(m db.EmbeddingModel) bool { return m.Kind == db.LexicalModel })].Name
	for name, want := range map[string]fault.Code{"large": fault.Conflict, lexical: fault.Conflict, "nothing": fault.NotFound} {
		if err := store.DropEmbeddingModel(t.Context(), name); fault.CodeOf(err) != want || err == nil {
			t.Errorf("DropEmbeddingModel(%q) = %v, want %s", name, err, want)
		}
	}
	if m := model(t, store, "small"); m.State != db.ModelKept || m.Embedded != 10 {
		t.Errorf("the old model is %+v, want it kept", m)
	}
	if err := store.DropEmbeddingModel(t.Context(), "small"); err != nil {
		t.Errorf("DropEmbeddingModel() = %v", err)
	}
	if m := model(t, store, "small"); m.Name != "" {
		t.Errorf("the old model is still there: %+v", m)
	}
	if n := value[int](t, superuser(t, url), "SELECT count(*) FROM embedding.dense"); n != 10 {
		t.Errorf("there are %d vectors, want the 10 of the other model", n)
	}
	if id, by, _ := nearest(t, store, "word3"); id == 0 || by != "large" {
		t.Errorf("after it: %d by %q", id, by)
	}
}
