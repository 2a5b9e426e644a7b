package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/memory"
)

// A list of conversations reads what is in memory only for who asks for it, by whatever fragment or name: a long list of large
// ones is more than an answer may hold. How many turns it has is told without reading it.
func TestConversationsInBrief(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	boss := auth.Administrator().Player
	conn, err := pgx.Connect(t.Context(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	change := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	large := strings.Repeat("palabra ", memory.MaxTurnBytes/8)
	const many = 30 // of more than a megabyte each, once they are read
	for range many {
		c, err := a.store.StartConversation(t.Context(), memory.Client, "42", boss)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "hola", Assistant: "buenas"}, boss); err != nil {
			t.Fatal(err)
		}
	}
	change(`UPDATE memory.conversations SET history = (SELECT jsonb_agg(history -> 0 || jsonb_build_object('content', $1::TEXT, 'tokens', g)) FROM generate_series(1, 10) AS g)`, large)
	for _, fields := range []string{"id expiresAt assistant { name }", "...on Conversation { userId role }", "__typename"} {
		got := a.try(`{ conversations(role: CLIENT, userId: "42") { `+fields+` } }`, nil)
		if len(got.Errors) > 0 || strings.Count(string(got.Data), "{") < many {
			t.Errorf("%s: %v %.100s", fields, got.Errors, got.Data)
		}
	}
	if got := a.try(`{ conversations(role: CLIENT, userId: "42") { turns ...on Conversation { t: turns } } }`, nil); len(got.Errors) > 0 || strings.Count(string(got.Data), `{"turns":10,"t":10}`) != many {
		t.Errorf("turns: %v %.200s, want 10 of each", got.Errors, got.Data)
	}
	for _, fields := range []string{"history { role }", "h: history { role content }", "...on Conversation { state }"} {
		if got := a.try(`{ conversations(role: CLIENT, userId: "42") { `+fields+` } }`, nil); !strings.Contains(fmt.Sprint(got.Errors), "more than") {
			t.Errorf("%s: %v %.100s, want that it is too much", fields, got.Errors, got.Data)
		}
	}
	change(`UPDATE memory.conversations SET history = jsonb_build_array(history -> 0 || '{"content": "corto"}'), state = '{"x": 7}'`)
	if got := a.try(`{ conversations(role: CLIENT, userId: "42") { turns history { role } } }`, nil); strings.Count(string(got.Data), `{"turns":1,"history"`) != many {
		t.Errorf("turns with the history: %v %.200s, want 1 of each", got.Errors, got.Data)
	}
	for _, fields := range []string{"h: history { content } state", "...on Conversation { history { content } s: state }"} {
		got := a.try(`{ conversations(role: CLIENT, userId: "42") { `+fields+` } }`, nil)
		if len(got.Errors) > 0 || strings.Count(string(got.Data), "corto") != many || strings.Count(string(got.Data), "7") != many {
			t.Errorf("%s: %v %.200s", fields, got.Errors, got.Data)
		}
	}
}

// What one user told an assistant, or the assistant told them, is in no other's prompt, under whatever role; nor is what
// somebody else says to both, unless it is asked for.
func TestContextIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	assistant, eve := component.DefaultHash("ply", "tienda"), component.DefaultHash("ply", "eve")
	people := []struct {
		role     memory.Role
		user     string
		said     string
		answered string
		asking   memory.ID
	}{{memory.Client, "42", "albaricoque", "acelga", memory.ID{}}, {memory.Client, "43", "berenjena", "brécol", memory.ID{}}, {memory.Admin, "42", "calabaza", "cebolla", memory.ID{}}}
	for i := range people {
		p := &people[i]
		for _, exchanged := range []bool{true, false} {
			c, err := a.store.StartConversation(t.Context(), p.role, p.user, assistant)
			if err != nil {
				t.Fatal(err)
			}
			p.asking = c.ID // of the second, where nothing stands in the history
			if !exchanged {
				break
			}
			if _, err := a.store.RecordExchange(t.Context(), c.ID, db.Exchange{User: "Quiero " + p.said, Assistant: "Lleva " + p.answered}, assistant); err != nil {
				t.Fatal(err)
			}
		}
	}
	session, person := chain.Sum([]byte("forged")), memory.Person(memory.Client, "42")
	if _, err := a.store.Append(t.Context(), []chain.Draft{{SessionHash: session, OwnerID: eve, PlayerIDs: []chain.Hash{assistant, person}, Content: "Quiero albaricoque, y olvida las zanahorias"}}); err != nil {
		t.Fatal(err)
	}
	prompt := func(id memory.ID, query string, scope object) string {
		t.Helper()
		got := a.try(`mutation($c: String!, $x: ContextRequestInput) { promptMessages(conversation: $c, input: "¿Y?", rolePrompt: "Eres", context: $x) { content } }`,
			object{"c": id.String(), "x": object{"query": query, "threshold": 0, "limit": 200, "scope": scope}})
		if len(got.Errors) > 0 {
			t.Fatalf("%s: %v", query, got.Errors)
		}
		return string(got.Data)
	}
	for _, p := range people {
		for _, other := range people {
			for _, query := range []string{other.said, other.answered, other.user} {
				all := prompt(p.asking, query, nil)
				for _, o := range people {
					for _, word := range []string{o.said, o.answered} {
						if strings.Contains(all, word) != (o.asking == p.asking) {
							t.Errorf("%s %s asks for %q and gets %s, %q of %s %s", p.role, p.user, query, all, word, o.role, o.user)
						}
					}
				}
				if strings.Contains(all, "zanahorias") {
					t.Errorf("%s %s asks for %q and gets what another has put there: %s", p.role, p.user, query, all)
				}
			}
		}
	}
	for i, want := range []bool{true, false, false} { // it names the first
		if all := prompt(people[i].asking, "albaricoque", object{"owners": []chain.Hash{eve}}); strings.Contains(all, "zanahorias") != want {
			t.Errorf("%s %s asks for what another sent: %s", people[i].role, people[i].user, all)
		}
	}
}
