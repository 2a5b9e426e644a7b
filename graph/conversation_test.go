package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
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
