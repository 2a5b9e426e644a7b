package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// belongings are what a player may name.
type belongings struct {
	player chain.Hash
	base   map[string]string // literals by the name of an argument or a field of an input object, or field.argument
	keys   keys
	said   chain.Draft // in a session and a thread of their own, to be said again
	cited  []chain.Ref // a message of these, one of events, and a record
}

// citing is a message of the player's that cites theirs.
func (b belongings) citing() chain.Draft {
	d := b.said
	d.Refs = b.cited
	return d
}

// keys are what the cursors of lists are made of.
type keys struct {
	message                  chain.Hash
	at                       time.Time
	selection, token, window string // by which it is told apart from others of the same time
	entry, operation         string
	number                   int64 // of a record, of a quarantine, of a message in its session
	user                     string
}

// cursor encodes what a list's cursor holds, for the list that takes an argument.
func (k keys) cursor(a argument) string {
	names := make([]string, len(a.via))
	for i, f := range a.via {
		names[i] = f.Name
	}
	switch list := strings.Join(names, "."); list {
	case "messages":
		return cursor.Messages.Encode(k.message)
	case "sessions":
		return cursor.Sessions.Encode(k.message)
	case "threads":
		return cursor.Threads.Encode(k.message)
	case "thread.messages":
		return cursor.ThreadMessages.Encode(k.message)
	case "message.citedBy", "threadEvents.citedBy":
		return cursor.CitedBy.Encode(k.message)
	case "record.citedBy":
		return cursor.RecordCitedBy.Encode(k.message)
	case "session.messages":
		return cursor.SessionMessages.Encode(k.number)
	case "records":
		return cursor.Records.Encode(k.number)
	case "quarantines":
		return cursor.Quarantines.Encode(k.number)
	case "components":
		return cursor.AllComponents.Encode(db.ComponentKey{Namespace: "plu", Key: k.user})
	case "selections":
		return cursor.AllSelections.Encode(db.SelectionKey{At: k.at, ID: k.selection})
	case "record.usedBy":
		return cursor.RecordSelections.Encode(db.SelectionKey{At: k.at, ID: k.selection})
	case "quarantine.selections":
		return cursor.QuarantineSelections.Encode(db.SelectionKey{At: k.at, ID: k.selection})
	case "tokens":
		return cursor.AllTokens.Encode(db.TokenKey{At: k.at, ID: k.token})
	case "windows":
		return cursor.AllWindows.Encode(db.WindowKey{At: k.at, ID: k.window})
	case "window.scratchpad":
		return cursor.WindowScratchpad.Encode(k.entry)
	case "window.operations":
		return cursor.WindowOperations.Encode(k.operation)
	default:
		panic("nothing is known of the cursors of " + list)
	}
}

// belongings makes some of a player's.
func (s *stage) belongings(player chain.Hash) belongings {
	s.t.Helper()
	key := map[chain.Hash]string{cleo: "cleo", dan: "dan"}[player]
	quoted := func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) }
	chosen := s.choose(player, "harbour")
	record := s.values["record"](caller{}).(chain.Hash)
	if _, err := s.As(player).RequestContext(s.t.Context(), selection.Request{Query: "the title of the text", Limit: 5}); err != nil { // holds the record
		s.t.Fatal(err)
	}
	draft := says(player, key+" again", "mine")
	draft.ThreadHash = ptr(sumOf("thread of %s", key))
	mine := s.append(draft)[0]
	s.upsert(component.Draft{Namespace: "plu", Key: "guess"})
	event := s.append(tells(key, "guess", "t", "mine"))[0]
	talk, err := s.StartConversation(s.t.Context(), memory.Client, "guess", player)
	if err != nil {
		s.t.Fatal(err)
	}
	own := s.newWindow(player)
	token, _ := s.newToken(auth.Draft{Role: auth.Client, Player: player})
	of := belongings{player: player, said: draft, cited: []chain.Ref{{Type: chain.RefContext, Hash: mine.Hash}, {Type: chain.RefContext, Hash: event.Hash}, {Type: chain.RefSecretary, Hash: record}}}
	s.append(of.citing())
	of.keys = keys{
		message: mine.Hash, at: time.Now(), selection: chosen.ID, token: token, window: own.id, entry: own.entry,
		operation: s.write(own, player, window.UserMessage, "said").Operation.ID, number: 1, user: "guess",
	}
	of.base = map[string]string{
		"sessionHash": `"$SESSION"`, "ownerId": quoted(player), "content": `"said"`,
		"hash": quoted(mine.Hash), "message": quoted(mine.Hash), "type": "CONTEXT", "selection": quoted(model.GlobalID("ContextSelection", chosen.ID)), "query": `"harbour"`,
		"id": quoted(model.GlobalID("Message", mine.Hash.String())), "reason": `"why"`, "namespace": "PLY", "key": quoted(key),
		"kind": "AGENT", "name": `"none"`, "from": "0", "to": "0", "count": "5", "at": `"2026-01-01T00:00:00Z"`, "book": `"b"`, "title": `"t"`, "search": `"harbour"`,
		"conversation": quoted(talk.ID), "user": `"u"`, "assistant": `"a"`, "input": `"i"`, "rolePrompt": `"r"`, "role": "CLIENT", "userId": `"guess"`, "state": "{}",
		"agent": quoted(key), "threadId": `"t"`, "last": "5",
		"conversation.id": quoted(talk.ID), "deleteConversation.id": quoted(talk.ID),
		"session.hash": quoted(mine.SessionHash), "verifySession.hash": quoted(mine.SessionHash), "thread.hash": quoted(mine.ThreadHash), "record.hash": quoted(record),
		"component.hash": quoted(player), "componentUsage.hash": quoted(player), "player": quoted(player),
		"contextSelection.id": quoted(model.GlobalID("ContextSelection", chosen.ID)), "replayContext.id": quoted(model.GlobalID("ContextSelection", chosen.ID)),
		"window": quoted(model.GlobalID(model.WindowKind, own.id)), "windows": quoted(model.GlobalID(model.WindowKind, own.id)), "entry": quoted(own.entry), "segment": quoted(own.segment),
		"items": quoted(inventedItem), "contents": `"aside"`, "description": `"a tool"`, "operation": quoted(inventedUUID),
		"window.id": quoted(model.GlobalID(model.WindowKind, own.id)), "deleteWindow.id": quoted(model.GlobalID(model.WindowKind, inventedUUID)), "scratchpadEntry.id": quoted(own.entry),
		"writeContext.type": "USER_MESSAGE", "writeToSegment.type": "USER_MESSAGE",
	}
	return of
}
