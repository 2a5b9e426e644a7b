package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

// long ago, so that recency plays no part unless a test wants it to
var longAgo = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// talk is a small log that the tests ask; each message has its own session unless two are said to share one.
func talk(t *testing.T, store *db.DB) map[string]chain.Message {
	t.Helper()
	lines := []struct {
		name, session, content string
		change                 func(*chain.Draft)
	}{
		{"hotel", "trip", "We booked the Hotel Miramar in Lisbon for the second week of May.", func(d *chain.Draft) {
			d.ThreadHash, d.Hashtags, d.LocationID = ptr(hashOf("t1")), []chain.Hash{hashOf("tag")}, ptr(hashOf("lisbon"))
		}},
		{"price", "trip", "It costs 140 euros a night, breakfast included.", func(d *chain.Draft) {
			d.ThreadHash, d.MasterItemID = ptr(hashOf("t1")), ptr(hashOf("item"))
		}},
		{"plants", "home", "Remember to water the plants on the balcony every evening.", func(d *chain.Draft) {
			d.PlayerIDs, d.FlagID = []chain.Hash{hashOf("gardener")}, ptr(hashOf("flag"))
		}},
		{"again", "home", "Remember to water the plants on the balcony, every evening!", nil},
		{"error", "ops", "The nightly backup of the accounting database failed.", func(d *chain.Draft) { d.EventType = chain.EventError }},
		{"spanish", "casa", "La calefacción del salón se apaga a las once de la noche.", func(d *chain.Draft) { d.OwnerID = hashOf("ana") }},
	}
	out := map[string]chain.Message{}
	for i, l := range lines {
		d := draft(l.session, l.content)
		d.CreatedAt = ptr(longAgo.Add(time.Duration(i) * time.Minute))
		if l.change != nil {
			l.change(&d)
		}
		out[l.name] = mustAppend(t, store, d)[0]
	}
	return out
}

func ask(t *testing.T, store *db.DB, query string, change func(*selection.Request)) selection.Selection {
	t.Helper()
	r := selection.Request{Query: query, Limit: 5, At: longAgo.Add(time.Hour * 24 * 365)}
	if change != nil {
		change(&r)
	}
	s, err := store.RequestContext(t.Context(), r)
	if err != nil {
		t.Fatalf("RequestContext(%q) = %v", query, err)
	}
	return s
}

func TestRequestContextFinds(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	for query, want := range map[string]string{
		"Which hotel did we book in Lisbon?":       "hotel",
		"How much is breakfast and a night?":       "price",
		"What happened to the accounting backup?":  "error",
		"¿Cuándo se apaga la calefaccion?":         "spanish",
		"watering plants":                          "again",
		"Who looks after the balcony's plants now": "again",
	} {
		s := ask(t, store, query, nil)
		if len(s.Items) == 0 || s.Items[0].Hash != log[want].Hash {
			t.Errorf("%q: first = %+v, want %s", query, s.Items, want)
			continue
		}
		first := s.Items[0]
		e := first.Explanation
		if sum := min(1, e.Relevance+e.Recency+e.Preference); sum != first.Score {
			t.Errorf("%q: score = %v, its parts give %v", query, first.Score, sum)
		}
		if e.Relevance != e.Lexical+e.Neighbours || len(e.MatchedTerms) == 0 {
			t.Errorf("%q: explanation = %+v", query, e)
		}
		if !strings.HasPrefix(s.Rendered, selection.Heading+"\n- ") || !strings.Contains(s.Rendered, *log[want].Content) {
			t.Errorf("%q: rendered = %q", query, s.Rendered)
		}
	}
}

// Each list of a scope narrows to what it names.
func TestRequestContextScope(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	if _, err := store.AddRecords(t.Context(), []knowledge.Draft{
		{Kind: chain.RefAccountant, Book: "ledger", Title: "Hotels", Content: "Hotel Miramar, 980 euros"},
		{Kind: chain.RefSecretary, Book: "files", Title: "Hotels", Content: "Hotel Miramar confirmed the booking"},
	}); err != nil {
		t.Fatal(err)
	}
	everything := []string{"hotel", "price", "plants", "again", "error", "spanish"}
	tests := []struct {
		name    string
		scope   selection.Scope
		want    []string
		records int
	}{
		{"all", selection.Scope{}, everything, 2},
		{"sessions", selection.Scope{Sessions: []chain.Hash{hashOf("session:home"), hashOf("nothing")}}, []string{"plants", "again"}, 0},
		{"threads", selection.Scope{Threads: []chain.Hash{hashOf("t1")}}, []string{"hotel", "price"}, 0},
		{"players: receiver and sender", selection.Scope{Players: []chain.Hash{hashOf("gardener"), hashOf("ana")}}, []string{"plants", "spanish"}, 0},
		{"owners", selection.Scope{Owners: []chain.Hash{hashOf("ana"), hashOf("gardener")}}, []string{"spanish"}, 0},
		{"hashtags", selection.Scope{Hashtags: []chain.Hash{hashOf("tag")}}, []string{"hotel"}, 0},
		{"flags", selection.Scope{Flags: []chain.Hash{hashOf("flag")}}, []string{"plants"}, 0},
		{"items", selection.Scope{Items: []chain.Hash{hashOf("item")}}, []string{"price"}, 0},
		{"locations", selection.Scope{Locations: []chain.Hash{hashOf("lisbon")}}, []string{"hotel"}, 0},
		{"event types", selection.Scope{EventTypes: []chain.EventType{chain.EventError}}, []string{"error"}, 0},
		{"since", selection.Scope{Since: &[]time.Time{log["error"].CreatedAt}[0]}, []string{"error", "spanish"}, 2},
		{"until", selection.Scope{Until: &[]time.Time{log["price"].CreatedAt}[0]}, []string{"hotel"}, 0},
		{"types: messages", selection.Scope{Types: []chain.RefType{chain.RefContext}}, everything, 0},
		{"types: ledger", selection.Scope{Types: []chain.RefType{chain.RefAccountant}}, nil, 1},
		{"types: none", selection.Scope{Types: []chain.RefType{}}, nil, 0},
		{"two lists", selection.Scope{Threads: []chain.Hash{hashOf("t1")}, Hashtags: []chain.Hash{hashOf("tag")}}, []string{"hotel"}, 0},
		{"an empty list", selection.Scope{Threads: []chain.Hash{}}, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ask(t, store, "hotel", func(r *selection.Request) { r.Scope = tt.scope })
			got, want, records := map[chain.Hash]bool{}, map[chain.Hash]bool{}, 0
			for _, i := range s.Items {
				if i.Type != chain.RefContext {
					records++
					continue
				}
				got[i.Hash] = true
			}
			for _, d := range s.Dropped { // the limit and duplicates
				if d.Type == chain.RefContext {
					got[d.Hash] = true
				} else {
					records++
				}
			}
			for _, name := range tt.want {
				want[log[name].Hash] = true
			}
			if diff := cmp.Diff(want, got); diff != "" || records != tt.records {
				t.Errorf("%d records, want %d; messages: %s", records, tt.records, diff)
			}
		})
	}
}

func TestRequestContextDrops(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	reasons := func(s selection.Selection) map[chain.Hash]selection.DropReason {
		out := map[chain.Hash]selection.DropReason{}
		for _, d := range s.Dropped {
			out[d.Hash] = d.Reason
			if d.Tokens < 1 {
				t.Errorf("a dropped item costs %d", d.Tokens)
			}
		}
		return out
	}
	if got := reasons(ask(t, store, "water the plants", nil))[log["plants"].Hash]; got != selection.Duplicate {
		t.Errorf("the same text again: %q, want duplicate", got)
	}
	one := ask(t, store, "Which hotel did we book in Lisbon? Breakfast?", func(r *selection.Request) { r.Limit = 1 })
	if got := reasons(one)[log["price"].Hash]; len(one.Items) != 1 || one.Items[0].Hash != log["hotel"].Hash || got != selection.OverLimit {
		t.Errorf("beyond the limit: %q, want over_limit; chosen %+v", got, one.Items)
	}
	high := ask(t, store, "hotel in Lisbon", func(r *selection.Request) { r.Threshold = 0.7 })
	if got := reasons(high)[log["error"].Hash]; got != selection.BelowThreshold {
		t.Errorf("what has nothing to do with it: %q, want below_threshold", got)
	}
	none := ask(t, store, "submarine propulsion reactor", func(r *selection.Request) { r.Threshold = 0.7 })
	if len(none.Items) != 0 || none.Rendered != "" || none.Tokens != 0 {
		t.Errorf("asked of what the log says nothing of: %+v", none)
	}
}

// Whatever the budget, the block costs no more, and what it costs is what is said.
func TestRequestContextBudget(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	talk(t, store)
	count, err := token.Default()
	if err != nil {
		t.Fatal(err)
	}
	all := ask(t, store, "hotel plants backup salón", nil)
	for budget := 1; budget <= all.Tokens+1; budget++ {
		s := ask(t, store, "hotel plants backup salón", func(r *selection.Request) { r.TokenBudget = &budget })
		tokens, err := count(s.Rendered)
		if err != nil || tokens != s.Tokens || tokens > budget {
			t.Errorf("budget %d: says %d tokens, has %d, %v", budget, s.Tokens, tokens, err)
		}
		if strings.Count(s.Rendered, "\n- ") != len(s.Items) {
			t.Errorf("budget %d: %d items, rendered %q", budget, len(s.Items), s.Rendered)
		}
		if budget > all.Tokens && len(s.Items) != len(all.Items) {
			t.Errorf("budget %d, enough for all %d items, gave %d", budget, len(all.Items), len(s.Items))
		}
	}
}

func TestRequestContextBonuses(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	if _, err := store.UpsertComponents(t.Context(), []component.Draft{
		{Namespace: "ply", Key: "guest", Hash: ptr(hashOf("guest")), Preferences: []string{"breakfast included"}},
	}); err != nil {
		t.Fatal(err)
	}
	s := ask(t, store, "hotel", func(r *selection.Request) {
		r.At, r.Player = log["again"].CreatedAt.Add(time.Hour), ptr(hashOf("guest"))
	})
	for _, i := range s.Items {
		e, recency, preference := i.Explanation, 0.0, 0.0
		if i.Hash == log["price"].Hash {
			preference = 0.15
		}
		if i.Hash == log["error"].Hash || i.Hash == log["spanish"].Hash { // sent after "again", so within the hour
			recency = 0.1
		}
		if e.Recency != recency || e.Preference != preference {
			t.Errorf("%s: recency %v, preference %v; want %v, %v", i.Hash, e.Recency, e.Preference, recency, preference)
		}
	}
}

// What a plain SQL writer adds is found by the very next request.
func TestRequestContextFindsOthersWriting(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `
		INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('s'), log.sha256('o'), 'The lighthouse keeper retires in June.');
		INSERT INTO knowledge.records (kind, book, title, content) VALUES ('secretary', 'harbour', 'Lighthouse', 'Keys are at the pilot station.')`); err != nil {
		t.Fatal(err)
	}
	s := ask(t, store, "lighthouse keeper keys", nil)
	if len(s.Items) != 2 {
		t.Errorf("found %+v, want the message and the record", s.Items)
	}
	if s.LogSize != 1 {
		t.Errorf("log size = %d, want 1", s.LogSize)
	}
}

func TestRequestContextKeepsReceipt(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	talk(t, store)
	s := ask(t, store, "hotel in Lisbon", func(r *selection.Request) {
		r.TokenBudget, r.Scope = ptr(100), selection.Scope{EventTypes: []chain.EventType{chain.EventMessage}}
	})
	kept, err := store.Selection(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, kept); diff != "" {
		t.Errorf("what was kept differs: %s", diff)
	}
	if !kept.Holds() || kept.Receipt != s.Receipt {
		t.Errorf("the receipt of what was kept is %s, want that of what was given, %s", kept.Receipt, s.Receipt)
	}
	for name, change := range map[string]func(*selection.Selection){
		"query":    func(s *selection.Selection) { s.Request.Query += "?" },
		"score":    func(s *selection.Selection) { s.Items[0].Score += 1e-12 },
		"position": func(s *selection.Selection) { s.LogPosition++ },
		"dropped":  func(s *selection.Selection) { s.Dropped = s.Dropped[1:] },
		"rendered": func(s *selection.Selection) { s.Rendered += " " },
		"digest":   func(s *selection.Selection) { s.RenderedDigest[0]++ },
		"salt":     func(s *selection.Selection) { s.RenderedSalt[0]++ },
	} {
		changed, err := store.Selection(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		change(&changed)
		if changed.Holds() {
			t.Errorf("%s changed, and the receipt holds", name)
		}
	}
	if _, err := store.Selection(t.Context(), "00000000-0000-0000-0000-000000000000"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("Selection() of an unknown id = %v, want NOT_FOUND", err)
	}
}

func TestRequestContextRefuses(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for field, change := range map[string]func(*selection.Request){
		"input.query":          func(r *selection.Request) { r.Query = " \n" },
		"input.limit":          func(r *selection.Request) { r.Limit = 201 },
		"input.threshold":      func(r *selection.Request) { r.Threshold = 1.5 },
		"input.tokenBudget":    func(r *selection.Request) { r.TokenBudget = ptr(0) },
		"input.scope.sessions": func(r *selection.Request) { r.Scope.Sessions = make([]chain.Hash, 1001) },
	} {
		r := selection.Request{Query: "x", Limit: 5}
		change(&r)
		_, err := store.RequestContext(t.Context(), r)
		if fault.CodeOf(err) != fault.BadUserInput || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// What a long prompt asks at its end is found, and the selection says that not all of it was looked for.
func TestRequestContextOfALongPrompt(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	log := talk(t, store)
	var prompt strings.Builder
	for i := 0; prompt.Len() < 60_000; i++ {
		fmt.Fprintf(&prompt, "Rule %d: module gamma%d forwards parameter delta%d unless validation epsilon%d rejects it.\n", i, i, i, i)
	}
	s := ask(t, store, prompt.String()+"Which hotel did we book in Lisbon?", nil)
	if len(s.Items) == 0 || s.Items[0].Hash != log["hotel"].Hash || s.Notices[0] != selection.LongNotice() {
		t.Errorf("items = %+v, notices = %q", s.Items, s.Notices)
	}
	if again, err := store.ReplayContext(t.Context(), s.ID); err != nil || !again.Identical {
		t.Errorf("replayed: %+v, %v", again, err)
	}
	if s := ask(t, store, "Which hotel did we book in Lisbon?", nil); len(s.Notices) > 0 {
		t.Errorf("notices of a short query: %q", s.Notices)
	}
}
