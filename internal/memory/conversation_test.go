package memory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"42", "user_42", "ana@example.org", "auth0|7", "ñandú"} {
		made, err := NewID(Client, user)
		if err != nil {
			t.Fatal(err)
		}
		read, err := ParseID("id", made.String())
		if err != nil || read != made {
			t.Errorf("%s is read as %v, %v", made, read, err)
		}
		other := made
		other.Role = Admin
		if other.Session() == made.Session() || Person(Admin, user) == Person(Client, user) {
			t.Errorf("the client %s and the administrator %s are one", user, user)
		}
	}
	const id = "01234567-89ab-4cde-8f01-23456789abcd"
	for _, text := range []string{
		"", ":", "client:42", "client:42:", "client::" + id, "guest:42:" + id, "Client:42:" + id, "client:4:2:" + id, "client:4 2:" + id,
		"client:42:" + strings.ToUpper(id), "client:42:{" + id + "}", "client:42:" + id + "\n", "client:42:urn:uuid:" + id, "client:\x00:" + id,
		"client:\u200b:" + id, "client:" + strings.Repeat("x", MaxUserBytes+1) + ":" + id, "client:\xff:" + id,
	} {
		if got, err := ParseID("id", text); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
}

// Never more than MaxTurns, always the newest, in order.
func TestHistoryKeepsTheNewest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Conversation
		var all []string
		for range rapid.IntRange(0, 30).Draw(t, "exchanges") {
			n := len(all)
			user, answer := fmt.Sprint("u", n), fmt.Sprint("a", n)
			c.Say(Turn{Role: User, Content: user}, Turn{Role: Assistant, Content: answer})
			all = append(all, user, answer)
		}
		want := all[max(0, len(all)-MaxTurns):]
		if len(c.History) != len(want) {
			t.Fatalf("%d turns of %d", len(c.History), len(all))
		}
		for i, turn := range c.History {
			if turn.Content != want[i] {
				t.Fatalf("turn %d is %q, want %q", i, turn.Content, want[i])
			}
		}
	})
}

// What was said before is not changed where somebody else holds it.
func TestSayCopies(t *testing.T) {
	t.Parallel()
	c := Conversation{History: make([]Turn, 2, 8)}
	before := c
	c.Say(Turn{Content: "one"})
	before.Say(Turn{Content: "two"})
	if c.History[2].Content != "one" {
		t.Errorf("a turn became %q", c.History[2].Content)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ have, patch, want string }{
		{`{}`, `{}`, `{}`},
		{`{"b":1}`, `{"a":[1, 2]}`, `{"a":[1,2],"b":1}`},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"x":3}}`, `{"a":{"x":3}}`}, // key by key of the state itself
		{`{"a":1,"b":2}`, `{"a":null,"c":null}`, `{"b":2}`},
		{`{"a":1}`, `{"a":{"b":null}}`, `{"a":{"b":null}}`},
		{`{}`, `{"a":"<b> & ñ"}`, `{"a":"<b> & ñ"}`},
	} {
		have, err := ParseState("state", chain.JSON(test.have))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := ParseState("state", chain.JSON(test.patch))
		if err != nil {
			t.Fatal(err)
		}
		got, err := have.Merge("state", patch)
		if err != nil || string(got.JSON()) != test.want {
			t.Errorf("%s with %s = %s, %v, want %s", test.have, test.patch, got.JSON(), err, test.want)
		}
		if again := string(have.JSON()); again != test.have {
			t.Errorf("%s became %s", test.have, again)
		}
	}
	for _, text := range []string{"", "null", "[]", "1", `"a"`, `{"a":1`, `{"a":"\u0000"}`} {
		if s, err := ParseState("state", chain.JSON(text)); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("%q is read as %s, %v", text, s.JSON(), err)
		}
	}
	large := State{"a": []byte(`"` + strings.Repeat("x", MaxState) + `"`)}
	if _, err := (State{}).Merge("state", large); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("a large state: %v", err)
	}
	many := State{}
	for i := range MaxStateKeys + 1 {
		many[fmt.Sprint(i)] = []byte("1")
	}
	if _, err := (State{}).Merge("state", many); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("a state of many keys: %v", err)
	}
	for have, patch := range map[string]string{
		`{}`: `{"last":{"deep":[{"tool_calls":[]}]}}`, `{"a":1}`: `{"model":"m","messages":[{"role":"user","content":"hola"}]}`, `{"name":"f"}`: `{"arguments":{}}`,
	} {
		before, err := ParseState("state", chain.JSON(have))
		if err != nil {
			t.Fatal(err)
		}
		call, err := ParseState("state", chain.JSON(patch))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := before.Merge("state", call); fault.CodeOf(err) != fault.ContentRejected {
			t.Errorf("%s over %s: %v", patch, have, err)
		}
	}
}

func TestTouch(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 8, 10, 0, 0, 0, time.UTC)
	var c Conversation
	c.Touch(now, DefaultTTL)
	if !c.LastActivity.Equal(now) || !c.ExpiresAt.Equal(now.Add(30*time.Minute)) {
		t.Errorf("touched: %v until %v", c.LastActivity, c.ExpiresAt)
	}
}
