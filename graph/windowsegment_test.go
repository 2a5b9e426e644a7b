package graph_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Who shares something with others learns how many they are, and which of them are their own; an administrator sees all.
func TestWhoSeesASegment(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	agents := map[string]string{}
	windows := map[string]string{}
	for _, name := range []string{"ana", "ben"} {
		made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("%s", name), "scopes": []string{"context:select", "memory:write"}})
		agents[name] = made.Secret
	}
	for name, of := range map[string]string{"journey": "ana", "hotel": "ana", "kitchen": "ben"} {
		_, got := g.as(agents[of], `mutation($n: String!) { createWindow(input: {name: $n}) { id } }`, object{"n": name})
		var out struct{ CreateWindow struct{ ID string } }
		if err := json.Unmarshal(got.Data, &out); err != nil || len(got.Errors) > 0 {
			t.Fatalf("createWindow: %v %+v", err, got.Errors)
		}
		windows[name] = out.CreateWindow.ID
	}
	type segment struct {
		Name        string
		WindowCount int
		Windows     []struct{ Name string }
	}
	named := func(s segment) (names []string) {
		for _, w := range s.Windows {
			names = append(names, w.Name)
		}
		return names
	}
	const share, fields = `mutation($n: String!, $w: [ID!]!) { createSegment(name: $n, windows: $w) { name windowCount windows { name } } }`, `{ name windowCount windows { name } }`
	_, got := g.as(g.token, share, object{"n": "all", "w": []string{windows["journey"], windows["hotel"], windows["kitchen"]}})
	var made struct{ CreateSegment segment }
	if err := json.Unmarshal(got.Data, &made); err != nil || len(got.Errors) > 0 {
		t.Fatalf("createSegment: %v %+v", err, got.Errors)
	}
	if diff := cmp.Diff([]string{"hotel", "journey", "kitchen"}, named(made.CreateSegment)); diff != "" {
		t.Errorf("made by an administrator: %s", diff)
	}
	if _, got := g.as(agents["ana"], share, object{"n": "two", "w": []string{windows["journey"], windows["hotel"]}}); len(got.Errors) > 0 {
		t.Fatalf("createSegment: %+v", got.Errors)
	}
	for name, want := range map[string]map[string][]string{
		"ana": {"all": {"hotel", "journey"}, "two": {"hotel", "journey"}},
		"ben": {"all": {"kitchen"}},
	} {
		id := windows["journey"]
		if name == "ben" {
			id = windows["kitchen"]
		}
		_, got := g.as(agents[name], `query($w: ID!) { window(id: $w) { segments `+fields+` } }`, object{"w": id})
		var out struct{ Window struct{ Segments []segment } }
		if err := json.Unmarshal(got.Data, &out); err != nil || len(got.Errors) > 0 {
			t.Fatalf("window: %v %+v", err, got.Errors)
		}
		seen := map[string][]string{}
		for _, s := range out.Window.Segments {
			seen[s.Name] = named(s)
			if count := map[string]int{"all": 3, "two": 2}[s.Name]; s.WindowCount != count {
				t.Errorf("%s is told of %d windows that see %q, want %d", name, s.WindowCount, s.Name, count)
			}
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s sees: %s", name, diff)
		}
	}
}

// However many segments a window has: who sees them is one statement more.
func TestStatementsOfSegments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	one, two := a.newWindow("one", 1000, ""), a.newWindow("two", 1000, "")
	count := func(query string) int64 {
		a.ask(query, object{"w": one}, &struct{}{})
		before := a.counter.n.Load()
		a.ask(query, object{"w": one}, &struct{}{})
		return a.counter.n.Load() - before
	}
	const plain, asked = `query($w: ID!) { window(id: $w) { segments { name } } }`, `query($w: ID!) { window(id: $w) { segments { windows { id name agent { hash } used } } } }`
	var ratio [2]int64
	for i := range ratio {
		for range 1 + 3*i {
			a.ask(`mutation($w: [ID!]!) { createSegment(name: "s", windows: $w) { id } }`, object{"w": []string{one, two}}, &struct{}{})
		}
		ratio[i] = count(asked) - count(plain)
	}
	if want := [2]int64{2, 2}; ratio != want { // the windows, and the agents by one loader
		t.Errorf("who sees 1 and 5 segments takes %v statements more, want %v", ratio, want)
	}
}
