package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/selection"
)

// sees tells how many messages a token shows.
func (s *site) sees(token string) float64 {
	s.t.Helper()
	r := s.ask(token, "{messages{totalCount}}", nil).reply(s.t)
	messages, _ := r.Data["messages"].(map[string]any)
	n, _ := messages["totalCount"].(float64)
	return n
}

const sayOne = "mutation($m: MessageInput!) { appendMessages(messages: [$m]) { hash } }"

// Who is no member of a session and appends to it, naming themself, gets NOT_FOUND and gains nothing, whatever else they
// send; and what they get tells nothing of the session.
func TestStrangersGainNothing(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, fenced, config.Server{})
			first := says(ana, "theirs", "Ana's", ben)
			first.IdempotencyKey, first.ThreadHash = ptr("Ana's key"), ptr(sumOf("their thread"))
			own := says(dan, "dan's", "Dan's own")
			own.IdempotencyKey = ptr("Dan's key")
			written := s.append(first, says(ben, "theirs", "Ben's", ana), own)
			head := written[1].Hash
			chosen, err := s.As(dan).RequestContext(t.Context(), selection.Request{Query: "own", Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			id := model.GlobalID("ContextSelection", chosen.ID)
			token := s.token(auth.Agent, dan, auth.AllScopes)
			with := func(fields ...any) object {
				m := object{"sessionHash": written[0].SessionHash, "ownerId": dan, "playerIds": []chain.Hash{dan, ana}, "masterPlayer": dan, "content": "let me in"}
				for i := 0; i < len(fields); i += 2 {
					m[fields[i].(string)] = fields[i+1]
				}
				return m
			}
			var told []string
			for name, m := range map[string]object{
				"alone":                    with(),
				"with the head":            with("prevHash", head),
				"with a wrong head":        with("prevHash", written[0].Hash),
				"with an invented head":    with("prevHash", sumOf("invented")),
				"in the thread":            with("threadHash", sumOf("their thread")),
				"with a key of Ana's":      with("idempotencyKey", "Ana's key"),
				"citing the first":         with("refs", []object{{"hash": written[0].Hash, "type": "CONTEXT"}}),
				"as sent by a system":      with("eventType", "SYSTEM", "role", "system"),
				"before anything was said": with("createdAt", "1999-01-01T00:00:00Z"),
			} {
				r := s.ask(token, sayOne, object{"m": m}).reply(t)
				if m["refs"] != nil { // as in a session that is free: see TestForeignSessionIsAsFreeUntilWritten
					if r.code() != "BAD_USER_INPUT" || !strings.Contains(r.Errors[0].Message, "refs[0].hash") {
						t.Errorf("%s: %+v, want BAD_USER_INPUT of the ref", name, r)
					}
				} else if r.code() != "NOT_FOUND" {
					t.Errorf("%s: %+v, want NOT_FOUND", name, r)
					continue
				} else {
					told = append(told, r.Errors[0].Message)
				}
				delete(m, "refs")
				again := s.ask(token, "mutation($s: ID!, $m: MessageInput!) { recordSelection(selection: $s, message: $m) { hash } }", object{"s": id, "m": m}).reply(t)
				if again.code() != "NOT_FOUND" {
					t.Errorf("%s, with a selection: %+v, want NOT_FOUND", name, again)
				}
			}
			for _, message := range told {
				if message != told[0] {
					t.Errorf("strangers are told %q and %q", told[0], message)
				}
			}
			for name, test := range map[string]struct {
				m    object
				code string
			}{
				"in Ana's name":                                {with("ownerId", ana), "FORBIDDEN"},
				"in Ana's name, with her key":                  {with("ownerId", ana, "idempotencyKey", "Ana's key", "content", "Ana's"), "FORBIDDEN"},
				"to their own, citing what they may":           {with("sessionHash", sumOf("session:dan's"), "refs", []object{{"hash": head, "type": "CONTEXT"}}), "BAD_USER_INPUT"},
				"as if an administrator had written it":        {with("sessionHash", sumOf("session:dan's"), "source", "x; by "+playerOf("admin").String()), "BAD_USER_INPUT"},
				"with a key of their own, for another message": {with("idempotencyKey", "Dan's key"), "CONFLICT"},
			} {
				if r := s.ask(token, sayOne, object{"m": test.m}).reply(t); r.code() != test.code {
					t.Errorf("%s: %+v, want %s", name, r, test.code)
				}
			}
			// A call whose last message is to a session of others writes none of the others.
			both := "mutation($a: MessageInput!, $b: MessageInput!) { appendMessages(messages: [$a, $b]) { hash } }"
			if r := s.ask(token, both, object{"a": with("sessionHash", sumOf("session:dan's")), "b": with()}).reply(t); r.code() != "NOT_FOUND" || !strings.Contains(r.Errors[0].Message, "messages[1]") {
				t.Errorf("one's own and another's: %+v, want NOT_FOUND for the second", r)
			}
			if n := s.sees(token); n != 1 {
				t.Errorf("Dan sees %v messages, want his own", n)
			}
			if n := count(t, connect(t, s.Instance.URL), fmt.Sprintf("SELECT count(*) FROM log.members WHERE player = '%s' AND session_hash = '%s'", dan, written[0].SessionHash)); n != 0 {
				t.Error("Dan is a member")
			}
			if n := s.sees(s.token(auth.Client, ana, 0)); n != 2 {
				t.Errorf("Ana sees %v messages, want two: nothing was written", n)
			}
		})
	}
}

// What is not written for another reason is answered byte for byte alike, whether a session is another's or nobody's.
func TestForeignSessionIsAnsweredAsFree(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, fenced, config.Server{})
			own := says(dan, "dan's", "Dan's own")
			own.IdempotencyKey = ptr("Dan's key")
			written := s.append(says(ana, "theirs", "Ana's", ben), says(ben, "theirs", "Ben's", ana), own)
			chosen, err := s.As(dan).RequestContext(t.Context(), selection.Request{Query: "own", Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			token := s.token(auth.Agent, dan, auth.AllScopes)
			message := func(session chain.Hash, fields object) object {
				m := object{"sessionHash": session, "ownerId": dan, "playerIds": []chain.Hash{dan}, "content": "let me in"}
				maps.Copy(m, fields)
				return m
			}
			for name, wrong := range map[string]object{
				"an owner":              {"ownerId": ana},
				"the head":              {"prevHash": written[1].Hash},
				"an invented head":      {"prevHash": sumOf("invented")},
				"a hidden ref":          {"refs": []object{{"hash": written[0].Hash, "type": "CONTEXT"}}},
				"an invented ref":       {"refs": []object{{"hash": sumOf("invented"), "type": "CONTEXT"}}},
				"a used key":            {"idempotencyKey": "Dan's key"},
				"a key of the server's": {"idempotencyKey": "event:1"},
				"an event of erasure":   {"eventType": "ERASURE"},
				"an importance":         {"importance": 3},
				"an administrator's":    {"source": "x; by " + playerOf("admin").String()},
				"no content":            {"content": ""},
				"a year":                {"createdAt": "-1-01-01T00:00:00Z"},
				"attachments":           {"attachments": "\u0000"},
			} {
				var told [2][]string
				for i, session := range []chain.Hash{written[0].SessionHash, sumOf("session:nobody's")} {
					for _, list := range [][]object{
						{message(session, wrong)},
						{message(session, nil), message(session, wrong)},
						{message(session, nil), message(own.SessionHash, wrong)},
						{message(own.SessionHash, wrong), message(session, nil)},
					} {
						a := s.ask(token, "mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", object{"m": list})
						told[i] = append(told[i], fmt.Sprint(a.status, string(a.body)))
					}
					m := message(session, wrong)
					if delete(m, "refs"); m["prevHash"] == nil && wrong["refs"] != nil {
						continue // would be written where it is free
					}
					a := s.ask(token, "mutation($s: ID!, $m: MessageInput!) { recordSelection(selection: $s, message: $m) { hash } }", object{"s": model.GlobalID("ContextSelection", chosen.ID), "m": m})
					told[i] = append(told[i], fmt.Sprint(a.status, string(a.body)))
				}
				if diff := cmp.Diff(told[0], told[1]); diff != "" {
					t.Errorf("%s: another's session (-) and a free one (+): %s", name, diff)
				}
				for _, answer := range told[1] {
					if !strings.Contains(answer, `"errors"`) {
						t.Errorf("%s: it was written: %s", name, answer)
					}
				}
			}
			if n := s.sees(token); n != 1 {
				t.Errorf("Dan sees %v messages, want his own", n)
			}
		})
	}
}

// Two who start the same session at the same time over HTTP: one does, the other gets NOT_FOUND and sees nothing of it.
func TestSessionStartedAtOnceOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, config.Server{})
	tokens := []string{s.token(auth.Agent, ana, auth.AllScopes), s.token(auth.Agent, dan, auth.AllScopes)}
	const rounds = 25
	for i := range rounds {
		answers := make(chan answer, 2)
		for n, token := range tokens {
			go func() {
				player := []chain.Hash{ana, dan}[n]
				answers <- s.ask(token, sayOne, object{"m": object{"sessionHash": sumOf("race %d", i), "ownerId": player, "playerIds": []chain.Hash{player}, "content": "mine"}})
			}()
		}
		refused := 0
		for range tokens {
			a := <-answers
			if r := a.reply(t); a.status == http.StatusOK && r.code() == "NOT_FOUND" {
				refused++
			} else if r.code() != "" {
				t.Errorf("an append: %s", a.body)
			}
		}
		if refused != 1 {
			t.Fatalf("%d of two were refused, want 1", refused)
		}
	}
	if a, b := s.sees(tokens[0]), s.sees(tokens[1]); a+b != rounds {
		t.Errorf("they see %v and %v, want %d together", a, b, rounds)
	}
}

// What an administrator does goes on record where nobody else looks, though its name can be guessed: not for who was there
// first, nor for who appends later.
func TestNobodyWaitsInAnAuditSession(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, config.Server{})
	s.append(says(ana, "theirs", "Ana's", ben))
	token := s.token(auth.Agent, dan, auth.AllScopes)
	squat := func(owner chain.Hash) reply {
		return s.ask(token, sayOne, object{"m": object{"sessionHash": db.AuditSession(owner), "ownerId": dan, "playerIds": []chain.Hash{dan}, "content": "waiting"}}).reply(t)
	}
	gil := playerOf("gil")
	administrator := s.token(auth.Admin, gil, 0)
	if r := squat(gil); r.code() != "" {
		t.Errorf("a session of this name that nobody began: %+v", r)
	}
	if r := s.ask(administrator, "{messages{edges{node{content}}}}", nil).reply(t); r.code() != "" {
		t.Fatalf("an administrator reads: %+v", r)
	}
	if n := count(t, connect(t, s.Instance.URL), fmt.Sprintf("SELECT count(*) FROM log.messages WHERE owner_id = '%s' AND event_type = 'system'", gil)); n == 0 {
		t.Error("what the administrator read is not on record")
	}
	if n := s.sees(token); n != 1 {
		t.Errorf("Dan sees %v messages, want his own: he looks on", n)
	}
	if r := squat(playerOf("admin")); r.code() != "NOT_FOUND" { // who made the tokens
		t.Errorf("an audit session that is there: %+v, want NOT_FOUND", r)
	}
	if r := squat(dan); r.code() != "FORBIDDEN" {
		t.Errorf("one's own audit session: %+v, want FORBIDDEN", r)
	}
}

// A token opens no more than itself: who has one of an agent's cannot make themself an administrator, nor lend scopes.
func TestTokensOpenNoMore(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, config.Server{})
	s.append(says(ana, "theirs", "Ana's", ben))
	weak := s.token(auth.Agent, dan, auth.TokensManage|auth.LogRead)
	for name, test := range map[string]struct{ input, code string }{
		"an administrator":        {"{kind: ADMIN}", "FORBIDDEN"},
		"another player":          {fmt.Sprintf("{kind: CLIENT, player: %q}", ana), "FORBIDDEN"},
		"a scope that it lacks":   {`{kind: AGENT, scopes: ["log:append"]}`, "FORBIDDEN"},
		"a hook's scope":          {"{kind: HOOK}", "FORBIDDEN"},
		"no scopes at all":        {"{kind: AGENT, scopes: []}", "BAD_USER_INPUT"},
		"for longer than a year":  {`{kind: AGENT, expiresAt: "2099-01-01T00:00:00Z"}`, "BAD_USER_INPUT"},
		"a scope that is none":    {`{kind: AGENT, scopes: ["admin"]}`, "BAD_USER_INPUT"},
		"its own scopes, as ever": {`{kind: CLIENT, scopes: ["log:read"]}`, ""},
	} {
		if r := s.ask(weak, "mutation { createToken(input: "+test.input+") { secret } }", nil).reply(t); r.code() != test.code {
			t.Errorf("%s: %+v, want %q", name, r, test.code)
		}
	}
	if n := s.sees(weak); n != 1 {
		t.Errorf("Dan sees %v messages, want the record of the token that he made", n)
	}
	r := s.ask(weak, "{messages{totalCount} seal{condition}}", nil).reply(t)
	if r.code() != "FORBIDDEN" {
		t.Errorf("one field of two: %+v, want FORBIDDEN", r)
	}
	for _, token := range []string{"cmadm_" + strings.TrimPrefix(weak, "cmagt_"), strings.ToUpper(weak), weak[:len(weak)-1], weak + "0"} {
		if a := s.ask(token, "{__typename}", nil); a.status != http.StatusUnauthorized {
			t.Errorf("a token that was altered: %d", a.status)
		}
	}
}
