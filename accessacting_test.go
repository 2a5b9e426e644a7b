package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/selection"
)

// That an administrator has acted for a player can be told from what the hash covers, and nobody else can write it: not in a
// message, a message with a selection, a conversation or an event, and not an administrator in another's name.
func TestActingCannotBeForged(t *testing.T) {
	t.Parallel()
	const secret = "a secret of a test"
	admin := auth.Administrator().Player
	mark := "; by " + admin.String()
	forged := []string{mark, "crm" + mark, "app" + mark, "app; BY  " + strings.ToUpper(admin.String()), "app, by: " + admin.String() + ".", "app" + mark + "\n", mark + "\u200b"}
	s := newSite(t, true, config.Server{HookSecrets: config.Secret("crm" + mark + "=" + secret)})
	s.append(says(dan, "dan's", "Dan's own"))
	chosen, err := s.As(dan).RequestContext(t.Context(), selection.Request{Query: "own", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	player, hook := s.token(auth.Agent, dan, auth.AllScopes), s.token(auth.Hook, dan, auth.EventsIngest)
	message := func(fields object) object {
		m := object{"sessionHash": sumOf("session:dan's"), "ownerId": dan, "content": "said"}
		for name, value := range fields {
			m[name] = value
		}
		return m
	}
	const select1 = "mutation($s: ID!, $m: MessageInput!) { recordSelection(selection: $s, message: $m) { hash source masterPlayer { hash } } }"
	const append1 = "mutation($m: MessageInput!) { appendMessages(messages: [$m]) { hash source masterPlayer { hash } } }"
	id := model.GlobalID("ContextSelection", chosen.ID)
	for _, source := range forged {
		for who, token := range map[string]string{"a player": player, "an administrator": s.admin} {
			m := message(object{"source": source, "masterPlayer": admin})
			if token == s.admin {
				m["ownerId"], m["sessionHash"] = admin, sumOf("session:admin's")
			}
			for name, r := range map[string]reply{
				"appended":         s.ask(token, append1, object{"m": m}).reply(t),
				"with a selection": s.ask(token, select1, object{"s": id, "m": m}).reply(t),
			} {
				if r.code() != "BAD_USER_INPUT" || !strings.Contains(r.Errors[0].Message, "source: ends in") {
					t.Errorf("%q by %s, %s: %+v, want it to be refused", source, who, name, r)
				}
			}
		}
		body, err := json.Marshal(object{"source": source, "agent": "a", "user_id": "u", "thread_id": "t", "role": "user", "content": "told"})
		if err != nil {
			t.Fatal(err)
		}
		s.deliver(t, http.StatusBadRequest, hook, string(body))
		if source == "crm"+mark {
			stamp, mac := fmt.Sprint(time.Now().Unix()), hmac.New(sha256.New, []byte(secret))
			fmt.Fprintf(mac, "%s.%s", stamp, body)
			s.deliver(t, http.StatusBadRequest, "", string(body), "X-Signature-Timestamp: "+stamp, fmt.Sprintf("X-Signature-256: sha256=%x", mac.Sum(nil)))
		}
	}

	// What can be written: the same message for a player by an administrator and by the player, who names the administrator
	// wherever one can be named; and an exchange by both.
	for _, token := range []string{player, s.admin} {
		m := message(object{"source": "app", "masterPlayer": admin, "playerIds": []chain.Hash{admin}})
		for name, r := range map[string]reply{"append": s.ask(token, append1, object{"m": m}).reply(t), "select": s.ask(player, select1, object{"s": id, "m": m}).reply(t)} {
			if r.code() != "" {
				t.Fatalf("%s: %+v", name, r)
			}
		}
		c := s.talk(t, player, "", `mutation { startConversation(role: CLIENT, userId: "42") { id } }`, nil).(map[string]any)["id"]
		s.talk(t, token, "", `mutation($c: String!, $s: JSON) { recordExchange(conversation: $c, user: "hola", assistant: "buenas", state: $s) { id } }`,
			object{"c": c, "s": object{"source": "conversation" + mark}})
	}
	if r := s.ask(s.admin, append1, object{"m": message(object{"playerIds": []chain.Hash{ana}})}).reply(t); r.code() != "" || !strings.Contains(fmt.Sprint(r.Data), mark) {
		t.Errorf("without a master player: %+v, want the mark", r)
	}
	s.deliver(t, http.StatusOK, hook, `{"source":"crm","agent":"a","user_id":"u","thread_id":"t","role":"user","content":"told","payload":{"source":"`+mark+`"}}`)
	rows, err := connect(t, s.database).Query(t.Context(), "SELECT source FROM log.messages WHERE source ~* 'by[^0-9a-f]*[0-9a-f]{64}' ORDER BY source COLLATE \"C\"")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var marked []string
	for rows.Next() {
		var source string
		if err := rows.Scan(&source); err != nil {
			t.Fatal(err)
		}
		marked = append(marked, source)
	}
	if want := []string{mark, "app" + mark, "conversation" + mark, "conversation" + mark}; !slices.Equal(marked, want) {
		t.Errorf("marked are %q, want %q: what the administrator has done, and nothing else", marked, want)
	}
}
