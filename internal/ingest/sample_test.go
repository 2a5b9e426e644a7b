package ingest_test

import (
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
)

// The sample shows every part of a message, and is the same each time.
func TestSample(t *testing.T) {
	t.Parallel()
	d := open(t)
	first, err := ingest.Sample(t.Context(), d)
	if err != nil {
		t.Fatalf("Sample: %v", err)
	}
	again, err := ingest.Sample(t.Context(), d)
	if err != nil || again.Messages != 0 || again.Present != first.Messages {
		t.Errorf("a second time: %+v, %v; want no new message", again, err)
	}
	threads, sessions, events := map[chain.Hash]bool{}, map[chain.Hash]bool{}, map[chain.EventType]int{}
	var master, flags, locations, items, ambient, attachments, vital int
	messages := all(t, d)
	hashes := make([]chain.Hash, len(messages))
	for i, m := range messages {
		hashes[i] = m.Hash
		threads[*m.ThreadHash], sessions[m.SessionHash] = true, true
		events[m.EventType]++
		for counted, shown := range map[*int]bool{
			&master: m.MasterPlayer != nil, &flags: m.FlagID != nil, &locations: m.LocationID != nil, &items: m.MasterItemID != nil,
			&ambient: m.Ambient != nil, &attachments: *m.Attachments != "{}", &vital: m.Importance == 2,
		} {
			if shown {
				*counted++
			}
		}
	}
	if len(messages) < 55 || len(messages) > 70 || len(threads) != 8 || len(sessions) != 11 {
		t.Errorf("%d messages, %d threads, %d sessions", len(messages), len(threads), len(sessions))
	}
	for name, n := range map[string]int{
		"coordinators": master, "flags": flags, "locations": locations, "items": items, "ambient": ambient, "attachments": attachments,
		"very relevant": vital, "errors": events[chain.EventError], "tools": events[chain.EventTool],
	} {
		if n < 2 {
			t.Errorf("%d messages with %s", n, name)
		}
	}
	refs, err := d.RefsOf(t.Context(), hashes)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[chain.RefType]int{}
	for _, list := range refs {
		for _, r := range list {
			kinds[r.Type]++
		}
	}
	if kinds[chain.RefContext] < 20 || kinds[chain.RefAccountant] < 3 || kinds[chain.RefSecretary] < 5 {
		t.Errorf("refs by type: %v", kinds)
	}
}
