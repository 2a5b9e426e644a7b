package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/selection"
)

// stage is a site with what the matrix asks for.
type stage struct {
	*site
	callers map[string]caller
	message chain.Message // Ana's, which Ben and Eve see
	citing  chain.Message // which all see, sent with one that only Ben and Dan see
	cited   chain.Message // which all see, and one that only Ben and Dan see was sent with
	values  map[string]func(caller) any
}

// caller is a row of the matrix.
type caller struct {
	player chain.Hash
	token  string
}

// newStage fills a site.
func newStage(t *testing.T, s *site) *stage {
	t.Helper()
	st := &stage{site: s}
	st.peopleAndThings()
	st.cast()
	st.properties()
	st.windows()
	return st
}

// cast makes the callers' tokens. Agents' have every scope, so that no scope hides that something else lets them in.
func (s *stage) cast() {
	s.t.Helper()
	id, revoked := s.newToken(auth.Draft{Role: auth.Agent, Player: ana, Scopes: auth.AllScopes})
	if _, err := s.RevokeToken(s.t.Context(), id, auth.Administrator()); err != nil {
		s.t.Fatal(err)
	}
	_, expired := s.newToken(auth.Draft{Role: auth.Agent, Player: ana, Scopes: auth.AllScopes, Expires: ptr(time.Now().Add(time.Second))})
	s.soon("a token ends", func() bool { return s.ask(expired, "{__typename}", nil).status == http.StatusUnauthorized })
	s.callers = map[string]caller{
		"none":                 {ana, ""},
		"malformed":            {ana, auth.NewToken(auth.Agent) + "x"},
		"revoked":              {ana, revoked},
		"expired":              {ana, expired},
		"client in":            {ana, s.token(auth.Client, ana, 0)},
		"client out":           {cleo, s.token(auth.Client, cleo, 0)},
		"agent in":             {ben, s.token(auth.Agent, ben, auth.AllScopes)},
		"agent out":            {dan, s.token(auth.Agent, dan, auth.AllScopes)},
		"agent without scopes": {ben, s.token(auth.Agent, ben, auth.EventsIngest)},
		"hook":                 {ben, s.token(auth.Hook, ben, 0)},
		"session":              {ana, s.signIn(s.token(auth.Client, ana, 0))},
		"appender":             {ben, s.token(auth.Agent, ben, auth.LogAppend)},
		"admin appender":       {playerOf("admin"), s.token(auth.Admin, playerOf("admin"), auth.LogAppend)},
		"admin":                {playerOf("admin"), s.admin},
	}
}

// peopleAndThings appends what is asked for. In the session "shared" are Ana, Ben and Eve; Cleo and Dan are out.
func (s *stage) peopleAndThings() {
	s.t.Helper()
	for _, key := range []string{"ana", "ben", "cleo", "dan", "eve", "admin"} {
		s.upsert(component.Draft{Namespace: "ply", Key: key, Name: ptr("Player " + key), Preferences: []string{"tea"}})
	}
	for _, namespace := range []component.Namespace{"hst", "flg", "itm", "loc"} {
		s.upsert(component.Draft{Namespace: namespace, Key: "thing", Name: ptr("Thing")})
	}
	s.append(says(eve, "shared", "the first of the harbour", ana, ben))
	talk := says(ana, "shared", "the harbour is closed", ben, eve)
	talk.ThreadHash = ptr(sumOf("thread"))
	s.message = s.append(talk)[0]
	s.append(says(cleo, "cleo's", "my own harbour"), says(dan, "dan's", "a harbour of mine"))
	s.append(says(fay, "watched", "the beginning", ana, ben, cleo, dan, playerOf("admin")))
	s.record(knowledge.Draft{Kind: chain.RefSecretary, Book: "book", Title: "the title", Content: "the text"})
	s.cited = s.append(says(fay, "all", "all see this", ana, ben, cleo, dan))[0]
	hidden := says(ben, "pair", "only Ben and Dan see this", dan)
	hidden.Refs = []chain.Ref{{Type: chain.RefContext, Hash: s.cited.Hash}}
	citing := says(fay, "all", "sent with what only Ben and Dan see", ana, cleo, ben, dan)
	citing.Refs = []chain.Ref{{Type: chain.RefContext, Hash: s.append(hidden)[0].Hash}}
	s.citing = s.append(citing)[0]
	s.upsert(component.Draft{Namespace: "plu", Key: "visitor"})
	s.append(tells("ben", "visitor", "t", "the harbour is closed", ana))
	s.sealAll()
}

// tells is what an agent says to a user in a thread of events, with others who hear it.
func tells(agent, user, thread, content string, others ...chain.Hash) chain.Draft {
	session, ambient := ingest.EventThread(agent, user, thread), chain.JSON(fmt.Sprintf(`{"thread_id": %q}`, thread))
	return chain.Draft{
		SessionHash: session, ThreadHash: &session, OwnerID: playerOf(agent), PlayerIDs: append([]chain.Hash{component.DefaultHash("plu", user)}, others...),
		Role: ptr("assistant"), Importance: 1, Content: content, Ambient: &ambient,
	}
}

// properties gives the values of the documents' variables, by name, for a caller.
func (s *stage) properties() {
	s.t.Helper()
	fixed := func(v any) func(caller) any { return func(caller) any { return v } }
	id := func(kind, key string) func(caller) any { return fixed(model.GlobalID(kind, key)) }
	draft := func(owner chain.Hash, session string) object {
		return object{"sessionHash": sumOf("session:%s", session).String(), "ownerId": owner.String(), "content": "said"}
	}
	thing := func(namespace component.Namespace) string {
		return component.DefaultHash(namespace, "thing").String()
	}
	record, err := s.Records(s.t.Context(), db.RecordFilter{}, db.Page[int64]{Limit: 1})
	if err != nil {
		s.t.Fatal(err)
	}
	chosen := map[chain.Hash]selection.Selection{ana: s.choose(ana, "harbour"), ben: s.choose(ben, "harbour")}
	selected := func(by caller) any {
		of, ok := chosen[by.player]
		if !ok {
			of = chosen[ana]
		}
		return model.GlobalID("ContextSelection", of.ID)
	}
	token := func(role auth.Role, player chain.Hash) string {
		made, _ := s.newToken(auth.Draft{Role: role, Player: player, Scopes: auth.LogRead})
		return made
	}
	token(auth.Client, eve) // for whoever lists hers
	fresh := func(owner chain.Hash) any { return s.append(says(owner, "shared", "fresh", ana, ben, eve))[0].Hash }
	var n atomic.Int64
	s.values = map[string]func(caller) any{
		"message": fixed(s.message.Hash), "session": fixed(s.message.SessionHash), "thread": fixed(s.message.ThreadHash),
		"watched": fixed(sumOf("session:watched")), "watchedThread": fixed(sumOf("thread:watched")), "citing": fixed(s.citing.Hash), "cited": fixed(s.cited.Hash),
		"ana": fixed(ana), "eve": fixed(eve), "me": func(by caller) any { return by.player },
		"tag": fixed(thing("hst")), "record": fixed(record.Items[0].Value.Hash),
		"idMessage": id("Message", s.message.Hash.String()), "idSession": id("Session", s.message.SessionHash.String()),
		"idThread": id("Thread", s.message.ThreadHash.String()), "idPlayer": id("Player", eve.String()),
		"idHashtag": id("Hashtag", thing("hst")), "idFlag": id("Flag", thing("flg")), "idItem": id("Item", thing("itm")),
		"idLocation": id("Location", thing("loc")), "idRecord": id("Record", record.Items[0].Value.Hash.String()),
		"idContextSelection": selected,
		"draft":              func(by caller) any { return draft(by.player, "shared") },
		"sentWith": func(by caller) any {
			d := draft(by.player, "shared")
			d["refs"] = []object{{"hash": s.message.Hash, "type": "CONTEXT"}}
			d["hashtags"], d["flagId"], d["masterItemId"], d["locationId"] = []string{thing("hst")}, thing("flg"), thing("itm"), thing("loc")
			return d
		},
		"eves": func(by caller) any { return draft(eve, "shared") },
		"first": func(by caller) any {
			return draft(by.player, fmt.Sprint("new ", n.Add(1)))
		},
		"mine": func(by caller) any {
			for _, key := range []string{"ana", "ben", "cleo", "dan", "admin"} {
				if playerOf(key) == by.player {
					return object{"namespace": "PLY", "key": key, "description": "myself"}
				}
			}
			return nil
		},
		"fresh": func(by caller) any {
			if by.player == ben {
				return fresh(ben)
			}
			return fresh(ana)
		},
		"freshEves":    func(caller) any { return fresh(eve) },
		"conversation": func(caller) any { return s.converse().String() },
		"chatter":      func(caller) any { return s.converse().UserID },
		"token":        func(by caller) any { return token(auth.Client, by.player) },
		"tokenEves":    func(caller) any { return token(auth.Client, eve) },
		"tokenAdmins":  func(by caller) any { return token(auth.Admin, by.player) },
	}
}

// conversers counts those whom converse makes up.
var conversers atomic.Int64

// converse starts a conversation of Ana, under a user of her own, with Ben's agent, in which something was said.
func (s *stage) converse() memory.ID {
	s.t.Helper()
	c, err := s.StartConversation(s.t.Context(), memory.Client, fmt.Sprint("user-", conversers.Add(1)), ben)
	if err != nil {
		s.t.Fatal(err)
	}
	runSQL(s.t, s.database, "UPDATE memory.conversations SET person = $1 WHERE id = $2", ana, c.ID.String())
	if _, err = s.RecordExchange(s.t.Context(), c.ID, db.Exchange{User: "is the harbour open?", Assistant: "it is closed"}, ben); err != nil {
		s.t.Fatal(err)
	}
	return c.ID
}
