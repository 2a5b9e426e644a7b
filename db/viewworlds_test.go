package db_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// twoWorlds makes two logs that differ only in what Ana cannot see: many more messages of others, before, between and
// after hers, that use her words and name players as hers are named.
func twoWorlds(t *testing.T, messages int, v *vocabulary) (one, other *db.DB) {
	t.Helper()
	one, _ = open(t)
	other, _ = open(t)
	random := rand.New(rand.NewPCG(5, 5))
	var mine []chain.Draft
	for i := range messages {
		d := from(ana, fmt.Sprint("mine", random.IntN(1+messages/20)), v.text(3+random.IntN(12)), ben)
		if i%3 == 0 {
			d.OwnerID, d.PlayerIDs = ben, []chain.Hash{ana}
		}
		thread := hashOf("thread%d", random.IntN(4))
		d.ThreadHash, d.CreatedAt = &thread, ptr(longAgo.Add(time.Duration(i)*time.Second))
		mine = append(mine, d)
	}
	hide := func(store *db.DB, n int) {
		if n == 0 {
			return
		}
		var drafts []chain.Draft
		for i := range n {
			d := from(cleo, fmt.Sprint("hidden", random.IntN(1+n/20)), v.text(3+random.IntN(12)), hashOf("ply:ana2"))
			d.ThreadHash, d.CreatedAt = ptr(hashOf("thread%d", i%5)), ptr(longAgo.Add(time.Hour))
			drafts = append(drafts, d)
		}
		for chunk := range slices.Chunk(drafts, 1000) {
			mustAppend(t, store, chunk...)
		}
	}
	refused := v.text(5)
	for chunk := range slices.Chunk(mine, 97) {
		hide(other, random.IntN(160))
		written := mustAppend(t, one, chunk...)
		for i, m := range written {
			chunk[i].Original = &chain.Original{Hash: m.Hash, Salt: m.Salt}
		}
		mustAppend(t, other, chunk...)
	}
	hide(other, messages/2)
	for _, store := range []*db.DB{one, other} {
		if _, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "b", Title: "t", Content: refused, CreatedAt: &longAgo}}); err != nil {
			t.Fatal(err)
		}
		people := []component.Draft{{Namespace: "ply", Key: "ana", Name: ptr(v.words[3] + " One")}, {Namespace: "ply", Key: "ben", Name: ptr(v.words[4])}}
		if store == other {
			people = append(people, component.Draft{Namespace: "ply", Key: "cleo", Name: ptr(v.words[5])}, component.Draft{Namespace: "ply", Key: "ana2", Name: ptr(v.words[3])})
		}
		if _, err := store.UpsertComponents(t.Context(), people); err != nil {
			t.Fatal(err)
		}
		if err := store.IndexAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return one, other
}

// Two databases that differ only in what a player cannot see select the same for them, to the byte of what the receipt
// covers, explanations and sizes included: in small scopes, in larger ones, and with no scope at all; by words, and by
// meaning as well.
func TestViewOfTwoWorlds(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			v := newVocabulary(400, 11)
			one, other := twoWorlds(t, 900, v)
			compareWorlds(t, v, one, other, fenced)
		})
	}
	t.Run("by meaning", func(t *testing.T) {
		t.Parallel()
		v := newVocabulary(400, 11)
		one, other := twoWorlds(t, 300, v)
		e := newEndpoint(t, map[string]int{"m": 32})
		for _, store := range []*db.DB{one, other} {
			if err := store.StartEmbedder(t.Context(), e.config("m")); err != nil {
				t.Fatal(err)
			}
			eventually(t, "meaning joins in", func() bool {
				s, err := store.As(ana).RequestContext(t.Context(), selection.Request{Query: v.text(4), Limit: 3})
				return err == nil && len(s.Notices) == 0 && len(s.Items) > 0 && s.Items[0].Explanation.Semantic != nil && model(t, store, "m").Outstanding == 0
			})
		}
		compareWorlds(t, v, one, other, true)
		stranger := selection.Request{Query: v.text(4), Limit: 3, Threshold: 0.01}
		if s, err := other.As(hashOf("stranger")).RequestContext(t.Context(), stranger); err != nil || len(s.Items)+len(s.Dropped) > 1 { // a record
			t.Errorf("who sees no message is given %+v, %v", s.Items, err)
		}
	})
}

func compareWorlds(t *testing.T, v *vocabulary, one, other *db.DB, fenced bool) {
	now := func() time.Time { return longAgo.Add(2 * time.Hour) }
	one.Clock, other.Clock = now, now
	if !fenced {
		one.Unfence()
		other.Unfence()
	}
	hashes := append(someOf(t, one.As(ana)), someOf(t, other.As(cleo))[0], hashOf("invented"))
	rapid.Check(t, func(rt *rapid.T) {
		small := rapid.SampledFrom([]int{10_000, 100}).Draw(rt, "small")
		for _, store := range []*db.DB{one, other} {
			store.LimitScopes(small, 100_000)
		}
		request := selection.Request{Query: v.text(rapid.IntRange(1, 8).Draw(rt, "words")), Limit: rapid.IntRange(1, 40).Draw(rt, "limit")}
		switch rapid.IntRange(0, 4).Draw(rt, "scope") {
		case 0:
			request.Scope.Threads = []chain.Hash{hashOf("thread%d", rapid.IntRange(0, 5).Draw(rt, "thread"))}
		case 1:
			request.Scope.Owners = []chain.Hash{rapid.SampledFrom([]chain.Hash{ana, ben, cleo}).Draw(rt, "owner")}
		case 2:
			request.Scope.Sessions = []chain.Hash{hashOf("session:mine3"), hashOf("session:hidden1")}
		}
		var told [2]string
		for i, store := range []*db.DB{one, other} {
			s, err := store.As(ana).RequestContext(t.Context(), request)
			if err != nil {
				rt.Fatal(err)
			}
			preimage, err := s.Preimage()
			if err != nil {
				rt.Fatal(err)
			}
			items, err := json.Marshal([]any{s.Receipt, s.Items, s.Dropped, s.Rendered, s.Tokens, s.LogSize, s.Notices})
			if err != nil {
				rt.Fatal(err)
			}
			told[i] = string(preimage) + string(items) + asideOf(rt, store, request, s, hashes)
			replay, err := store.As(ana).ReplayContext(t.Context(), s.ID)
			if err != nil || !replay.Identical {
				rt.Fatalf("the replay in world %d is another: %v %v %v", i, err, replay.Differences, replay.Causes)
			}
			if _, err := store.As(cleo).Selection(t.Context(), s.ID); err == nil {
				rt.Fatal("Cleo reads Ana's selection")
			}
			if again, err := store.ReplayContext(t.Context(), s.ID); err != nil || !again.Identical {
				rt.Fatalf("an administrator's replay in world %d is another: %v", i, err)
			}
		}
		if told[0] != told[1] {
			rt.Fatalf("the worlds differ (-one +other):\n%s", cmp.Diff(told[0], told[1]))
		}
	})
}

// someOf gives some messages that somebody sees.
func someOf(t *testing.T, store *db.DB) (hashes []chain.Hash) {
	t.Helper()
	rows, err := store.Messages(t.Context(), selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 20})
	if err != nil || len(rows.Items) == 0 {
		t.Fatalf("Messages() = %d, %v", len(rows.Items), err)
	}
	for _, item := range rows.Items {
		hashes = append(hashes, item.Value.Hash)
	}
	return hashes
}

// asideOf gives what is told beside a selection: its stages, why others are not in it, what other weights would give, and that
// it is listed. The last two hashes, of a message that is hidden and of none, get the same verdict.
func asideOf(rt *rapid.T, store *db.DB, request selection.Request, s selection.Selection, hashes []chain.Hash) string {
	ctx, store := rt.Context(), store.As(ana)
	verdicts, err := store.WhyNotAll(ctx, s.ID, hashes)
	if err != nil {
		rt.Fatal(err)
	}
	hidden, invented := verdicts[len(hashes)-2], verdicts[len(hashes)-1]
	if hidden.Hash, invented.Hash = (chain.Hash{}), (chain.Hash{}); hidden != invented || hidden.Kind != selection.VerdictUnknown {
		rt.Fatalf("of a hidden message: %+v, of none: %+v", hidden, invented)
	}
	text, err := store.WhyNotText(ctx, s.ID, request.Query)
	if err != nil {
		rt.Fatal(err)
	}
	policy, err := ranking.With([]ranking.Set{{Name: "session", Value: 1}, {Name: "owner", Value: 2}}, "weights")
	if err != nil {
		rt.Fatal(err)
	}
	tried, err := store.TryContext(ctx, request, policy)
	if err != nil || tried.ID != "" {
		rt.Fatalf("TryContext() = %q, %v", tried.ID, err)
	}
	rows, err := store.Selections(ctx, db.SelectionFilter{}, db.Page[db.SelectionKey]{Limit: 200})
	if err != nil || !slices.ContainsFunc(rows.Items, func(i db.Item[selection.Selection, db.SelectionKey]) bool { return i.Value.ID == s.ID }) && !rows.More {
		rt.Fatalf("the selection is not listed: %d are, %v", len(rows.Items), err)
	}
	told, err := json.Marshal([]any{s.Stages, verdicts, text, tried.Receipt, tried.Items, tried.Dropped, tried.Stages, tried.Rendered})
	if err != nil {
		rt.Fatal(err)
	}
	return string(told)
}
