package db_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/memory"
)

// told is what a conversation must hold, as a list and a map have it.
type told struct {
	c     memory.Conversation
	said  []string
	state map[string]string
}

// Whatever is started, said, confirmed and deleted, by whichever assistant with whichever user: a conversation is the newest turns
// of what was said in it and what was confirmed in it, to its two and to nobody else, under its role and under no other.
func TestConversationsOfMany(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	assistants := []chain.Hash{hashOf("ply:one"), hashOf("ply:two")}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		users := []string{fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)} // of this try alone
		roles := []memory.Role{memory.Client, memory.Admin}
		live := map[string]*told{}
		viewers := slices.Clone(assistants)
		for _, user := range users {
			for _, role := range roles {
				viewers = append(viewers, memory.Person(role, user))
			}
		}
		one := func() *told {
			if len(live) == 0 {
				rt.Skip("there is none")
			}
			return live[rapid.SampledFrom(slices.Sorted(maps.Keys(live))).Draw(rt, "conversation")]
		}
		// may gives whether who acts is the assistant, and fails unless the store says so.
		may := func(what string, who chain.Hash, c memory.Conversation, err error) bool {
			if who == c.Assistant && err != nil || who != c.Assistant && fault.CodeOf(err) != fault.NotFound {
				rt.Fatalf("%s by %s: %v", what, who, err)
			}
			return who == c.Assistant
		}
		rt.Repeat(map[string]func(*rapid.T){
			"start": func(rt *rapid.T) {
				as := rapid.SampledFrom(assistants).Draw(rt, "assistant")
				c, err := store.As(as).StartConversation(t.Context(), rapid.SampledFrom(roles).Draw(rt, "role"), rapid.SampledFrom(users).Draw(rt, "user"), as)
				if err != nil {
					rt.Fatal(err)
				}
				live[c.ID.String()] = &told{c: c, state: map[string]string{}}
			},
			"record": func(rt *rapid.T) {
				of, who := one(), rapid.SampledFrom(viewers).Draw(rt, "who")
				for i := range rapid.IntRange(1, 4).Draw(rt, "times") {
					user, answer := fmt.Sprint("u", len(of.said), i), fmt.Sprint("a", len(of.said), i)
					if _, err := store.As(who).RecordExchange(t.Context(), of.c.ID, db.Exchange{User: user, Assistant: answer}, who); may("recorded", who, of.c, err) {
						of.said = append(of.said, "user: "+user, "assistant: "+answer)
					}
				}
			},
			"confirm": func(rt *rapid.T) {
				of, who := one(), rapid.SampledFrom(viewers).Draw(rt, "who")
				key, value := rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "key"), fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "value"))
				if _, err := store.As(who).UpdateState(t.Context(), of.c.ID, memory.State{key: []byte(value)}); may("confirmed", who, of.c, err) {
					of.state[key] = value
				}
			},
			"delete": func(rt *rapid.T) {
				of := one()
				fresh, err := store.As(of.c.Assistant).DeleteConversation(t.Context(), of.c.ID, "", of.c.Assistant)
				if err != nil {
					rt.Fatal(err)
				}
				delete(live, of.c.ID.String())
				live[fresh.ID.String()] = &told{c: fresh, state: map[string]string{}}
			},
			"": func(rt *rapid.T) {
				who := rapid.SampledFrom(viewers).Draw(rt, "viewer")
				wantSeen(t, rt, store.As(who), who, live, roles, users)
			},
		})
	})
}

// wantSeen fails unless somebody sees of the conversations theirs, as they are, and nothing else.
func wantSeen(t *testing.T, rt *rapid.T, view *db.DB, who chain.Hash, live map[string]*told, roles []memory.Role, users []string) {
	listed := map[string]bool{}
	for _, role := range roles {
		for _, user := range users {
			found, err := view.Conversations(t.Context(), role, user)
			if err != nil {
				rt.Fatal(err)
			}
			for _, c := range found {
				if c.ID.Role != role || c.ID.UserID != user || live[c.ID.String()] == nil {
					rt.Fatalf("listed for %s %s: %v", role, user, c.ID)
				}
				listed[c.ID.String()] = true
			}
		}
	}
	for id, of := range live {
		theirs := who == of.c.Assistant || who == of.c.Person
		swapped := of.c.ID
		swapped.Role = roles[0]
		if of.c.ID.Role == roles[0] {
			swapped.Role = roles[1]
		}
		if _, err := view.Conversation(t.Context(), swapped); fault.CodeOf(err) != fault.NotFound {
			rt.Fatalf("%s under the other role: %v", id, err)
		}
		c, err := view.Conversation(t.Context(), of.c.ID)
		prompted, promptErr := view.ConversationForPrompt(t.Context(), of.c.ID)
		if !theirs {
			if fault.CodeOf(err) != fault.NotFound || fault.CodeOf(promptErr) != fault.NotFound || listed[id] {
				rt.Fatalf("%s sees %s: %v, %v, listed %t", who, id, err, promptErr, listed[id])
			}
			continue
		}
		state := map[string]string{}
		for key, value := range c.State {
			state[key] = string(value)
		}
		newest := of.said[max(0, len(of.said)-memory.MaxTurns):]
		if who == of.c.Person && who != of.c.Assistant { // a prompt is the assistant's
			if fault.CodeOf(promptErr) != fault.NotFound {
				rt.Fatalf("%s gets a prompt of %s: %v", who, id, promptErr)
			}
			prompted, promptErr = c, nil
		}
		prompted.CreatedAt, prompted.LastActivity, prompted.ExpiresAt = c.CreatedAt, c.LastActivity, c.ExpiresAt // a prompt needs no times
		if err != nil || promptErr != nil || !listed[id] || !slices.Equal(newest, contents(c)) || !maps.Equal(of.state, state) || cmp.Diff(c, prompted) != "" {
			rt.Fatalf("%s is %v with %v to %s, %v, %v, listed %t; want %v with %v", id, contents(c), state, who, err, promptErr, listed[id], newest, of.state)
		}
	}
}
