package db

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

// maxCandidates is how many messages and records the database hands to the ranking, by how well their own words
// match. A message's neighbours beyond it count as no match.
const maxCandidates = 2000

// RequestContext ranks what the log and the records hold for a request, and keeps what was selected. It sees
// everything that was committed before it began. A zero At is taken for now.
//
// Faults: BAD_USER_INPUT names the field.
func (d *DB) RequestContext(ctx context.Context, request selection.Request) (selection.Selection, error) {
	now := d.Now().UTC().Truncate(time.Microsecond)
	if request.At.IsZero() {
		request.At = now
	}
	if err := request.Validate("input"); err != nil {
		return selection.Selection{}, err
	}
	if err := d.indexPending(ctx); err != nil {
		return selection.Selection{}, err
	}
	count, err := token.Default()
	if err != nil {
		return selection.Selection{}, err
	}
	chosen, err := d.selectContext(ctx, request, now, count)
	if err != nil {
		return selection.Selection{}, err
	}
	chosen, err = keepSelection(ctx, d.queries(), chosen)
	if !erasedMeanwhile(err) {
		return chosen, err
	}
	err = d.withoutErasures(ctx, func(q *dbgen.Queries) error {
		if chosen, err = d.selectContext(ctx, request, now, count); err == nil {
			chosen, err = keepSelection(ctx, q, chosen)
		}
		return err
	})
	return chosen, err
}

// selectContext searches and packs.
func (d *DB) selectContext(ctx context.Context, request selection.Request, now time.Time, count token.Counter) (selection.Selection, error) {
	policy := ranking.Default()
	chosen := selection.Selection{CreatedAt: now, Request: request, Policy: policy.Canonical(), Model: embeddings.Model}
	found, err := d.search(ctx, searchInput{request: request, policy: policy})
	if err != nil {
		return selection.Selection{}, err
	}
	chosen.LogPosition, chosen.LogSize = found.at.position, found.at.size
	chosen.Items, chosen.Dropped, chosen.Rendered, chosen.Tokens, err = selection.Pack(request, found.best, count)
	return chosen, mapError(err)
}

// keepSelection makes the receipt and keeps the selection; erasedMeanwhile tells of an error that a message in it was
// erased since it was read.
func keepSelection(ctx context.Context, q *dbgen.Queries, s selection.Selection) (selection.Selection, error) {
	salt := make([]byte, selection.SaltBytes)
	_, _ = rand.Read(salt) // never fails
	if err := s.Commit(salt); err != nil {
		return s, mapError(err)
	}
	parts := make([]chain.JSON, 3)
	for i, part := range []any{s.Request, s.Items, s.Dropped} {
		text, err := json.Marshal(part)
		if err != nil {
			return s, mapError(err)
		}
		parts[i] = chain.JSON(text)
	}
	var err error
	s.ID, err = q.KeepSelection(ctx, dbgen.KeepSelectionParams{
		Receipt: s.Receipt.String(), Request: parts[0], Policy: chain.JSON(s.Policy), LogPosition: s.LogPosition, LogSize: s.LogSize,
		Items: parts[1], Dropped: parts[2], Rendered: s.Rendered, RenderedDigest: s.RenderedDigest.String(), RenderedSalt: salt,
		Tokens: int32(s.Tokens), EmbeddingModel: s.Model, CreatedAt: s.CreatedAt,
	})
	return s, mapError(err)
}

// Selection gives a selection as it was kept; NOT_FOUND if there is none with this id.
func (d *DB) Selection(ctx context.Context, id string) (selection.Selection, error) {
	rows, err := d.queries().SelectionByID(ctx, id)
	if err != nil {
		return selection.Selection{}, mapError(err)
	}
	if len(rows) == 0 {
		return selection.Selection{}, fault.New(fault.NotFound, "there is no such selection")
	}
	r := rows[0]
	s := selection.Selection{
		ID: r.ID, Receipt: r.Receipt, CreatedAt: r.CreatedAt.UTC(), LogPosition: r.LogPosition, LogSize: r.LogSize,
		Model: r.EmbeddingModel, Rendered: r.Rendered, RenderedDigest: r.RenderedDigest, RenderedSalt: r.RenderedSalt, Erased: r.Erased,
		Tokens: int(r.Tokens),
	}
	// Kept as jsonb, which orders keys its own way: read back and written again they are canonical.
	var policy ranking.Policy
	err = errors.Join(
		json.Unmarshal([]byte(r.Request), &s.Request), json.Unmarshal([]byte(r.Policy), &policy),
		json.Unmarshal([]byte(r.Items), &s.Items), json.Unmarshal([]byte(r.Dropped), &s.Dropped))
	s.Policy = policy.Canonical()
	return s, mapError(err)
}

// unique gives the distinct hashes of a list, in order of first mention.
func unique(hashes []chain.Hash) []chain.Hash {
	out := make([]chain.Hash, 0, len(hashes))
	seen := make(map[chain.Hash]bool, len(hashes))
	for _, h := range hashes {
		if !seen[h] {
			seen[h], out = true, append(out, h)
		}
	}
	return slices.Clip(out)
}
