package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/memory"
)

// Conversations of the same user: with Ana as the assistant, and in the other world one with Cleo.
const (
	ownTalk    = "client:u1:00000000-0000-4000-8000-000000000001"
	hiddenTalk = "client:u1:00000000-0000-4000-8000-000000000002"
)

// talk puts a conversation with something in its memory into a world.
func (w *worlds) talk(s *site, id string, assistant chain.Hash) {
	w.other.t.Helper()
	session := chain.Sum([]byte(id))
	runSQL(w.other.t, s.database, `INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, history, state, created_at, last_activity, expires_at)
		VALUES ($1, 'client', 'u1', $2, $3, $4, jsonb_build_array(jsonb_build_object('role', 'user', 'content', 'classified harbour', 'at', '2020-01-01T00:00:00Z', 'message', $5::TEXT)),
			'{"a": 1}', $6, $6, $6::TIMESTAMPTZ + INTERVAL '1 day')`,
		id, memory.Person(memory.Client, "u1"), assistant, session, w.mine[0].Hash, longAgo)
}

// Windows: Ana's, in both worlds, and in the other the first of Cleo's, and Ben's.
const (
	ownWindow    = "00000000-0000-4000-8000-000000000020"
	hiddenWindow = "00000000-0000-4000-8000-000000000010"
	bensWindow   = "00000000-0000-4000-8000-000000000030"
)

// window puts one with an item, an entry and a tool into a world.
func (w *worlds) window(s *site, id string, agent chain.Hash) {
	w.other.t.Helper()
	runSQL(w.other.t, s.database, `INSERT INTO memory.windows (id, name, agent, task, capacity, encoding, used, created_at) VALUES ($1, 'harbour', $2, 'classified harbour', 8192, 'o200k_base', 7, $3)`, id, agent, longAgo)
	runSQL(w.other.t, s.database, `INSERT INTO memory.window_items (id, window_id, place, type, key, content, tokens, quality, observed_at, added_at, summary_of, injected)
		VALUES (substr(md5($1), 1, 12), $1::TEXT::UUID, 1, 'user_message', '', 'classified harbour', 5, '{"relevance": 1, "freshness": 1, "accuracy": 0.9, "completeness": 1, "consistency": 1}', $2, $2, '{}', FALSE)`, id, longAgo)
	runSQL(w.other.t, s.database, `INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, observed_at, created_at) VALUES ($3, $1::TEXT::UUID, 'knowledge', '', 'the lantern harbour', 4, $2, $2)`, id, longAgo, stagedEntry(id))
	runSQL(w.other.t, s.database, `INSERT INTO memory.tools (window_id, name, description, schema, tokens, shown) VALUES ($1, 'lantern', 'lights the harbour', '{}', 2, TRUE)`, id)
	runSQL(w.other.t, s.database, `INSERT INTO memory.window_operations (id, window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us) VALUES ($1, $1, 'write', $3, $2, 8192, 0, 5, 10)`, id, agent, longAgo)
}

// stagedEntry is the id of the entry of a window's scratchpad.
func stagedEntry(id string) string {
	return strings.NewReplacer("0", "g", "1", "h", "8", "i", "9", "j").Replace(sumOf("entry of %s", id).String()[:12])
}

func random2() *rand.Rand { return rand.New(rand.NewPCG(9, 9)) }

// copied appends the same message to both worlds, to the same hash.
func (w *worlds) copied(d chain.Draft) chain.Message {
	w.other.t.Helper()
	for _, r := range d.Refs { // to what the first world does not have, the hash is found out in the other
		if slices.ContainsFunc(w.hidden, func(m chain.Message) bool { return m.Hash == r.Hash }) {
			m := w.other.append(d)[0]
			d.Original = &chain.Original{Hash: m.Hash, Salt: m.Salt}
			return w.one.append(d)[0]
		}
	}
	if slices.ContainsFunc(d.Refs, func(r chain.Ref) bool { return r.Hash == sumOf("not yet") }) {
		d.Refs = d.Refs[:len(d.Refs)-1]
	}
	m := w.one.append(d)[0]
	d.Original = &chain.Original{Hash: m.Hash, Salt: m.Salt}
	w.other.append(d)
	return m
}

// fillPools gathers what documents may name: one's own, hidden and invented alike.
func (w *worlds) fillPools() {
	quoted := func(list ...any) []string {
		out := make([]string, len(list))
		for i, v := range list {
			out[i] = fmt.Sprintf("%q", fmt.Sprint(v))
		}
		return out
	}
	token, _ := w.other.newToken(auth.Draft{Role: auth.Agent, Player: cleo})
	hidden := w.hidden[len(w.hidden)/2]
	hashes := map[string][]any{
		"message": {w.mine[0].Hash, w.mine[5].Hash, w.mine[15].Hash, w.mine[60].Hash, w.mine[119].Hash, w.mine[120].Hash, hidden.Hash, w.hidden[0].Hash, w.aside[0], w.aside[1], sumOf("invented")},
		"record":  {w.records[0].Hash, w.records[1].Hash},
		"session": {w.mine[0].SessionHash, w.mine[9].SessionHash, hidden.SessionHash, sumOf("invented")},
		"thread":  {sumOf("thread 0"), sumOf("thread 1"), sumOf("thread 3"), sumOf("invented")},
		"player":  {ana, ben, cleo, playerOf("gil"), sumOf("invented")},
		"thing":   {component.DefaultHash("hst", "thing"), component.DefaultHash("hst", "other"), component.DefaultHash("itm", "thing"), component.DefaultHash("loc", "thing")},
	}
	w.pools = map[string][]string{"word": slices.Clone(words), "hidden word": {"classified", "gil", "Lantern", "Bridge Two"}}
	for kind, list := range hashes {
		w.pools[kind] = quoted(list...)
		w.pools["Hash"] = append(w.pools["Hash"], quoted(list...)...)
	}
	for node, kinds := range map[string][]string{"Message": {"message"}, "Session": {"session"}, "Thread": {"thread"}, "Player": {"player"}, "Hashtag": {"thing"}, "Item": {"player"}, "Record": {"record", "message"}} {
		for _, kind := range kinds {
			for _, h := range hashes[kind] {
				w.pools["ID"] = append(w.pools["ID"], fmt.Sprintf("%q", model.GlobalID(node, fmt.Sprint(h))))
			}
		}
	}
	selections := []string{`"@0@"`, `"@1@"`, `"@2@"`, `"@3@"`}
	for _, id := range append(slices.Clone(w.kept), inventedUUID) {
		selections = append(selections, fmt.Sprintf("%q", model.GlobalID("ContextSelection", id)))
	}
	w.pools["selection"] = selections
	w.pools["ID"] = append(w.pools["ID"], selections...)
	w.pools["conversation"] = quoted(ownTalk, hiddenTalk, "client:u1:"+inventedUUID, "admin:u1:00000000-0000-4000-8000-000000000001")
	w.pools["changed conversation"] = quoted(ownTalk, hiddenTalk, "client:u1:"+inventedUUID)
	for _, id := range []string{ownWindow, ownWindow, ownWindow, hiddenWindow, bensWindow, inventedUUID} {
		w.pools["window"] = append(w.pools["window"], fmt.Sprintf("%q", model.GlobalID(model.WindowKind, id)))
	}
	w.pools["ID"] = append(w.pools["ID"], w.pools["window"]...)
	w.pools["entry"] = quoted(stagedEntry(ownWindow), stagedEntry(hiddenWindow), inventedItem)
	w.pools["user"] = quoted("u1", "u2")
	w.pools["agent"], w.pools["event thread"] = quoted("ana", "cleo", "nobody"), quoted("t1", "t2", "t3")
	w.pools["token"] = quoted(token, inventedUUID)
	for _, list := range []string{"messages", "sessions", "threads", "citedBy", "record.citedBy", "thread.messages"} {
		for _, h := range hashes["message"] {
			w.pools["cursor "+list] = append(w.pools["cursor "+list], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString([]byte(list+":"+fmt.Sprint(h)))))
		}
	}
	for list, keys := range map[string][]string{"windows": {"1614834367000000:" + ownWindow, "1614834367000000:" + hiddenWindow}, "window.scratchpad": {stagedEntry(ownWindow), stagedEntry(hiddenWindow)}, "window.operations": {ownWindow, hiddenWindow}} {
		for _, key := range keys {
			w.pools["cursor "+list] = append(w.pools["cursor "+list], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString([]byte(list+":"+key))))
		}
	}
	for _, n := range []int{1, 2, 7, 100} {
		w.pools["cursor session.messages"] = append(w.pools["cursor session.messages"], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "session.messages:%d", n))))
	}
	for _, list := range slices.Sorted(maps.Keys(w.pools)) {
		slices.Sort(w.pools[list])
	}
}
