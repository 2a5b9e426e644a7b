package db_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// Whatever is asked, the verdict on everything there is agrees with what the selection holds, and what each stage lets
// through comes to the next one: in scopes that are looked at as a whole, listed, or sampled, by words and by meaning.
func TestWhyNotProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ dense, limited bool }{
		"by words": {}, "by words in large scopes": {limited: true}, "by meaning in large scopes": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, url := open(t)
			w := makeWorld(t, store)
			if c.dense {
				e := newEndpoint(t, map[string]int{"one": 64})
				store = embeds(t, url, e.config("one"))
				untilServing(t, store, "one", int64(len(w.messages)+len(w.records)))
			}
			checkWhyNot(t, w, store, c.limited)
		})
	}
}

func checkWhyNot(t *testing.T, w world, store *db.DB, limited bool) {
	kinds, all := map[chain.Hash]chain.RefType{hashOf("invented"): ""}, []chain.Hash{hashOf("invented")}
	for hash := range w.messages {
		kinds[hash], all = chain.RefContext, append(all, hash)
	}
	for hash, r := range w.records {
		kinds[hash], all = r.Kind, append(all, hash)
	}
	slices.SortFunc(all, func(a, b chain.Hash) int { return slices.Compare(a[:], b[:]) })
	before, ctx := "", t.Context()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		if limited {
			store.LimitScopes(drawLimits(t))
		}
		if before != "" && rapid.Bool().Draw(t, "continued") {
			r.PreviousID = before
		}
		made, err := store.RequestContext(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		before = made.ID
		s, err := store.Selection(ctx, made.ID)
		if err != nil || !slices.Equal(s.Stages, made.Stages) {
			t.Fatalf("the stages that were kept are %+v, %v; want %+v", s.Stages, err, made.Stages)
		}
		verdicts, err := store.WhyNotAll(ctx, s.ID, all)
		if err != nil || len(verdicts) != len(all) {
			t.Fatalf("%d verdicts, %v", len(verdicts), err)
		}
		inScope := int64(0)
		for i, hash := range all {
			holds := w.holds(r.Scope, nil, kinds[hash], hash)
			if holds {
				inScope++
			}
			if v := verdicts[i]; v.Hash != hash || v.Kind != selection.VerdictUnknown && v.Type != kinds[hash] {
				t.Fatalf("the verdict on %s %s is of %s %s", kinds[hash], hash, v.Type, v.Hash)
			} else {
				checkVerdict(t, &s, v, holds)
			}
		}
		checkStages(t, &s, int64(len(all)-1), inScope)
	})
}

// checkVerdict holds a verdict against what the selection holds.
func checkVerdict(t *rapid.T, s *selection.Selection, v selection.Verdict, holds bool) {
	item := slices.IndexFunc(s.Items, func(i selection.Item) bool { return i.Hash == v.Hash })
	dropped := slices.IndexFunc(s.Dropped, func(d selection.Dropped) bool { return d.Hash == v.Hash })
	isNear := v.Kind == selection.VerdictKind(selection.Duplicate) || v.Kind == selection.VerdictKind(selection.Superseded)
	if isNear != (v.Near != nil) || v.Message() == "" || (v.Position != nil) != (item >= 0) {
		t.Fatalf("verdict %+v", v)
	}
	if e := v.Explanation; e != nil && min(1, e.Relevance+e.Recency+e.Preference) != *v.Score {
		t.Fatalf("the parts %+v do not give the score %v", e, *v.Score)
	}
	switch {
	case item >= 0:
		if i := s.Items[item]; v.Kind != selection.VerdictSelected || *v.Position != i.Position || *v.Score != i.Score || *v.Tokens != i.Tokens || v.Stage() != nil {
			t.Fatalf("verdict %+v, and it is item %+v", v, i)
		}
	case dropped >= 0:
		d := s.Dropped[dropped]
		if v.Kind != selection.VerdictKind(d.Reason) || *v.Score != d.Score || *v.Tokens != d.Tokens || v.Stage() == nil || v.Explanation == nil || *v.Rank < 1 {
			t.Fatalf("verdict %+v, and it is dropped: %+v", v, d)
		}
		if v.Near != nil && !slices.ContainsFunc(s.Items, func(i selection.Item) bool { return i.Hash == *v.Near }) {
			t.Fatalf("verdict %+v: it gives way to what is no item", v)
		}
	case v.Type == "":
		if v.Kind != selection.VerdictUnknown || v.Stage() != nil {
			t.Fatalf("verdict %+v on what is not there", v)
		}
	case !holds:
		if v.Kind != selection.VerdictOutOfScope || *v.Stage() != selection.InScope || v.Score != nil {
			t.Fatalf("verdict %+v, and it is out of scope", v)
		}
	case v.Kind == selection.VerdictOutOfReach:
		if *v.Rank <= s.Request.Limit+selection.Reach || v.Explanation.Relevance == 0 || *v.Stage() != selection.Ranked {
			t.Fatalf("verdict %+v: that is within reach", v)
		}
	default:
		if v.Kind != selection.VerdictNotMatched || *v.Stage() != selection.Candidates || v.Explanation != nil && v.Explanation.Relevance > 0 {
			t.Fatalf("verdict %+v on what is in scope", v)
		}
	}
}

// checkStages holds the stages against one another, and against the selection and what its scope holds.
func checkStages(t *rapid.T, s *selection.Selection, all, inScope int64) {
	names := []selection.StageName{
		selection.InScope, selection.Candidates, selection.Ranked, selection.AboveThreshold, selection.NearDuplicates, selection.InBudget, selection.Selected,
	}
	away := map[selection.StageName]int64{}
	for _, d := range s.Dropped {
		away[*selection.Verdict{Kind: selection.VerdictKind(d.Reason)}.Stage()]++
	}
	if len(s.Stages) != len(names) {
		t.Fatalf("stages %+v", s.Stages)
	}
	for i, stage := range s.Stages {
		if stage.Name != names[i] || stage.In < stage.Out || stage.Out < 0 || stage.Reason() == "" || i > 0 && stage.In != s.Stages[i-1].Out {
			t.Fatalf("stages %+v: after number %d", s.Stages, i)
		}
		if i > 2 && stage.In-stage.Out != away[stage.Name] {
			t.Fatalf("stage %+v, and %d were dropped by it", stage, away[stage.Name])
		}
	}
	if last := s.Stages[len(names)-1]; last.Out != int64(len(s.Items)) {
		t.Fatalf("stage %+v, and there are %d items", last, len(s.Items))
	}
	if first := s.Stages[0]; !first.Estimated && first.Out != inScope || first.In > all {
		t.Fatalf("stage %+v, and the scope holds %d of %d", first, inScope, all)
	}
}

// What has happened to a message tells why it was not selected: it came later, was in quarantine, or is erased.
func TestWhyNotOfWhatHappened(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	log := talk(t, store)
	mustQuarantine(t, store, log["plants"].Hash)
	mustErase(t, store, log["error"].Hash)
	s := ask(t, store, "water the plants", nil)
	mustRelease(t, store, log["plants"].Hash)
	late := mustAppend(t, store, draft("home", "The plants have water now."))[0]
	record, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "b", Title: "balcony", Content: "There is soil to be bought."}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		hash chain.Hash
		want selection.VerdictKind
	}{
		"in quarantine then": {log["plants"].Hash, selection.VerdictQuarantined},
		"erased":             {log["error"].Hash, selection.VerdictErased},
		"sent later":         {late.Hash, selection.VerdictLater},
		"a record, later":    {record[0].Hash, selection.VerdictLater},
		"selected":           {log["again"].Hash, selection.VerdictSelected},
		"never there":        {hashOf("never"), selection.VerdictUnknown},
	} {
		verdicts, err := store.WhyNot(t.Context(), s.ID, c.hash)
		if err != nil || len(verdicts) != 1 || verdicts[0].Kind != c.want || verdicts[0].Hash != c.hash {
			t.Errorf("%s: %+v, %v; want %s", name, verdicts, err, c.want)
		}
	}
	by, err := store.WhyNotText(t.Context(), s.ID, "plants have water")
	if err != nil || len(by) == 0 || by[0].Hash != late.Hash || by[0].Kind != selection.VerdictLater || len(by) > db.MaxTextVerdicts {
		t.Errorf("by text: %+v, %v; want the late one first", by, err)
	}
	mustErase(t, store, log["again"].Hash)
	if after, err := store.WhyNot(t.Context(), s.ID, log["again"].Hash); err != nil || after[0].Kind != selection.VerdictSelected || len(after[0].Explanation.MatchedTerms) > 0 {
		t.Errorf("of an item that was erased since: %+v, %v; want it selected, without its words", after, err)
	}
	if _, err := store.WhyNot(t.Context(), "00000000-0000-4000-8000-000000000000", late.Hash); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("of no selection: %v", err)
	}
	conn := superuser(t, url)
	mustExec(t, conn, "UPDATE memory.selections SET stages = NULL WHERE id = CAST($1::TEXT AS UUID)", s.ID)
	if old, err := store.Selection(t.Context(), s.ID); err != nil || old.Stages != nil || !old.Holds() {
		t.Errorf("without stages: %+v, %v", old.Stages, err)
	}
}

// Of near-duplicates the verdict names the item, and no longer once that is erased.
func TestWhyNotNamesTheNearDuplicate(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	s := ask(t, store, "water the plants", nil)
	v, err := store.WhyNot(t.Context(), s.ID, log["plants"].Hash)
	if err != nil || v[0].Kind != selection.VerdictKind(selection.Duplicate) || v[0].Near == nil || *v[0].Near != log["again"].Hash || v[0].Explanation == nil {
		t.Fatalf("verdict %+v, %v; want a duplicate of %s", v, err, log["again"].Hash)
	}
	mustErase(t, store, log["again"].Hash)
	if v, err = store.WhyNot(t.Context(), s.ID, log["plants"].Hash); err != nil || v[0].Kind != selection.VerdictKind(selection.Duplicate) || v[0].Near != nil {
		t.Errorf("after the erasure: %+v, %v; want a duplicate of what is not named", v, err)
	}
}

// Other weights rank otherwise, are not kept, and leave the policy in use as it is.
func TestTryContext(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	talk(t, store)
	kept := ask(t, store, "How much is breakfast and a night?", nil)
	request := kept.Request
	tried, err := store.TryContext(t.Context(), request, ranking.Default())
	if err != nil || tried.Receipt != kept.Receipt || tried.ID != "" || !slices.Equal(tried.Stages, kept.Stages) {
		t.Errorf("tried as it is: %s %q, %v; want the receipt %s", tried.Receipt, tried.ID, err, kept.Receipt)
	}
	policy, err := ranking.With([]ranking.Set{{Name: "before_1", Value: 0}, {Name: "after_1", Value: 0}, {Name: "middle", Value: 1}}, "weights")
	if err != nil {
		t.Fatal(err)
	}
	tried, err = store.TryContext(t.Context(), request, policy)
	if err != nil || tried.Receipt == kept.Receipt || tried.Items[0].Score >= kept.Items[0].Score || string(tried.Policy) != string(policy.Canonical()) {
		t.Errorf("with other weights: %+v, %v; want lower scores", tried.Items, err)
	}
	if n := value[int](t, superuser(t, url), "SELECT count(*) FROM memory.selections"); n != 1 {
		t.Errorf("there are %d selections, want the one that was asked for", n)
	}
	if again := ask(t, store, request.Query, func(r *selection.Request) { *r = request }); again.Receipt != kept.Receipt {
		t.Errorf("asked again, the receipt is %s, want %s", again.Receipt, kept.Receipt)
	}
	request.Query = " "
	if _, err := store.TryContext(t.Context(), request, policy); fault.CodeOf(err) != fault.BadUserInput || err.Error() != "request.query: is empty" {
		t.Errorf("a blank query: %v", err)
	}
}

// A replay over the log of today finds what came since; one with other weights says how the result differs. Neither names
// other causes.
func TestReplayContextAs(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	talk(t, store)
	s := ask(t, store, "Which hotel did we book in Lisbon?", nil)
	today := db.ReplayAs{Today: true}
	r, err := store.ReplayContextAs(t.Context(), s.ID, today)
	if err != nil || !r.Identical {
		t.Errorf("over the same log: %v %+v", err, r.Differences)
	}
	late := mustAppend(t, store, draft("later", "The hotel in Lisbon that we did book is the Miramar."))[0]
	r, err = store.ReplayContextAs(t.Context(), s.ID, today)
	if err != nil || r.Identical || !names(r.Replayed, late.Hash) || len(r.Differences) == 0 || len(r.Causes) > 0 || r.Replayed.LogSize != s.LogSize+1 {
		t.Errorf("today: %v %+v, size %d; want the late one, and no causes", err, r, r.Replayed.LogSize)
	}
	if r, err = store.ReplayContext(t.Context(), s.ID); err != nil || !r.Identical {
		t.Errorf("as it stood: %v %+v", err, r.Differences)
	}
	policy, err := ranking.With([]ranking.Set{{Name: "middle", Value: 2}}, "weights")
	if err != nil {
		t.Fatal(err)
	}
	r, err = store.ReplayContextAs(t.Context(), s.ID, db.ReplayAs{Policy: &policy})
	if err != nil || r.Identical || names(r.Replayed, late.Hash) || len(r.Differences) == 0 || len(r.Causes) > 0 {
		t.Errorf("with another weight: %v %+v; want it to differ, and no causes", err, r)
	}
}

// Selections are listed to whose they are, the latest first, page by page; administrators see all.
func TestSelectionsAreListed(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, from(ana, "a", "the harbour at night", ben))
	at := longAgo
	store.Clock = func() time.Time { return at }
	var hers, all []string
	for i := range 7 {
		at = at.Add(time.Minute)
		view, player := store.As(ana), i%2 == 0
		if !player {
			view = store
		}
		s, err := view.RequestContext(t.Context(), selection.Request{Query: "harbour", Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if all = append([]string{s.ID}, all...); player {
			hers = append([]string{s.ID}, hers...)
		}
	}
	list := func(view *db.DB, f db.SelectionFilter, limit int) (ids []string) {
		p := db.Page[db.SelectionKey]{Limit: limit}
		for {
			rows, err := view.Selections(t.Context(), f, p)
			if err != nil || len(rows.Items) > limit {
				t.Fatalf("Selections() = %d, %v", len(rows.Items), err)
			}
			for _, item := range rows.Items {
				if ids = append(ids, item.Value.ID); !item.Value.Holds() || len(item.Value.Stages) == 0 {
					t.Errorf("listed: %+v", item.Value)
				}
				p.After = &item.Key
			}
			if !rows.More {
				break
			}
		}
		if n, err := view.CountSelections(t.Context(), f); err != nil || n != int64(len(ids)) {
			t.Errorf("%d are counted and %d listed, %v", n, len(ids), err)
		}
		return ids
	}
	since, until := longAgo.Add(3*time.Minute), longAgo.Add(5*time.Minute)
	for name, c := range map[string]struct {
		view *db.DB
		f    db.SelectionFilter
		want []string
	}{
		"an administrator":        {store, db.SelectionFilter{}, all},
		"an administrator, hers":  {store, db.SelectionFilter{Player: &ana}, hers},
		"an administrator, times": {store, db.SelectionFilter{Since: &since, Until: &until}, all[3:5]},
		"she":                     {store.As(ana), db.SelectionFilter{}, hers},
		"she, herself":            {store.As(ana), db.SelectionFilter{Player: &ana}, hers},
		"she, another":            {store.As(ana), db.SelectionFilter{Player: &ben}, nil},
		"another":                 {store.As(ben), db.SelectionFilter{Player: &ana}, nil},
	} {
		for _, limit := range []int{1, 3, 50} {
			if got := list(c.view, c.f, limit); !slices.Equal(got, c.want) {
				t.Errorf("%s, by %d: %v, want %v", name, limit, got, c.want)
			}
		}
	}
}
