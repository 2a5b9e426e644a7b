package db

import (
	"context"
	_ "embed"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

//go:embed search/quarantined.sql
var quarantinedSQL string

// leaveQuarantined takes what is in quarantine out of the messages that are looked at. It comes once the way of the search
// is decided, so that this is the same with and without a quarantine.
func (s *search) leaveQuarantined() {
	if s.ids != nil {
		s.ids = slices.DeleteFunc(s.ids, func(id int64) bool { return s.isQuarantined(source{chain.RefContext, id}) })
	}
}

func (s *search) isQuarantined(of source) bool {
	if of.kind != chain.RefContext {
		return false
	}
	_, found := slices.BinarySearch(s.quarantined, of.id)
	return found
}

// unseen are the ids of messages that are not found: absent, or in quarantine.
func (s *search) unseen() []int64 {
	return append(append([]int64{}, s.result.at.absent...), s.quarantined...) // never nil, which is NULL
}

// quarantinedMeanwhile tells whether a selection was not kept because a message in it has been quarantined.
func quarantinedMeanwhile(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == codeQuarantine
}

// explainQuarantined looks for messages that have come into quarantine since, or out of it.
func (r *replay) explainQuarantined(ctx context.Context) error {
	o, a := &r.original, r.scopeArgs(r.original.Request.Scope)
	searched, err := r.queries().SearchedAt(ctx, o.ID)
	if err != nil {
		return err
	}
	held := itemHashes(o.Items)
	named := held
	for _, dropped := range o.Dropped {
		named = append(named, dropped.Hash)
	}
	if r.asked.earlier != nil {
		named = append(named, itemHashes(r.asked.earlier.Items)...)
	}
	changed, err := r.queries().QuarantinedSince(ctx, dbgen.QuarantinedSinceParams{
		Position: o.LogPosition, Absent: append([]int64{}, o.Absent...), Searched: searched, Chosen: list(hashTexts(held)),
		Hashes: list(hashTexts(named)), Messages: o.Request.Scope.HasMessages(),
		Sessions: a.Sessions, Threads: a.Threads, Players: a.Players, Owners: a.Owners, Hashtags: a.Hashtags, Flags: a.Flags,
		Items: a.Items, Locations: a.Locations, EventTypes: a.EventTypes, Since: a.Since, Until: a.Until, RowCount: maxTold + 1,
		Viewer: a.Viewer, Joined: &o.LogPosition,
	})
	if err != nil || len(changed) == 0 {
		return err
	}
	of := "of the messages in it, or that could have been, these were put into quarantine since, or released from it"
	if len(changed) > maxTold {
		changed, of = changed[:maxTold], of+", and more"
	}
	r.cause(selection.CauseQuarantined, "%s.", of).Messages = changed
	return nil
}

func itemHashes(items []selection.Item) []chain.Hash {
	hashes := make([]chain.Hash, len(items))
	for i, item := range items {
		hashes[i] = item.Hash
	}
	return slices.Clip(hashes)
}
