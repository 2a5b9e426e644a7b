package db_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/token"
)

// world is a log whose messages name few of each thing, so that scopes of any combination hold some. Of its seven sessions a
// guest takes part in two.
type world struct {
	messages map[chain.Hash]chain.Message
	records  map[chain.Hash]knowledge.Record
	members  map[chain.Hash]map[chain.Hash]bool // of each session
}

var guest = hashOf("guest")

var worldTexts = []string{
	"The hotel in Lisbon is booked for May.", "The hotel in Lisbon is booked for June!", "¿Cuándo sale el tren de Madrid?", "会议在三月举行，花园需要浇水。",
	"👩‍👩‍👧 went to the 🏖️ with 🐕", "Breakfast is at eight.", "It costs 140 euros.", "It costs 150 euros.", "\n\n- not an item\n- nor this",
	strings.Repeat("The backup of the accounting database failed again. ", 400), strings.Repeat("漢字", 3000), strings.Repeat("🧵", 500), "x", "?!",
}

func makeWorld(t *testing.T, store *db.DB) world {
	t.Helper()
	w := world{map[chain.Hash]chain.Message{}, map[chain.Hash]knowledge.Record{}, map[chain.Hash]map[chain.Hash]bool{}}
	var drafts []chain.Draft
	some := func(kind string, i int) []chain.Hash {
		return [][]chain.Hash{nil, {hashOf("%s0", kind)}, {hashOf("%s1", kind)}, {hashOf("%s0", kind), hashOf("%s1", kind)}}[i%4]
	}
	one := func(kind string, i int) *chain.Hash {
		return []*chain.Hash{nil, ptr(hashOf("%s0", kind)), ptr(hashOf("%s1", kind))}[i%3]
	}
	for i := range 120 {
		d := chain.Draft{
			SessionHash: hashOf("session%d", i%7), OwnerID: hashOf("player%d", i%3), Content: fmt.Sprint(worldTexts[i%len(worldTexts)], strings.Repeat(" and so on", i/60)),
			ThreadHash: one("thread", i/2), PlayerIDs: some("player", i/5), MasterPlayer: one("player", i/4), Hashtags: some("tag", i/3),
			FlagID: one("flag", i), MasterItemID: one("item", i/7), ItemIDs: some("item", i/11), LocationID: one("place", i/13),
			EventType: []chain.EventType{chain.EventMessage, chain.EventError, chain.EventSystem}[i%3], CreatedAt: ptr(longAgo.Add(time.Duration(i) * time.Minute)),
		}
		if i%7 < 2 && i > 30 {
			d.PlayerIDs = append(d.PlayerIDs, guest)
		}
		drafts = append(drafts, d)
	}
	written, err := store.Append(t.Context(), drafts)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range written {
		w.messages[m.Hash] = m
		if w.members[m.SessionHash] == nil {
			w.members[m.SessionHash] = map[chain.Hash]bool{}
		}
		for _, player := range slices.Concat([]chain.Hash{m.OwnerID}, m.PlayerIDs) {
			w.members[m.SessionHash][player] = true
		}
	}
	var records []knowledge.Draft
	for i, text := range worldTexts[:8] {
		records = append(records, knowledge.Draft{
			Kind: []chain.RefType{chain.RefAccountant, chain.RefSecretary}[i%2], Book: "book", Title: fmt.Sprint("Title ", i), Content: text,
			CreatedAt: ptr(longAgo.Add(time.Duration(i) * 10 * time.Minute)),
		})
	}
	added, err := store.AddRecords(t.Context(), records)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range added {
		w.records[r.Hash] = r
	}
	if _, err := store.UpsertComponents(t.Context(), []component.Draft{
		{Namespace: "ply", Key: "zero", Hash: ptr(hashOf("player0")), Name: ptr("Marta"), Preferences: []string{"breakfast", "Lisbon"}},
		{Namespace: "ply", Key: "one", Hash: ptr(hashOf("player1")), Name: ptr("Elena 🌻")},
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// drawScope draws any combination of filters.
func drawScope(t *rapid.T) selection.Scope {
	list := func(name string, kinds ...string) []chain.Hash {
		if rapid.IntRange(0, 4).Draw(t, name) > 0 {
			return nil
		}
		var all []chain.Hash
		for _, kind := range kinds {
			for i := range 3 {
				all = append(all, hashOf("%s%d", kind, i))
			}
		}
		return rapid.SliceOfN(rapid.SampledFrom(all), 0, 3).Draw(t, name+" of")
	}
	scope := selection.Scope{
		Sessions: list("sessions", "session"), Threads: list("threads", "thread"), Players: list("players", "player"), Owners: list("owners", "player"),
		Hashtags: list("hashtags", "tag"), Flags: list("flags", "flag"), Items: list("items", "item"), Locations: list("locations", "place"),
	}
	if rapid.IntRange(0, 3).Draw(t, "types") == 0 {
		scope.Types = rapid.SliceOfNDistinct(rapid.SampledFrom([]chain.RefType{chain.RefContext, chain.RefAccountant, chain.RefSecretary}), 0, 3, rapid.ID).Draw(t, "types of")
	}
	if rapid.IntRange(0, 4).Draw(t, "events") == 0 {
		scope.EventTypes = rapid.SliceOfN(rapid.SampledFrom([]chain.EventType{chain.EventMessage, chain.EventError, chain.EventSystem}), 0, 2).Draw(t, "events of")
	}
	moment := func(name string) *time.Time {
		if rapid.IntRange(0, 3).Draw(t, name) > 0 {
			return nil
		}
		return ptr(longAgo.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, name+" minute")) * time.Minute))
	}
	scope.Since, scope.Until = moment("since"), moment("until")
	return scope
}

// holds says whether a scope holds a message or record that a viewer sees, nil sees all, from the definition of its filters.
func (w world) holds(s selection.Scope, viewer *chain.Hash, kind chain.RefType, hash chain.Hash) bool {
	in := func(list []chain.Hash, hashes ...chain.Hash) bool {
		return list == nil || slices.ContainsFunc(hashes, func(h chain.Hash) bool { return slices.Contains(list, h) })
	}
	opt := func(h *chain.Hash) []chain.Hash {
		if h == nil {
			return nil
		}
		return []chain.Hash{*h}
	}
	within := func(at time.Time) bool {
		return (s.Since == nil || !at.Before(*s.Since)) && (s.Until == nil || at.Before(*s.Until))
	}
	if s.Types != nil && !slices.Contains(s.Types, kind) {
		return false
	}
	if kind != chain.RefContext {
		r, known := w.records[hash]
		named := s.Sessions != nil || s.Threads != nil || s.Players != nil || s.Owners != nil || s.Hashtags != nil || s.Flags != nil ||
			s.Items != nil || s.Locations != nil || s.EventTypes != nil
		return known && !named && r.Kind == kind && within(r.CreatedAt)
	}
	m, known := w.messages[hash]
	return known && (viewer == nil || w.members[m.SessionHash][*viewer]) && in(s.Sessions, m.SessionHash) && in(s.Threads, opt(m.ThreadHash)...) &&
		in(s.Players, slices.Concat([]chain.Hash{m.OwnerID}, m.PlayerIDs, opt(m.MasterPlayer))...) && in(s.Owners, m.OwnerID) &&
		in(s.Hashtags, m.Hashtags...) && in(s.Flags, opt(m.FlagID)...) && in(s.Items, slices.Concat(m.ItemIDs, opt(m.MasterItemID))...) &&
		in(s.Locations, opt(m.LocationID)...) && (s.EventTypes == nil || slices.Contains(s.EventTypes, m.EventType)) && within(m.CreatedAt)
}

func drawRequest(t *rapid.T) selection.Request {
	r := selection.Request{
		Query: rapid.OneOf(rapid.SampledFrom(append([]string{"Which hotel in Lisbon is booked?", "When does the train leave?", "Marta's breakfast", "accounting backup", "水", "🧵 🐕"}, worldTexts[:8]...)),
			rapid.StringN(1, 40, 120).Filter(func(s string) bool { return strings.TrimSpace(s) != "" && !strings.ContainsRune(s, 0) })).Draw(t, "query"),
		Scope: drawScope(t), Limit: rapid.SampledFrom([]int{1, 2, 5, 30, 200}).Draw(t, "limit"), Threshold: rapid.SampledFrom([]float64{0, 0.3, 0.7, 1}).Draw(t, "threshold"),
		At: longAgo.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "at")) * time.Minute),
	}
	if rapid.Bool().Draw(t, "bounded") {
		r.TokenBudget = ptr(rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(1, 5000)).Draw(t, "budget"))
	}
	if rapid.Bool().Draw(t, "preferring") {
		r.Player = ptr(hashOf("player%d", rapid.IntRange(0, 3).Draw(t, "player")))
	}
	return r
}

// For any request, of any scope: the budget holds, every score is in [0, 1] and is what its parts give, to the last digit,
// the scope is not left, another server gives the same receipt, a replay is identical, and asked with the selection before
// it, the beginning stays. So it is in scopes that are looked at as a whole, listed, or sampled, by words and by meaning.
func TestRequestContextProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ dense, limited bool }{
		"by words": {}, "by words in large scopes": {limited: true}, "by meaning": {dense: true}, "by meaning in large scopes": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, url := open(t)
			w := makeWorld(t, store)
			other := openURL(t, url)
			if c.dense {
				e := newEndpoint(t, map[string]int{"one": 64})
				store, other = embeds(t, url, e.config("one")), embeds(t, url, e.config("one"))
				untilServing(t, store, "one", int64(len(w.messages)+len(w.records)))
				untilServing(t, other, "one", int64(len(w.messages)+len(w.records)))
			}
			checkProperties(t, w, store, other, c.dense, c.limited)
		})
	}
}

// drawLimits draws how many messages make a scope large, and how many are listed.
func drawLimits(t *rapid.T) (small, listed int) {
	small = rapid.SampledFrom([]int{1, 10, 40, 1000}).Draw(t, "small")
	return small, rapid.SampledFrom([]int{1, 30, 80, 1000}).Draw(t, "listed")
}

func checkProperties(t *testing.T, w world, store, other *db.DB, dense, limited bool) {
	count, err := token.Default()
	if err != nil {
		t.Fatal(err)
	}
	ctx, before := t.Context(), map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		store, other := store, other
		r := drawRequest(t)
		if limited {
			small, listed := drawLimits(t)
			store.LimitScopes(small, listed)
			other.LimitScopes(small, listed)
		}
		var viewer *chain.Hash
		if player := rapid.SampledFrom([]chain.Hash{{}, hashOf("player1"), guest}).Draw(t, "viewer"); player != (chain.Hash{}) {
			viewer, store, other = &player, store.As(player), other.As(player)
			if r.Player != nil {
				r.Player = viewer
			}
		}
		asked := "an administrator"
		if viewer != nil {
			asked = viewer.String()
		}
		if before[asked] != "" && rapid.Bool().Draw(t, "continued") {
			r.PreviousID = before[asked]
		}
		s, err := store.RequestContext(ctx, r)
		if err != nil {
			t.Fatalf("RequestContext() = %v", err)
		}
		before[asked] = s.ID
		if (s.DenseModel != "") != dense {
			t.Fatalf("the dense model is %q, notices %q", s.DenseModel, s.Notices)
		}
		tokens, err := count(s.Rendered)
		if err != nil || tokens != s.Tokens || r.TokenBudget != nil && tokens > *r.TokenBudget || s.UnchangedTokens > s.Tokens {
			t.Fatalf("says %d tokens, %d unchanged, costs %d, %v; budget %v", s.Tokens, s.UnchangedTokens, tokens, err, r.TokenBudget)
		}
		seen := map[chain.Hash]bool{}
		check := func(kind chain.RefType, hash chain.Hash, score float64) {
			if !w.holds(r.Scope, viewer, kind, hash) {
				t.Fatalf("%s %s is not in the scope %+v of %s", kind, hash, r.Scope, asked)
			}
			if seen[hash] || math.IsNaN(score) || score < 0 || score > 1 {
				t.Fatalf("%s is there twice (%t), or has a score of %v", hash, seen[hash], score)
			}
			seen[hash] = true
		}
		for i, item := range s.Items {
			check(item.Type, item.Hash, item.Score)
			e := item.Explanation
			if (e.Semantic != nil) != dense {
				t.Fatalf("item %+v: by meaning %t", item, dense)
			}
			relevance := e.Lexical + e.Neighbours
			if e.Semantic != nil {
				relevance += *e.Semantic
			}
			if min(1, relevance) != e.Relevance || min(1, e.Relevance+e.Recency+e.Preference) != item.Score || item.Position != i+1 || item.Score < r.Threshold {
				t.Fatalf("item %+v: its parts do not give its score", item)
			}
		}
		for _, d := range s.Dropped {
			check(d.Type, d.Hash, d.Score)
		}
		if (len(s.Items) == 0) == (s.Emptiness() == "" || !slices.Contains(s.Notices, s.Emptiness())) {
			t.Fatalf("%d items, notices %q", len(s.Items), s.Notices)
		}
		again, err := other.RequestContext(ctx, r)
		if err != nil || again.Receipt != s.Receipt || again.ID == s.ID {
			t.Fatalf("another server: receipt %s, %v; want %s\n%s", again.Receipt, err, s.Receipt, strings.Join(selection.Differences(&s, &again), "\n"))
		}
		replay, err := other.ReplayContext(ctx, s.ID)
		if err != nil || !replay.Identical {
			t.Fatalf("replay: %v, causes %+v, %q", err, replay.Causes, replay.Differences)
		}
		r.PreviousID = s.ID
		next, err := store.RequestContext(ctx, r)
		if err != nil || next.Rendered != s.Rendered || next.UnchangedTokens != s.Tokens || *next.Request.Previous != s.Receipt {
			t.Fatalf("asked again: %v, %d of %d tokens unchanged, %q instead of %q", err, next.UnchangedTokens, s.Tokens, next.Rendered, s.Rendered)
		}
	})
}
