package db

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
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

// UserThreads gives the threads of an agent with a user, by their keys, the latest first: at most so many; or the one that is
// called so.
func (d *DB) UserThreads(ctx context.Context, agent, user string, threadID *string, most int) ([]EventThread, error) {
	between, err := d.eventPlayers(ctx, agent, user)
	if err != nil || between == nil {
		return nil, err
	}
	rows, err := d.readByKey().UserThreads(ctx, dbgen.UserThreadsParams{
		Viewer: d.viewerText(), Agent: between.Agent.String(), Person: between.Person.String(), AgentKey: agent, PersonKey: user, ThreadID: threadID, RowCount: int32(most),
	})
	out := make([]EventThread, len(rows))
	for i, r := range rows {
		out[i] = EventThread{r.SessionHash, r.ThreadID, r.StartedAt.UTC(), r.LastEventAt.UTC(), r.Events}
	}
	return out, mapError(err)
}

// ThreadEvents gives what a user and an agent, by their keys, have said last in a thread of events, oldest first, without what
// is in quarantine or was erased; and the most important of what they said before, oldest first.
//
// Faults: BAD_USER_INPUT for last or keepImportant, if so many have more than maxPageBytes.
func (d *DB) ThreadEvents(ctx context.Context, thread chain.Hash, agent, user string, last, keep int) (recent, important []chain.Message, err error) {
	between, err := d.eventPlayers(ctx, agent, user)
	if err != nil || between == nil {
		return nil, nil, err
	}
	session, a, p := thread.String(), between.Agent.String(), between.Person.String()
	recent, err = d.trusted(ctx, "last", last, func(ctx context.Context, behind *chain.Message, rows int32) ([]dbgen.LogMessage, error) {
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
	important, err = d.trusted(ctx, "keepImportant", keep, func(ctx context.Context, behind *chain.Message, rows int32) ([]dbgen.LogMessage, error) {
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
// session; read goes on behind a message. If they have more than maxPageBytes, it is a fault of the field that says how many: fewer
// would look as if there were no more.
func (d *DB) trusted(ctx context.Context, field string, most int, read func(ctx context.Context, behind *chain.Message, rows int32) ([]dbgen.LogMessage, error)) ([]chain.Message, error) {
	var out []chain.Message
	var behind *chain.Message
	for more := true; more && len(out) < most; {
		p := Page[chain.Hash]{Limit: most - len(out)}
		page, err := messagePage(ctx, d, p, byHash, func(ctx context.Context) ([]dbgen.LogMessage, error) { return read(ctx, behind, p.more()) })
		if err != nil {
			return nil, err
		}
		if page.More && len(page.Items) < p.Limit {
			return nil, fault.Input(field, "%d messages come to more than %d MiB of content, attachments and surroundings: ask for fewer", most, maxPageBytes>>20)
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

// isEvent tells whether a draft has the key of an event by an id of its own.
func isEvent(d *chain.Draft) bool {
	return d.KeyOf == nil && strings.HasPrefix(*d.IdempotencyKey, ingestKeys)
}

// sameEvent tells whether a draft is the event that a message was made of, whichever way it came: an INSERT by SQL keeps another
// fingerprint, and log.append_event holds events against messages likewise. It is, if it would have the message's hash in its
// place, but for what is ambient; of that, it has to be of the same time. Who delivers it is no part of it: hooks of one tool may
// take turns, and one learns no more than that what it has sent is there.
func (p *appendPlan) sameEvent(d *chain.Draft, m *chain.Message) bool {
	if m == nil || m.Content == nil || m.Ambient == nil {
		return false
	}
	again, err := p.message(d, &prepared{salt: m.Salt, refsDigest: m.RefsDigest}, head{hash: m.PrevHash, sequence: m.Sequence - 1}, m.CreatedAt)
	if err != nil {
		return false
	}
	sent, kept := sentAt(again.Ambient), sentAt(m.Ambient)
	again.Ambient = m.Ambient
	again.ContentDigest = chain.Sum(chain.ContentPreimage(m.Salt, *again.Content, *again.Attachments, again.Ambient))
	return again.ComputeHash() == m.Hash && sameTime(sent, kept)
}

// sentAt gives the time with which an event was sent, as what is ambient has it; nil: with none.
func sentAt(ambient *chain.JSON) *time.Time {
	var event struct {
		CreatedAt *time.Time `json:"created_at"`
	}
	_ = json.Unmarshal([]byte(*ambient), &event) // what is not of this form is of nothing here
	return event.CreatedAt
}

// sameTime tells whether two times are the same for Postgres, which rounds them to microseconds.
func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Sub(*b).Abs() < time.Microsecond
}
