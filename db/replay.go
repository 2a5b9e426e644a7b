package db

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// ReplayContext computes a kept selection's request again, over the log as it stood then, under the policy and the models
// of now, and says what has changed since if the receipt is another. It keeps nothing.
//
// Faults: NOT_FOUND if there is no such selection.
func (d *DB) ReplayContext(ctx context.Context, id string) (selection.Replay, error) {
	return d.ReplayContextAs(ctx, id, ReplayAs{})
}

// ReplayAs says what a replay is to have otherwise.
type ReplayAs struct {
	Policy *ranking.Policy // nil: that of now
	Today  bool            // over the log as it stands, and not as it stood
}

// ReplayContextAs is ReplayContext with something otherwise, which is why the result differs then: no other cause is looked
// for.
func (d *DB) ReplayContextAs(ctx context.Context, id string, as ReplayAs) (selection.Replay, error) {
	original, err := d.selection(ctx, id)
	if err != nil {
		return selection.Replay{}, err
	}
	if err := d.indexPending(ctx); err != nil {
		return selection.Replay{}, err
	}
	seen := d
	if original.Viewer != nil {
		seen = d.As(*original.Viewer) // whoever asks for the replay
	} else {
		seen = &DB{shared: d.shared}
	}
	r := replay{DB: seen, as: as, original: original, out: selection.Replay{Original: original}}
	if err := r.run(ctx); err != nil {
		return selection.Replay{}, mapError(err)
	}
	d.NoteItems(original.Items)
	d.NoteItems(r.out.Replayed.Items)
	return r.out, nil
}

// replay is one on its way.
type replay struct {
	*DB
	as       ReplayAs
	original selection.Selection
	asked    asked
	// unrelated is what was known of the dense model then; of a selection that did not keep that, what is known now.
	unrelated *ranking.Unrelated
	sampled   bool // what words are worth depends on messages out of the scope as well
	out       selection.Replay
}

func (r *replay) run(ctx context.Context) error {
	if err := r.ask(ctx); err != nil {
		return err
	}
	policy := r.now()
	if r.as.Policy != nil {
		policy = *r.as.Policy
		policy.Unrelated = r.unrelated
	}
	if r.as.Today {
		r.asked.at, r.asked.nearest, r.asked.without, r.asked.notices, r.out.Untold = nil, nil, sources{}, nil, nil
	}
	replayed, err := r.again(ctx, policy, policy.Canonical())
	if err != nil {
		return err
	}
	r.out.Replayed = replayed
	if replayed.Receipt == r.original.Receipt && r.original.Holds() {
		r.out.Identical = true
		return nil
	}
	r.out.Differences = selection.Differences(&r.original, &replayed)
	if r.as != (ReplayAs{}) {
		return nil
	}
	return r.explain(ctx)
}

// now is the policy of now, with what was known of the dense model then: that is measured, as the log is, and no change of policy.
func (r *replay) now() ranking.Policy {
	policy := ranking.Default()
	policy.Unrelated = r.unrelated
	return policy
}

// ask puts together what was asked, and what the search could see.
func (r *replay) ask(ctx context.Context) error {
	o := &r.original
	r.asked = asked{
		request: o.Request, notices: o.SearchNotices(),
		at: &asOf{position: o.LogPosition, size: o.LogSize, absent: o.Absent, newest: o.Newest},
	}
	var err error
	if r.asked.earlier, err = r.earlier(ctx, o.Request.PreviousID); err != nil {
		return err
	}
	if o.RecordPosition != nil {
		r.asked.at.records = *o.RecordPosition
		return r.askDense(ctx)
	}
	r.out.Untold = append(r.out.Untold,
		"Which messages were being written just then, and which records were there, was not kept with this selection: records are taken by their time.")
	r.asked.at.records, err = r.queries().RecordPositionAt(ctx, o.CreatedAt)
	return err
}

// askDense adds the query's dense vector and what was nearest, as far as its model is still there.
func (r *replay) askDense(ctx context.Context) error {
	if r.original.DenseModel == "" {
		return nil
	}
	var policy ranking.Policy
	if err := json.Unmarshal(r.original.Policy, &policy); err != nil {
		return err
	}
	r.unrelated = policy.Unrelated
	models, err := r.queries().DenseModel(ctx, r.original.DenseModel)
	if err != nil || len(models) == 0 {
		return err
	}
	kept, err := r.queries().NearestOfSelection(ctx, r.original.ID)
	if err != nil {
		return err
	}
	if r.unrelated == nil {
		if r.unrelated, err = r.DB.unrelated(ctx, models[0].ID); err != nil {
			return err
		}
	}
	r.asked.without = sources{messages: kept.UnembeddedMessages, records: kept.UnembeddedRecords}
	r.asked.dense = &denseQuery{model: models[0].ID, name: r.original.DenseModel, vector: kept.DenseVector, unrelated: r.unrelated}
	return pgx.BeginTxFunc(ctx, r.reads, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		hits, err := denseCosines(ctx, tx, *r.asked.dense, kept.NearestMessages, kept.NearestRecords)
		nearestFirst(hits)
		r.asked.nearest = append([]denseHit{}, hits...)
		if err != nil {
			return denseFailed(ctx, err)
		}
		return nil
	})
}

// again computes the selection under a policy.
func (r *replay) again(ctx context.Context, policy ranking.Policy, text []byte) (selection.Selection, error) {
	r.asked.policy, r.asked.policyText = policy, text
	chosen, err := r.selectContext(ctx, r.asked)
	if err != nil {
		return selection.Selection{}, err
	}
	r.sampled = chosen.sampled
	return chosen.Selection, chosen.CommitLike(&r.original, chosen.salt)
}

// explain names the causes: the policy alone, if the kept one gives the same again, or all that can have had a part.
func (r *replay) explain(ctx context.Context) error {
	if !r.original.Holds() && r.original.HasPreimage() {
		r.cause(selection.CauseUnknown, "The kept selection is not what its receipt covers: it was changed by other means than the log's own.")
		return nil
	}
	if done, err := r.explainPolicy(ctx); done || err != nil {
		return err
	}
	r.explainModel()
	for _, explain := range []func(context.Context) error{r.explainErased, r.explainQuarantined, r.explainComponents, r.explainLate} {
		if err := explain(ctx); err != nil {
			return err
		}
	}
	if len(r.out.Causes) == 0 {
		r.cause(selection.CauseUnknown, "Nothing that is meant to change has changed: not the policy, not the models, no message was erased or quarantined, "+
			"no component was changed, and none was late. So something was changed by other means: check the log and the receipt.")
	}
	return nil
}

func (r *replay) cause(kind selection.CauseKind, format string, args ...any) *selection.Cause {
	r.out.Causes = append(r.out.Causes, selection.Cause{Kind: kind, Message: fmt.Sprintf(format, args...)})
	return &r.out.Causes[len(r.out.Causes)-1]
}

// explainPolicy says whether the policy explains everything: then the kept one gives the receipt again.
func (r *replay) explainPolicy(ctx context.Context) (alone bool, err error) {
	now := r.now()
	if bytes.Equal(r.original.Policy, now.Canonical()) {
		return false, nil
	}
	var kept ranking.Policy
	if err := json.Unmarshal(r.original.Policy, &kept); err != nil {
		return false, err
	}
	under, err := r.again(ctx, kept, r.original.Policy)
	if err != nil {
		return false, err
	}
	alone = under.Receipt == r.original.Receipt
	what := fmt.Sprintf("constants of the policy %s have changed", kept.Version)
	if kept.Version != now.Version {
		what = fmt.Sprintf("the policy was %s and is %s", kept.Version, now.Version)
	}
	end := "that alone does not explain it"
	if alone {
		end = "under the kept one the result is identical"
	}
	r.cause(selection.CausePolicy, "%s; %s.", what, end).Alone = &alone
	return alone, nil
}

func (r *replay) explainModel() {
	if r.original.Model != embeddings.Model {
		r.cause(selection.CauseModel, "the words' model was %s and is %s.", r.original.Model, embeddings.Model)
	}
	if r.original.DenseModel != "" && r.asked.dense == nil {
		r.cause(selection.CauseModel, "the vectors of %s are no longer there.", r.original.DenseModel)
	}
}

// maxTold bounds how many messages or components a cause names.
const maxTold = 20

func (r *replay) explainErased(ctx context.Context) error {
	o, a := &r.original, r.scopeArgs(r.original.Request.Scope)
	hashes := make([]chain.Hash, 0, len(o.Items)+len(o.Dropped))
	for _, item := range o.Items {
		hashes = append(hashes, item.Hash)
	}
	for _, dropped := range o.Dropped {
		hashes = append(hashes, dropped.Hash)
	}
	if r.asked.earlier != nil {
		for _, item := range r.asked.earlier.Items {
			hashes = append(hashes, item.Hash)
		}
	}
	args := dbgen.ErasedSinceParams{
		Position: o.LogPosition, Absent: append([]int64{}, o.Absent...), Hashes: hashTexts(hashes), Messages: o.Request.Scope.HasMessages(),
		Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners, Hashtags: a.Hashtags, Flags: a.Flags,
		Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until, RowCount: maxTold + 1,
		Viewer: a.Viewer, Joined: &o.LogPosition,
	}
	of := "of those that could have been selected, these were erased since"
	erased, err := r.queries().ErasedSince(ctx, args)
	if err == nil && len(erased) == 0 && r.sampled {
		args = dbgen.ErasedSinceParams{Position: args.Position, Absent: args.Absent, Hashes: args.Hashes, Messages: true, RowCount: args.RowCount, Viewer: a.Viewer, Joined: args.Joined}
		of = "what to look for in so large a scope was told by a sample of the whole log, of which these were erased since"
		erased, err = r.queries().ErasedSince(ctx, args)
	}
	if err != nil || len(erased) == 0 {
		return err
	}
	if slices.ContainsFunc(erased, func(h chain.Hash) bool { return slices.Contains(hashes, h) }) {
		of = "of the messages in it, and those that could have been, these were erased since"
	}
	if len(erased) > maxTold {
		erased, of = erased[:maxTold], of+", and more"
	}
	r.cause(selection.CauseErased, "%s.", of).Messages = erased
	return nil
}

// explainComponents looks for components that were changed since: names are words of messages and of lines, and what
// preferences name.
func (r *replay) explainComponents(ctx context.Context) error {
	o, a := &r.original, r.scopeArgs(r.original.Request.Scope)
	searched, err := r.queries().SearchedAt(ctx, o.ID)
	if err != nil {
		return err
	}
	args := dbgen.OwnersChangedSinceParams{
		Changed: searched, Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners, Hashtags: a.Hashtags,
		Flags: a.Flags, Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until,
		Position: o.LogPosition, RowCount: maxTold, Viewer: a.Viewer, Joined: &o.LogPosition,
	}
	if o.Request.Player != nil {
		player := o.Request.Player.String()
		args.Player = &player
	}
	names, err := r.queries().OwnersChangedSince(ctx, args)
	if err != nil {
		return err
	}
	if o.Request.Player != nil {
		labels, err := r.queries().LabelsChangedSince(ctx, searched, maxTold)
		if err != nil {
			return err
		}
		names = append(names, labels...)
	}
	if len(names) > 0 {
		r.cause(selection.CauseComponents, "names, preferences or descriptions were changed since, of %q.", names[:min(len(names), maxTold)])
	}
	return nil
}

// explainLate looks for messages that have come to stand, or are missing, where the search could see.
func (r *replay) explainLate(ctx context.Context) error {
	size, err := r.queries().LogSizeAt(ctx, r.original.LogPosition, append([]int64{}, r.original.Absent...), r.viewerText())
	if err != nil {
		return err
	}
	for _, notice := range r.original.NoticeDetails() {
		switch notice.Code {
		case selection.NoticeUnindexed:
			r.cause(selection.CauseLate, "%d messages and records had no search vectors then, and could not be found.", *notice.Count)
		case selection.NoticeAwaits:
			r.cause(selection.CauseLate, "not everything was embedded then with %s.", r.original.DenseModel)
		}
	}
	switch was := r.original.LogSize; {
	case size > was:
		r.cause(selection.CauseLate, "the log has %d messages where it had %d: others were being written then, and came late.", size, was)
	case size < was:
		r.cause(selection.CauseUnknown, "the log has %d messages where it had %d: nothing that is meant to happen takes any away.", size, was)
	}
	return nil
}
