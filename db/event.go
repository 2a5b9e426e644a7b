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

// eventPlayers gives the players whom events call so, nil if they have not named both. Whoever asks may not know of one of
// them yet; they lead to sessions that the viewer sees, and to nothing else.
func (d *DB) eventPlayers(ctx context.Context, agent, user string) (*dbgen.EventPlayersRow, error) {
	found, err := dbgen.New(d.reads).EventPlayers(ctx, agent, user)
	if err != nil || len(found) == 0 {
		return nil, mapError(err)
	}
	return &found[0], nil
}

// UserThreads gives the threads of an agent with a user, by their keys, the latest first: at most so many.
func (d *DB) UserThreads(ctx context.Context, agent, user string, most int) ([]EventThread, error) {
	between, err := d.eventPlayers(ctx, agent, user)
	if err != nil || between == nil {
		return nil, err
	}
	rows, err := d.readByKey().UserThreads(ctx, dbgen.UserThreadsParams{
		Viewer: d.viewerText(), Agent: between.Agent.String(), Person: between.Person.String(), AgentKey: agent, PersonKey: user, RowCount: int32(most),
	})
	out := make([]EventThread, len(rows))
	for i, r := range rows {
		out[i] = EventThread{r.SessionHash, r.ThreadID, r.StartedAt.UTC(), r.LastEventAt.UTC(), r.Events}
	}
	return out, mapError(err)
}

// ThreadEvents gives what a user and an agent, by their keys, have said last in a thread of events, oldest first, without what
// is in quarantine or was erased; and the most important of what they said before, oldest first.
func (d *DB) ThreadEvents(ctx context.Context, thread chain.Hash, agent, user string, last, keep int) (recent, important []chain.Message, err error) {
	between, err := d.eventPlayers(ctx, agent, user)
	if err != nil || between == nil {
		return nil, nil, err
	}
	session, a, p := thread.String(), between.Agent.String(), between.Person.String()
	recent, err = d.trusted(ctx, last, func(ctx context.Context, behind *chain.Message, rows int32) ([]dbgen.LogMessage, error) {
		params := dbgen.LastEventsParams{SessionHash: session, Agent: a, Person: p, Before: math.MaxInt64, Viewer: d.viewerText(), RowCount: rows}
		if behind != nil {
			params.Before = behind.Sequence
		}
		return d.readByKey().LastEvents(ctx, params)
	})
	if err != nil || keep == 0 || len(recent) == 0 {
		return recent, nil, err
	}
	before := recent[0].Sequence
	important, err = d.trusted(ctx, keep, func(ctx context.Context, behind *chain.Message, rows int32) ([]dbgen.LogMessage, error) {
		params := dbgen.ImportantEventsParams{
			SessionHash: session, Agent: a, Person: p, Before: before, Importance: math.MaxInt16, Place: 0, Viewer: d.viewerText(), RowCount: rows,
		}
		if behind != nil {
			params.Importance, params.Place = behind.Importance, behind.Sequence
		}
		return d.readByKey().ImportantEvents(ctx, params)
	})
	return recent, important, err
}

// trusted gives the first messages that read gives and that are not in quarantine, at most so many, in the order of their
// session; read goes on behind a message. It ends before that, as a page does, if they have more than maxPageBytes.
func (d *DB) trusted(ctx context.Context, most int, read func(ctx context.Context, behind *chain.Message, rows int32) ([]dbgen.LogMessage, error)) ([]chain.Message, error) {
	var out []chain.Message
	var behind *chain.Message
	for more := true; more && len(out) < most; {
		p := Page[chain.Hash]{Limit: most - len(out)}
		page, err := messagePage(ctx, d, p, byHash, func(ctx context.Context) ([]dbgen.LogMessage, error) { return read(ctx, behind, p.more()) })
		if err != nil {
			return nil, err
		}
		hashes := make([]chain.Hash, len(page.Items))
		for i, item := range page.Items {
			hashes[i], behind = item.Key, &item.Value
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
		more = len(quarantined) > 0 && page.More
	}
	slices.SortFunc(out, func(a, b chain.Message) int { return int(a.Sequence - b.Sequence) })
	return out, nil
}
