package db

import (
	"fmt"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// place checks a draft against the head of its session and gives the time it will have.
func (p *appendPlan) place(d *chain.Draft, h head, viewer *chain.Hash, field string) (time.Time, error) {
	if d.PrevHash != nil && (h.hash == nil || *h.hash != *d.PrevHash) {
		return time.Time{}, errNotHead(field)
	}
	if d.Original == nil {
		for i, r := range d.Refs {
			if named, there := p.sources[r.Hash]; !there || named.kind != r.Type || !p.sees(viewer, named) {
				return time.Time{}, fault.Input(fmt.Sprintf("%s.refs[%d].hash", field, i), "names nothing of type %s", strings.ToUpper(string(r.Type)))
			}
		}
	}
	switch {
	case d.CreatedAt == nil:
		return h.behind(p.now.UTC()), nil
	case d.Late:
		return h.behind(*d.CreatedAt), nil
	case h.hash != nil && d.CreatedAt.Before(h.at):
		return time.Time{}, fault.Input(field+".createdAt", "is before the last message of the session, %s", h.at.UTC().Format(time.RFC3339Nano))
	}
	return *d.CreatedAt, nil
}

func errNotHead(field string) error {
	return &fault.Error{Code: fault.Conflict, Field: field + ".prevHash", Message: "is not the head of the session"}
}

// behind gives a time that is not up to the head's, as log.behind does in the database: who orders a session by time gets it in
// the order of its chain, however many of its messages came at once.
func (h head) behind(at time.Time) time.Time {
	if h.hash == nil || at.After(h.at) {
		return at
	}
	next := h.at.UTC().Add(time.Microsecond)
	if next.Year() > 9999 { // there is no later time
		return h.at.UTC()
	}
	return next
}

// message gives the message that a draft becomes behind a head: all but its id.
func (p *appendPlan) message(d *chain.Draft, ready *prepared, h head, at time.Time) (chain.Message, error) {
	attachments := p.stored(d.Attachments)
	if attachments == nil {
		empty := chain.JSON(emptyObject)
		attachments = &empty
	}
	m := chain.Message{
		PrevHash: h.hash, Sequence: h.sequence + 1, SessionHash: d.SessionHash, ThreadHash: d.ThreadHash, OwnerID: d.OwnerID,
		PlayerIDs: d.PlayerIDs, MasterPlayer: d.MasterPlayer, Role: d.Role, EventType: d.EventType, Importance: int16(d.Importance),
		Channel: d.Channel, Source: d.Source, Content: &d.Content, Attachments: attachments, Ambient: p.stored(d.Ambient),
		Salt: ready.salt, Hashtags: d.Hashtags, FlagID: d.FlagID, MasterItemID: d.MasterItemID, ItemIDs: d.ItemIDs,
		LocationID: d.LocationID, RefsDigest: ready.refsDigest, CreatedAt: at,
	}
	m.ContentDigest = chain.Sum(chain.ContentPreimage(m.Salt, *m.Content, *m.Attachments, m.Ambient))
	m.Hash = m.ComputeHash()
	if d.Original != nil && d.Original.Hash != m.Hash {
		return m, fmt.Errorf("has the hash %s and not that of the original, %s", m.Hash, d.Original.Hash)
	}
	return m, nil
}

// stored gives JSON as Postgres writes it.
func (p *appendPlan) stored(sent *chain.JSON) *chain.JSON {
	if sent == nil || *sent == emptyObject {
		return sent
	}
	text := p.json[string(*sent)]
	return &text
}

// texts gives hashes as the text that queries take.
func texts[T any](hashes map[chain.Hash]T) []string {
	out := make([]string, 0, len(hashes))
	for h := range hashes {
		out = append(out, h.String())
	}
	return out
}
