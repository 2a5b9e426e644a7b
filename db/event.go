package db

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
)

// EventThread is a thread of an agent with a user, as events call it.
type EventThread struct {
	Hash        chain.Hash // of the thread, and of its session
	ID          string
	StartedAt   time.Time
	LastEventAt time.Time
	Events      int64
}

// UserThreads gives the threads of an agent with a user, by their keys, the latest first: at most so many.
func (d *DB) UserThreads(ctx context.Context, agentKey, userKey string, most int) ([]EventThread, error) {
	// Whoever asks may not know of the other one yet; the keys lead to sessions that they see, and to nothing else.
	between, err := dbgen.New(d.reads).EventPlayers(ctx, agentKey, userKey)
	if err != nil || len(between) == 0 {
		return nil, mapError(err)
	}
	rows, err := d.readByKey().UserThreads(ctx, d.viewerText(), between[0].Agent.String(), between[0].Person.String(), int32(most))
	out := make([]EventThread, len(rows))
	for i, r := range rows {
		out[i] = EventThread{r.SessionHash, r.ThreadID, r.StartedAt.UTC(), r.LastEventAt.UTC(), r.Events}
	}
	return out, mapError(err)
}

// ThreadEvents gives what a user and an agent have said last in a thread of events, oldest first, without what is in
// quarantine or was erased; and the most important of what they said before, oldest first.
func (d *DB) ThreadEvents(ctx context.Context, thread chain.Hash, last, keep int) (recent, important []chain.Message, err error) {
	recent, err = d.trusted(ctx, last, func(ctx context.Context, rows, skipped int32) ([]dbgen.LogMessage, error) {
		return d.readByKey().LastEvents(ctx, thread.String(), d.viewerText(), skipped, rows)
	})
	if err != nil || keep == 0 || len(recent) == 0 {
		return recent, nil, err
	}
	before := recent[0].Sequence
	important, err = d.trusted(ctx, keep, func(ctx context.Context, rows, skipped int32) ([]dbgen.LogMessage, error) {
		return d.readByKey().ImportantEvents(ctx, dbgen.ImportantEventsParams{
			SessionHash: thread.String(), Before: before, Viewer: d.viewerText(), RowCount: rows, Skipped: skipped,
		})
	})
	return recent, important, err
}

// trusted gives the first messages that read gives and that are not in quarantine, at most so many, in the order of their
// session. It ends before that, as a page does, if they have more than maxPageBytes.
func (d *DB) trusted(ctx context.Context, most int, read func(ctx context.Context, rows, skipped int32) ([]dbgen.LogMessage, error)) ([]chain.Message, error) {
	var out []chain.Message
	for skipped, more := 0, true; more && len(out) < most && skipped < math.MaxInt32-most; {
		page, err := messagePage(ctx, d, Page[chain.Hash]{Limit: most - len(out)}, byHash, func(ctx context.Context) ([]dbgen.LogMessage, error) {
			return read(ctx, int32(most-len(out)+1), int32(skipped))
		})
		if err != nil {
			return nil, err
		}
		hashes := make([]chain.Hash, len(page.Items))
		for i, item := range page.Items {
			hashes[i] = item.Key
		}
		quarantined, err := d.InQuarantine(ctx, hashes)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if !slices.Contains(quarantined, item.Key) {
				out = append(out, item.Value)
			}
		}
		skipped, more = skipped+len(page.Items), len(quarantined) > 0 && page.More
	}
	slices.SortFunc(out, func(a, b chain.Message) int { return int(a.Sequence - b.Sequence) })
	return out, nil
}
