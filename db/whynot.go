package db

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// MaxTextVerdicts is how many messages and records that hold a text get a verdict.
const MaxTextVerdicts = 10

// WhyNot says what became of a message or record in a selection: by what was kept of items and of what was dropped, else by
// what the log says of it, and by ranking once more as the log stood, under the kept policy. What whoever asked for the
// selection does not see is unknown, whoever asks for the verdict.
//
// Faults: NOT_FOUND if there is no such selection.
func (d *DB) WhyNot(ctx context.Context, id string, hash chain.Hash) ([]selection.Verdict, error) {
	return d.whyNot(ctx, id, func() ([]chain.Hash, error) { return []chain.Hash{hash}, nil })
}

// WhyNotText is WhyNot of each of what the viewer sees today that holds a text best, the best first.
func (d *DB) WhyNotText(ctx context.Context, id, text string) ([]selection.Verdict, error) {
	return d.whyNot(ctx, id, func() ([]chain.Hash, error) {
		found, err := d.search(ctx, searchInput{
			request: selection.Request{Query: text, Limit: MaxTextVerdicts, At: d.Now()}, policy: byWordsAlone(), most: d.most, viewer: d.viewer,
		})
		var hashes []chain.Hash
		for _, c := range found.best {
			if c.Explanation.Lexical > 0 && len(hashes) < MaxTextVerdicts {
				hashes = append(hashes, c.Hash)
			}
		}
		return hashes, err
	})
}

// byWordsAlone ranks by nothing but what a text itself holds.
func byWordsAlone() ranking.Policy { return ranking.Policy{Version: "words", Record: 1, Middle: 1} }

func (d *DB) whyNot(ctx context.Context, id string, which func() ([]chain.Hash, error)) ([]selection.Verdict, error) {
	s, err := d.selection(ctx, id)
	if err != nil {
		return nil, err
	}
	hashes, err := which()
	if err != nil {
		return nil, err
	}
	w := whyNot{DB: &DB{shared: d.shared}, of: s, verdicts: make([]selection.Verdict, len(hashes))}
	if s.Viewer != nil {
		w.DB = d.As(*s.Viewer)
	}
	if err := w.run(ctx, hashes); err != nil {
		return nil, mapError(err)
	}
	d.noteVerdicts(w.verdicts)
	return w.verdicts, nil
}

func (d *DB) noteVerdicts(verdicts []selection.Verdict) {
	var known []selection.Item
	for _, v := range verdicts {
		if v.Kind != selection.VerdictUnknown {
			known = append(known, selection.Item{Type: v.Type, Hash: v.Hash})
		}
	}
	d.NoteItems(known)
}

// whyNot is one on its way, as seen by whose selection it is.
type whyNot struct {
	*DB
	of       selection.Selection
	verdicts []selection.Verdict
}

func (w *whyNot) run(ctx context.Context, hashes []chain.Hash) error {
	var others []chain.Hash
	for i, hash := range hashes {
		held, ok := w.of.Held(hash)
		if w.verdicts[i] = held; !ok {
			w.verdicts[i] = selection.Verdict{Hash: hash, Kind: selection.VerdictUnknown}
			others = append(others, hash)
		}
	}
	if err := w.judgeMessages(ctx, others); err != nil {
		return err
	}
	if err := w.judgeRecords(ctx, others); err != nil {
		return err
	}
	return w.rankAgain(ctx)
}

// unranked is the kind, for the time being, of what the ranking alone can tell.
const unranked = selection.VerdictNotMatched

func (w *whyNot) judge(hash chain.Hash, kind chain.RefType, verdict selection.VerdictKind) {
	for i := range w.verdicts {
		if w.verdicts[i].Hash == hash {
			w.verdicts[i].Type, w.verdicts[i].Kind = kind, verdict
		}
	}
}

func (w *whyNot) judgeMessages(ctx context.Context, hashes []chain.Hash) error {
	if len(hashes) == 0 {
		return nil
	}
	a := w.scopeArgs(w.of.Request.Scope)
	found, err := w.readByKey().MessagesForWhyNot(ctx, dbgen.MessagesForWhyNotParams{
		Viewer: a.Viewer, Position: w.of.LogPosition, Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners,
		Hashtags: a.Hashtags, Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until,
		Hashes: hashTexts(hashes),
	})
	if err != nil || len(found) == 0 {
		return err
	}
	searched, err := w.queries().SearchedAt(ctx, w.of.ID)
	if err != nil {
		return err
	}
	quarantined, err := dbgen.New(w.reads).QuarantinedThen(ctx, hashTexts(hashes), searched) // a table that players may not read
	if err != nil {
		return err
	}
	for _, m := range found {
		verdict := unranked
		_, absent := slices.BinarySearch(w.of.Absent, m.ID)
		switch {
		case m.ID > w.of.LogPosition || absent || !m.Joined:
			verdict = selection.VerdictLater
		case !m.InScope || !w.of.Request.Scope.HasMessages() || slices.Contains(w.of.Request.Except, m.Hash):
			verdict = selection.VerdictOutOfScope
		case m.Erased:
			verdict = selection.VerdictErased
		case slices.Contains(quarantined, m.Hash):
			verdict = selection.VerdictQuarantined
		}
		w.judge(m.Hash, chain.RefContext, verdict)
	}
	return nil
}

func (w *whyNot) judgeRecords(ctx context.Context, hashes []chain.Hash) error {
	if len(hashes) == 0 {
		return nil
	}
	found, err := w.readByKey().RecordsForWhyNot(ctx, hashTexts(hashes))
	for _, r := range found {
		scope, verdict := w.of.Request.Scope, unranked
		later := r.CreatedAt.After(w.of.CreatedAt)
		if w.of.RecordPosition != nil {
			later = r.ID > *w.of.RecordPosition
		}
		switch {
		case later:
			verdict = selection.VerdictLater
		case !slices.Contains(scope.RecordKinds(), r.Kind) || scope.Since != nil && r.CreatedAt.Before(*scope.Since) ||
			scope.Until != nil && !r.CreatedAt.Before(*scope.Until):
			verdict = selection.VerdictOutOfScope
		}
		w.judge(r.Hash, r.Kind, verdict)
	}
	return err
}

// rankAgain asks the ranking for what was not kept: parts of the score, the place among all candidates, and of
// near-duplicates which item says the same.
func (w *whyNot) rankAgain(ctx context.Context) error {
	var keep []chain.Hash
	for i := range w.verdicts {
		if v := &w.verdicts[i]; v.Kind == unranked || v.Kind != selection.VerdictSelected && v.Score != nil {
			keep = append(keep, v.Hash)
		}
	}
	if len(keep) == 0 {
		return nil
	}
	found, err := w.searchAgain(ctx, append(keep, itemHashes(w.of.Items)...))
	if err != nil {
		return err
	}
	byHash := map[chain.Hash]*selection.Candidate{}
	for i := range found.best {
		byHash[found.best[i].Hash] = &found.best[i]
	}
	for i := range w.verdicts {
		v := &w.verdicts[i]
		c := byHash[v.Hash]
		if c == nil || !slices.Contains(keep, v.Hash) {
			continue
		}
		w.addRanked(v, c, found.ranks[v.Hash])
		if v.Kind == selection.VerdictKind(selection.Duplicate) || v.Kind == selection.VerdictKind(selection.Superseded) {
			v.Near = c.GivesWayTo(w.items(byHash), selection.DropReason(v.Kind))
		}
	}
	return nil
}

func (w *whyNot) searchAgain(ctx context.Context, keep []chain.Hash) (searchResult, error) {
	var policy ranking.Policy
	if err := json.Unmarshal(w.of.Policy, &policy); err != nil {
		return searchResult{}, err
	}
	if err := w.indexPending(ctx); err != nil {
		return searchResult{}, err
	}
	r := replay{DB: w.DB, original: w.of}
	if err := r.ask(ctx); err != nil {
		return searchResult{}, err
	}
	return w.search(ctx, searchInput{
		request: r.asked.request, policy: policy, at: r.asked.at, dense: r.asked.dense, nearest: r.asked.nearest, without: r.asked.without,
		most: w.most, viewer: w.viewer, keep: keep,
	})
}

// addRanked adds what the ranking says, unless it is not what was kept.
func (w *whyNot) addRanked(v *selection.Verdict, c *selection.Candidate, rank int) {
	if v.Score != nil && *v.Score != c.Score {
		return
	}
	explanation := c.Explanation
	explanation.MatchedTerms = c.Matched()
	v.Rank, v.Score, v.Explanation = &rank, &c.Score, &explanation
	if v.Kind == unranked && c.Explanation.Relevance > 0 {
		v.Kind = selection.VerdictOutOfReach
	}
}

// items are those of the selection that are still there, as candidates.
func (w *whyNot) items(byHash map[chain.Hash]*selection.Candidate) (items []selection.Candidate) {
	for _, item := range w.of.Items {
		if c := byHash[item.Hash]; c != nil {
			items = append(items, *c)
		}
	}
	return items
}
