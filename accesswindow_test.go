package main

import (
	"fmt"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/window"
)

// stagedWindow is a window with an entry on its scratchpad and a segment, by which the matrix asks.
type stagedWindow struct{ id, entry, segment string }

// newWindow makes one of a player's.
func (s *site) newWindow(agent chain.Hash) stagedWindow {
	s.t.Helper()
	ctx := s.t.Context()
	made, err := s.CreateWindow(ctx, db.NewWindow{Name: "harbour", Agent: agent, Capacity: 100_000})
	if err != nil {
		s.t.Fatal(err)
	}
	put, err := s.Offload(ctx, made.ID, []string{"The lighthouse keeper wrote it down"}, agent)
	if err != nil {
		s.t.Fatal(err)
	}
	segment, err := s.CreateSegment(ctx, "shared", []string{made.ID})
	if err != nil {
		s.t.Fatal(err)
	}
	return stagedWindow{made.ID, put[0].ID, segment.ID}
}

func (s *site) write(in stagedWindow, agent chain.Hash, kind window.ContentType, content string, more ...func(*window.Draft)) db.WindowWritten {
	s.t.Helper()
	draft := window.Draft{Type: kind, Content: content}
	for _, f := range more {
		f(&draft)
	}
	var source *chain.Hash
	if draft.Source != nil {
		source = &draft.Source.Hash
	}
	written, err := s.WriteContext(s.t.Context(), in.id, draft, source, agent)
	if err != nil {
		s.t.Fatal(err)
	}
	return written
}

// fillWindow has everything in a window, and its history, that there may be.
func (s *stage) fillWindow(in stagedWindow, agent chain.Hash) {
	s.t.Helper()
	for i := range 8 {
		s.write(in, agent, window.UserMessage, fmt.Sprintf("In note %d somebody walked past the museum and went on to the next thing on the list.", i))
	}
	if _, err := s.CompressWindow(s.t.Context(), in.id, 0, agent); err != nil {
		s.t.Fatal(err)
	}
	s.write(in, agent, window.UserPreference, "User prefers budget hotels", func(d *window.Draft) { d.ObservedAt = time.Now().Add(-48 * time.Hour) })
	clash := s.write(in, agent, window.UserPreference, "User prefers luxury 5-star hotels")
	if len(clash.Judgements) == 0 || len(clash.Mitigations) == 0 {
		s.t.Fatalf("nothing clashes: %+v", clash)
	}
	s.write(in, agent, window.Knowledge, "the harbour is closed", func(d *window.Draft) { d.Key, d.Source = "harbour", &window.Source{Hash: s.message.Hash} })
	if _, err := s.WriteToSegment(s.t.Context(), in.segment, in.id, window.Draft{Type: window.Knowledge, Content: "all windows see this"}, nil, agent); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.RegisterTools(s.t.Context(), in.id, []window.Tool{{Name: "open_harbour", Description: "opens the harbour"}}, agent); err != nil {
		s.t.Fatal(err)
	}
}

// windows gives the values of documents about windows: Ana's to Ana, and to all who have none; Ben's to Ben. $window stays as
// it is, $writing is written to.
func (s *stage) windows() {
	s.t.Helper()
	kept, writing := map[chain.Hash]stagedWindow{}, map[chain.Hash]stagedWindow{}
	for _, player := range []chain.Hash{ana, ben} {
		kept[player], writing[player] = s.newWindow(player), s.newWindow(player)
		s.fillWindow(kept[player], player)
	}
	s.newWindow(dan) // for whoever lists his
	owner := func(by caller) chain.Hash {
		if _, there := kept[by.player]; there {
			return by.player
		}
		return ana
	}
	id := func(w stagedWindow) string { return model.GlobalID(model.WindowKind, w.id) }
	for name, value := range map[string]func(caller) any{
		"window":          func(by caller) any { return id(kept[owner(by)]) },
		"entry":           func(by caller) any { return kept[owner(by)].entry },
		"idContextWindow": func(by caller) any { return id(kept[owner(by)]) },
		"writing":         func(by caller) any { return id(writing[owner(by)]) },
		"writingEntry":    func(by caller) any { return writing[owner(by)].entry },
		"writingSegment":  func(by caller) any { return writing[owner(by)].segment },
		"going":           func(by caller) any { return id(s.newWindow(owner(by))) },
		"writingItem":     func(by caller) any { return s.write(writing[owner(by)], owner(by), window.UserMessage, "said").Item.ID },
		"writingOperation": func(by caller) any {
			return s.write(writing[owner(by)], owner(by), window.Knowledge, "hotel").Operation.ID
		},
	} {
		s.values[name] = value
	}
}
