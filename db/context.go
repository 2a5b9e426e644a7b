package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

// RequestContext ranks what the log and the records hold for a request, and keeps what was selected. It sees
// everything that was committed before it began. A zero At is taken for now.
//
// Faults: BAD_USER_INPUT names the field; NOT_FOUND if there is no selection with the PreviousID.
func (d *DB) RequestContext(ctx context.Context, request selection.Request) (selection.Selection, error) {
	now := d.Now().UTC().Truncate(time.Microsecond)
	a, err := d.newAsked(ctx, request, now, ranking.Default(), "input")
	if err != nil {
		return selection.Selection{}, err
	}
	for try := 1; ; try++ {
		kept, err := d.selectAndKeep(ctx, a, now)
		if quarantinedMeanwhile(err) && try < quarantineTries {
			continue
		}
		if err == nil {
			d.NoteItems(kept.Items)
		}
		return kept, mapError(err)
	}
}

// TryContext ranks under a policy, and keeps nothing: what comes has no ID. The rest is as of RequestContext; faults name the
// field below "request".
func (d *DB) TryContext(ctx context.Context, request selection.Request, policy ranking.Policy) (selection.Selection, error) {
	now := d.Now().UTC().Truncate(time.Microsecond)
	a, err := d.newAsked(ctx, request, now, policy, "request")
	if err != nil {
		return selection.Selection{}, err
	}
	tried, err := d.selectContext(ctx, a)
	if err == nil {
		err = tried.Commit(tried.salt)
	}
	if err != nil {
		return selection.Selection{}, mapError(err)
	}
	tried.CreatedAt = now
	d.NoteItems(tried.Items)
	return tried.Selection, nil
}

// newAsked puts together what is asked; faults name the field below field.
func (d *DB) newAsked(ctx context.Context, request selection.Request, now time.Time, policy ranking.Policy, field string) (asked, error) {
	if request.At.IsZero() {
		request.At = now
	}
	if err := request.Validate(field); err != nil {
		return asked{}, err
	}
	earlier, err := d.earlier(ctx, request.PreviousID)
	if err != nil {
		return asked{}, err
	}
	if earlier != nil {
		request.Previous = &earlier.Receipt
	}
	a := asked{request: request, earlier: earlier, began: time.Now()}
	var without string
	if a.dense, without = d.denseQuery(ctx, request.Query); without != "" {
		a.notices = append(a.notices, without)
	}
	a.rankBy(policy)
	return a, nil
}

// quarantineTries bounds how often a selection is made again because a message in it was quarantined.
const quarantineTries = 5

// selectAndKeep selects, once more if a message was erased in the meantime, and keeps the selection.
func (d *DB) selectAndKeep(ctx context.Context, a asked, now time.Time) (selection.Selection, error) {
	chosen, err := d.selectContext(ctx, a)
	if err != nil {
		return selection.Selection{}, err
	}
	chosen.CreatedAt = now
	kept, err := keepSelection(ctx, d.queries(), chosen)
	if !erasedMeanwhile(err) {
		return kept, err
	}
	a.indexed = true // which would wait for the erasure that waits for this
	err = d.withoutErasures(ctx, func(q *dbgen.Queries) error {
		if chosen, err = d.selectContext(ctx, a); err == nil {
			chosen.CreatedAt = now
			kept, err = keepSelection(ctx, q, chosen)
		}
		return err
	})
	return kept, err
}

// earlier gives the selection whose beginning is to be kept, nil for none.
func (d *DB) earlier(ctx context.Context, id string) (*selection.Selection, error) {
	if id == "" {
		return nil, nil
	}
	earlier, err := d.selection(ctx, id)
	return &earlier, err
}

// asked is a request with all that decides what comes of it.
type asked struct {
	request    selection.Request
	earlier    *selection.Selection // whose beginning is kept; nil: none
	began      time.Time            // just before
	policy     ranking.Policy
	policyText []byte
	dense      *denseQuery
	indexed    bool     // see searchInput
	notices    []string // of what the search does without

	// When it was asked before: what the search could see then, what was nearest, and what had no dense vector.
	at      *asOf
	nearest []denseHit
	without sources
}

// rankBy sets the policy, with what is known of the dense model that takes part.
func (a *asked) rankBy(policy ranking.Policy) {
	if policy.Unrelated = nil; a.dense != nil {
		policy.Unrelated = a.dense.unrelated
	}
	a.policy, a.policyText = policy, policy.Canonical()
}

// chosen is a selection with what is not shown of it.
type chosen struct {
	selection.Selection
	salt    []byte
	dense   *denseQuery
	nearest []denseHit
	without sources
	sampled bool // see searchResult
	began   time.Time
}

// selectContext searches and packs.
func (d *DB) selectContext(ctx context.Context, a asked) (chosen, error) {
	count, err := token.Default()
	if err != nil {
		return chosen{}, mapError(err)
	}
	in := searchInput{request: a.request, policy: a.policy, indexed: a.indexed, at: a.at, dense: a.dense, nearest: a.nearest, without: a.without, most: d.most, viewer: d.viewer}
	if a.earlier != nil {
		for _, item := range a.earlier.Items {
			in.keep = append(in.keep, item.Hash)
		}
	}
	found, without, err := d.searchEither(ctx, in)
	if err != nil {
		return chosen{}, err
	}
	if without != "" {
		a.dense, a.notices = nil, append(slices.Clip(a.notices), without)
		a.rankBy(a.policy)
	}
	saw := found.at
	if a.at != nil {
		saw = *a.at
	} else {
		if found.cut {
			a.notices = append(slices.Clip(a.notices), selection.LongNotice())
		}
		if found.unindexed > 0 {
			a.notices = append(slices.Clip(a.notices), selection.UnindexedNotice(int(found.unindexed)))
		}
	}
	if found.awaits {
		a.notices = append(slices.Clip(a.notices), selection.AwaitsNotice())
	}
	packed, err := selection.Pack(a.request, found.best, a.earlier, count)
	if err != nil {
		return chosen{}, mapError(err)
	}
	salt, err := selection.Salt(packed.Salts)
	if err != nil {
		return chosen{}, mapError(err)
	}
	c := chosen{salt: salt, dense: a.dense, nearest: found.nearest, without: found.unembedded, sampled: found.sampled, began: a.began}
	c.Selection = selection.Selection{
		Request: a.request, Policy: a.policyText, Model: embeddings.Model, LogPosition: saw.position, LogSize: saw.size,
		RecordPosition: &saw.records, Items: packed.Items, Dropped: packed.Dropped, Rendered: packed.Rendered, Tokens: packed.Tokens,
		UnchangedTokens: packed.UnchangedTokens, Viewer: d.viewer, Newest: saw.newest,
		Stages: selection.Stages(found.counted, packed.Items, packed.Dropped),
	}
	if len(saw.absent) > 0 {
		c.Absent = saw.absent
	}
	if a.dense != nil {
		c.DenseModel = a.dense.name
	}
	c.Notify(a.notices)
	return c, nil
}

// keepSelection makes the receipt and keeps the selection; erasedMeanwhile tells of an error that a message in it was
// erased since it was read.
func keepSelection(ctx context.Context, q *dbgen.Queries, c chosen) (selection.Selection, error) {
	s := c.Selection
	var parts [4]chain.JSON
	var written errgroup.Group // beside the receipt, which takes as long
	written.Go(func() error {
		for i, part := range []any{c.Request, c.Items, c.Dropped, c.Stages} {
			text, err := json.Marshal(part)
			if err != nil {
				return err
			}
			parts[i] = chain.JSON(text)
		}
		return nil
	})
	if err := errors.Join(s.Commit(c.salt), written.Wait()); err != nil {
		return s, err
	}
	row := dbgen.KeepSelectionParams{
		Receipt: s.Receipt.String(), Request: parts[0], Policy: string(s.Policy), LogPosition: s.LogPosition, LogSize: s.LogSize,
		Items: parts[1], Dropped: parts[2], Rendered: s.Rendered, RenderedDigest: s.RenderedDigest.String(), RenderedSalt: s.RenderedSalt,
		Tokens: int32(s.Tokens), EmbeddingModel: s.Model, CreatedAt: s.CreatedAt, RecordPosition: *s.RecordPosition,
		Absent: append([]int64{}, s.Absent...), Notices: s.Notices, UnchangedTokens: int32(s.UnchangedTokens),
		NearestMessages: []int64{}, NearestRecords: []int64{},
		UnembeddedMessages: list(c.without.messages), UnembeddedRecords: list(c.without.records),
		SecondsAgo: time.Since(c.began).Seconds(), Viewer: hashText(s.Viewer), Newest: hashText(s.Newest),
		Stages: parts[3],
	}
	if s.Request.PreviousID != "" {
		row.Previous = &s.Request.PreviousID
	}
	if c.dense != nil {
		row.DenseModel, row.DenseVector = &c.dense.name, c.dense.vector
	}
	for _, hit := range c.nearest {
		if hit.kind == chain.RefContext {
			row.NearestMessages = append(row.NearestMessages, hit.id)
		} else {
			row.NearestRecords = append(row.NearestRecords, hit.id)
		}
	}
	slices.Sort(row.NearestMessages) // their order would tell how near they were
	slices.Sort(row.NearestRecords)
	var err error
	s.ID, err = q.KeepSelection(ctx, row)
	return s, err
}

// Selection gives a selection as it was kept; NOT_FOUND if there is none with this id.
func (d *DB) Selection(ctx context.Context, id string) (selection.Selection, error) {
	s, err := d.selection(ctx, id)
	d.NoteItems(s.Items)
	return s, err
}

// selection is Selection for the store's own use: nobody has read it.
func (d *DB) selection(ctx context.Context, id string) (selection.Selection, error) {
	rows, err := d.readByKey().SelectionByID(ctx, id, d.viewerText())
	if err != nil {
		return selection.Selection{}, mapError(err)
	}
	if len(rows) == 0 {
		return selection.Selection{}, fault.New(fault.NotFound, "there is no such selection")
	}
	s, err := keptSelection(rows[0])
	return s, mapError(err)
}

// keptSelection reads a row back.
func keptSelection(r dbgen.SelectionByIDRow) (selection.Selection, error) {
	s := selection.Selection{
		ID: r.ID, Receipt: r.Receipt, CreatedAt: r.CreatedAt.UTC(), LogPosition: r.LogPosition, LogSize: r.LogSize,
		Model: r.EmbeddingModel, Rendered: r.Rendered, RenderedDigest: r.RenderedDigest, RenderedSalt: r.RenderedSalt, Erased: r.Erased,
		Tokens: int(r.Tokens), RecordPosition: r.RecordPosition, DenseModel: r.DenseModel, Notices: r.Notices,
		UnchangedTokens: int(r.UnchangedTokens), Policy: []byte(r.Policy), Viewer: r.Viewer, Newest: r.Newest,
	}
	if len(r.Absent) > 0 {
		s.Absent = r.Absent
	}
	// Kept as jsonb, which orders keys its own way: read back and written again they are canonical.
	err := errors.Join(
		json.Unmarshal([]byte(r.Request), &s.Request), json.Unmarshal([]byte(r.Items), &s.Items), json.Unmarshal([]byte(r.Dropped), &s.Dropped))
	s.Request.PreviousID = r.Previous
	if err == nil && r.Stages.JSON != nil {
		err = json.Unmarshal([]byte(*r.Stages.JSON), &s.Stages)
	}
	if err == nil && s.RecordPosition == nil {
		s.Policy, err = canonicalPolicy(s.Policy)
	}
	return s, err
}

// RecordSelection appends the message that was sent with a selection, whose items become its refs, in order. It is as
// durable as what Append writes, and repeated with its idempotency key it gives the message of that time.
//
// Faults: those of Append; BAD_USER_INPUT if the draft has refs; NOT_FOUND if there is no such selection.
func (d *DB) RecordSelection(ctx context.Context, id string, draft chain.Draft) (chain.Message, error) {
	if len(draft.Refs) > 0 {
		return chain.Message{}, fault.Input("message.refs", "are the selection's items: leave them out")
	}
	s, err := d.selection(ctx, id)
	if err != nil {
		return chain.Message{}, err
	}
	for _, item := range s.Items {
		draft.Refs = append(draft.Refs, chain.Ref{Type: item.Type, Hash: item.Hash})
	}
	if err := draft.Validate("message"); err != nil {
		return chain.Message{}, err
	}
	written, err := d.Append(ctx, []chain.Draft{draft})
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if rest, ours := strings.CutPrefix(f.Field, "messages[0]"); ours {
			renamed := *f
			renamed.Field = "message" + rest
			return chain.Message{}, &renamed
		}
	}
	if err != nil {
		return chain.Message{}, err
	}
	return written[0], nil
}

// policyLexicalV1 has the fields of the first policy in their order: kept as jsonb until there was version 3 of the
// receipt, they have lost it.
type policyLexicalV1 struct {
	Version       string    `json:"version"`
	Before        []float64 `json:"before"`
	After         []float64 `json:"after"`
	Answer        float64   `json:"answer"`
	Session       float64   `json:"session"`
	Owner         float64   `json:"owner"`
	Time          float64   `json:"time"`
	Question      float64   `json:"question"`
	Record        float64   `json:"record"`
	Middle        float64   `json:"middle"`
	Semantic      float64   `json:"semantic"`
	SemanticFloor float64   `json:"semanticFloor"`
	Recency       float64   `json:"recency"`
	RecencyWindow int64     `json:"recencyWindow"`
	Preference    float64   `json:"preference"`
}

// canonicalPolicy gives the policy of a receipt of version 1 or 2 the bytes that the receipt covers.
func canonicalPolicy(kept []byte) ([]byte, error) {
	var policy policyLexicalV1
	if err := json.Unmarshal(kept, &policy); err != nil {
		return nil, err
	}
	if policy.Version != "lexical-v1" {
		return kept, nil
	}
	text, err := json.Marshal(policy)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return text, nil
}
