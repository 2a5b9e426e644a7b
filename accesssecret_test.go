package main

import (
	"slices"
	"time"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/window"
)

// secret is what nobody of the matrix's players but an administrator sees.
type secret struct {
	message        chain.Message
	player         chain.Hash
	idempotencyKey string
	window         stagedWindow
	item           string // of the window
	conversation   string
	strings        map[string][2]string // what events and conversations name things by
	keys, invented keys
}

// newSecret is a session of two strangers: one has a row, as a user too, and a selection, and cites and is cited. What cites
// is in quarantine.
func newSecret(s *site) secret {
	s.t.Helper()
	gil, hal := playerOf("gil"), playerOf("hal")
	for _, key := range []string{"gil", "hal"} {
		s.upsert(component.Draft{Namespace: "ply", Key: key, Name: ptr("Player " + key), Preferences: []string{"coffee"}})
	}
	s.upsert(component.Draft{Namespace: "plu", Key: "gil"})
	first := says(gil, "secret", "the harbour at night", hal)
	first.ThreadHash, first.IdempotencyKey = ptr(sumOf("secret thread")), ptr("secret key")
	message := s.append(first)[0]
	second := says(hal, "secret", "the second", gil)
	second.Refs, second.ThreadHash = []chain.Ref{{Type: chain.RefContext, Hash: message.Hash}}, first.ThreadHash
	if _, err := s.AsAdministrator(auth.Administrator(), nil).Quarantine(s.t.Context(), s.append(second)[0].Hash, "secret"); err != nil {
		s.t.Fatal(err)
	}
	token, _ := s.newToken(auth.Draft{Role: auth.Agent, Player: gil})
	kept := s.newWindow(gil)
	item := s.write(kept, gil, window.UserMessage, "the harbour at night").Item.ID
	rejected := s.write(kept, gil, window.Knowledge, "harbour").Operation.ID
	hidden := keys{
		message: message.Hash, at: time.Now(), selection: s.choose(gil, "harbour").ID, token: token, window: kept.id, entry: kept.entry, operation: rejected,
		number: message.ID, user: "gil",
	}
	talk, err := s.StartConversation(s.t.Context(), memory.Client, "gil", hal)
	if err != nil {
		s.t.Fatal(err)
	}
	s.append(tells("hal", "guess", "t", "a secret event")) // the same user and thread as belongings have, with another agent
	s.append(tells("hal", "guess", "secret-thread", "another"))
	return secret{
		message: message, player: gil, idempotencyKey: *first.IdempotencyKey, window: kept, item: item, keys: hidden, conversation: talk.ID.String(),
		strings: map[string][2]string{"agent": {"hal", "hel"}, "userId": {"gil", "gim"}},
		invented: keys{ // of the same moment, which its cursor tells by itself
			message: sumOf("invented message"), at: hidden.at, selection: inventedUUID, token: inventedUUID, window: inventedUUID, entry: inventedItem, operation: inventedUUID,
			number: message.ID + 1000, user: "gim",
		},
	}
}

const inventedItem = "aaaaaaaaaaaa"

const inventedUUID = "00000000-0000-4000-8000-000000000000"

// ofEvents tells whether an argument names the user or the thread of an agent's events.
func ofEvents(a argument) bool {
	return slices.Contains([]string{"userId", "threadId"}, a.path[0]) && slices.Contains([]string{"threadEvents", "userThreads"}, a.via[0].Name)
}

// pairs gives, by what they are, hidden and invented values for an argument.
func (h secret) pairs(a argument) map[string][2]string {
	invented := func(kind string) string { return sumOf("invented %s", kind).String() } // each asked for as often as a hidden one
	hidden := map[string]string{
		"message": h.message.Hash.String(), "session": h.message.SessionHash.String(), "thread": h.message.ThreadHash.String(), "player": h.player.String(),
	}
	pairs := map[string][2]string{}
	name := a.path[len(a.path)-1]
	switch {
	case name == "idempotencyKey":
		pairs[name] = [2]string{h.idempotencyKey, "another key"}
	case a.scalr == "Hash":
		for kind, value := range hidden {
			pairs[kind] = [2]string{value, invented(kind)}
		}
	case a.isCursor():
		pairs[name] = [2]string{h.keys.cursor(a), h.invented.cursor(a)}
	case a.scalr == "String" && (name == "conversation" || name == "id"):
		pairs[name] = [2]string{h.conversation, h.conversation[:len(h.conversation)-len(inventedUUID)] + inventedUUID}
	case ofEvents(a):
		pairs[name] = map[string][2]string{"userId": {"guess", "gim"}, "threadId": {"secret-thread", "invented-thread"}}[name]
	case a.scalr == "String":
		pair, known := h.strings[name]
		if !known {
			panic("nothing hidden is known of " + name)
		}
		pairs[name] = pair
	default:
		pairs["token"] = [2]string{h.keys.token, inventedUUID}
		pairs["window"] = [2]string{model.GlobalID(model.WindowKind, h.window.id), model.GlobalID(model.WindowKind, inventedUUID)}
		pairs["segment"] = [2]string{h.window.segment, inventedUUID}
		pairs["entry"] = [2]string{h.window.entry, inventedItem}
		pairs["item"] = [2]string{h.item, inventedItem}
		pairs["operation"] = [2]string{h.keys.operation, inventedUUID}
		pairs["selection"] = [2]string{model.GlobalID("ContextSelection", h.keys.selection), model.GlobalID("ContextSelection", inventedUUID)}
		for kind, value := range map[string]string{"Message": hidden["message"], "Session": hidden["session"], "Thread": hidden["thread"], "Player": hidden["player"], "Item": hidden["player"], "Record": hidden["message"]} {
			pairs[kind] = [2]string{model.GlobalID(kind, value), model.GlobalID(kind, invented(kind))}
		}
	}
	return pairs
}
