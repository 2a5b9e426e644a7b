package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/memory"
)

// longAgo is when the messages of both worlds were sent.
var longAgo = time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)

// worlds are two servers that differ only in what Ana cannot see.
type worlds struct {
	one, other *site
	records    []knowledge.Record  // in both: all see them
	mine       []chain.Message     // what Ana sees, in both
	hidden     []chain.Message     // of the other
	aside      []chain.Hash        // of these, one that is erased and one in quarantine, which Ana's were sent with
	query      string              // to which all records answer, and what erasable gives
	kept       []string            // selections of the other, Cleo's and Ben's
	selections [2][]string         // hers, by their order, in each: their ids are random
	pools      map[string][]string // literals to draw from, by what they are
	asked      atomic.Int64        // documents: by it the clocks of both go, so that no two selections are of one time
}

// commitments are public, and tell how many messages there are in all: docs/authorization.md.
var commitments = []string{"seal", "checkpoint", "checkpoints", "consistencyProof"}

// words are common to what both say.
var words = strings.Fields("harbour night ship letter garden invoice meeting tomato bridge lantern winter engine copper violin ladder orange ticket forest mirror pepper saddle window yellow zebra")

func text(random *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[min(random.IntN(len(words)), random.IntN(len(words)))]
	}
	return strings.Join(out, " ")
}

// newWorlds makes both: in the other, Cleo and Gil say much more before, between and after what Ana sees, in threads that
// she takes part in, citing her messages and the records, and are called as she is; and Ben keeps what he sees of it.
func newWorlds(t *testing.T, fenced bool) *worlds {
	t.Helper()
	w := &worlds{one: newSite(t, fenced, config.Server{}), other: newSite(t, fenced, config.Server{})}
	now := func() time.Time { return longAgo.Add(2*time.Hour + time.Duration(w.asked.Load())*time.Millisecond) }
	w.one.Clock, w.other.Clock = now, now
	random := rand.New(rand.NewPCG(7, 7))
	gil := playerOf("gil")
	tags := []chain.Hash{component.DefaultHash("hst", "thing"), component.DefaultHash("hst", "other")}
	for _, s := range []*site{w.one, w.other} {
		random := random2()
		w.records = s.record(knowledge.Draft{Kind: chain.RefSecretary, Book: "book", Title: "harbour", Content: text(random, 8), CreatedAt: &longAgo},
			knowledge.Draft{Kind: chain.RefAccountant, Book: "ledger", Title: "invoice", Content: text(random, 8), CreatedAt: &longAgo})
	}
	secretRef := sumOf("not yet")
	hide := func(n int) {
		var drafts []chain.Draft
		for i := range n {
			d := says(cleo, fmt.Sprint("hidden ", random.IntN(4)), text(random, 3+random.IntN(9))+" classified", gil)
			d.ThreadHash, d.Hashtags = ptr(sumOf("thread %d", i%4)), tags[:1+i%2]
			d.CreatedAt = ptr(longAgo.Add(time.Hour)) // never before its predecessor
			d.LocationID, d.ItemIDs = ptr(component.DefaultHash("loc", "thing")), []chain.Hash{component.DefaultHash("itm", "thing")}
			if len(w.mine) > 0 {
				d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: w.mine[random.IntN(len(w.mine))].Hash}}
			}
			if i%3 == 0 {
				d.Refs = append(d.Refs, refTo(w.records[i%2]))
			}
			drafts = append(drafts, d)
		}
		if n > 0 {
			w.hidden = append(w.hidden, w.other.append(drafts...)...)
			secretRef = w.hidden[len(w.hidden)-1].Hash
		}
	}
	for i := range 120 {
		if i%10 == 0 {
			hide(random.IntN(20))
		}
		d := says(ana, fmt.Sprint("mine ", random.IntN(6)), text(random, 3+random.IntN(9)), ben)
		if i%3 == 0 {
			d.OwnerID, d.PlayerIDs = ben, []chain.Hash{ana}
		}
		d.ThreadHash, d.Hashtags = ptr(sumOf("thread %d", random.IntN(3))), tags[:i%3%2]
		d.CreatedAt = ptr(longAgo.Add(time.Duration(i) * time.Second))
		if i%7 == 0 { // labelled with a player whom Ana does not know, by a name that she prefers
			d.Hashtags = append(slices.Clone(d.Hashtags), gil)
		}
		if i%5 == 0 && i > 0 {
			d.Refs = []chain.Ref{{Type: chain.RefContext, Hash: w.mine[random.IntN(i)].Hash}}
		}
		if i%40 == 9 {
			d.Refs = append(d.Refs, refTo(w.records[0]))
		}
		seed := d
		if i%10 == 5 { // sent with what Ana does not see, in one world because it is not there
			seed.Refs = append(slices.Clone(d.Refs), chain.Ref{Type: chain.RefContext, Hash: secretRef})
			if len(w.aside) < 2 && secretRef != sumOf("not yet") && !slices.Contains(w.aside, secretRef) {
				w.aside = append(w.aside, secretRef)
			}
		}
		w.mine = append(w.mine, w.copied(seed))
	}
	talked := says(ana, "", "the lantern of the harbour", memory.Person(memory.Client, "u1"), ben)
	talked.SessionHash, talked.CreatedAt = chain.Sum([]byte(ownTalk)), ptr(longAgo.Add(time.Hour))
	w.mine = append(w.mine, w.copied(talked))
	hide(60)
	for _, thread := range []string{"t1", "t2"} {
		d := tells("ana", "u1", thread, "the harbour of "+thread)
		d.CreatedAt = ptr(longAgo.Add(time.Hour))
		w.copied(d)
	}
	w.hidden = append(w.hidden, w.other.append(tells("cleo", "u1", "t1", "classified"), tells("cleo", "u1", "t3", "classified"))...)
	for i, s := range []*site{w.one, w.other} {
		s.upsert(component.Draft{Namespace: "plu", Key: "u1"}, component.Draft{Namespace: "ply", Key: "ana", Name: ptr("Lantern One"), Preferences: []string{"harbour", "Lantern"}},
			component.Draft{Namespace: "ply", Key: "ben", Name: ptr("Bridge"), Preferences: []string{"tomato"}},
			component.Draft{Namespace: "hst", Key: "thing", Name: ptr("harbour")})
		if i == 1 {
			s.upsert(component.Draft{Namespace: "ply", Key: "cleo", Name: ptr("Bridge Two")}, component.Draft{Namespace: "ply", Key: "gil", Name: ptr("Lantern")})
			w.talk(s, hiddenTalk, cleo)
			for i := range 5 {
				w.window(s, fmt.Sprintf("00000000-0000-4000-8000-00000000001%d", i), cleo)
			}
			w.keep()
		}
		w.talk(s, ownTalk, ana)
		w.window(s, ownWindow, ana)
		s.sealAll()
	}
	w.fillPools()
	return w
}

var (
	uuidPattern     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	clockPattern    = regexp.MustCompile(`20(2[5-9]|[3-9]\d)-\d\d-\d\dT[0-9:.]+Z`)
	idPattern       = regexp.MustCompile(`"[A-Za-z0-9_-]{40,}"`)
	preimagePattern = regexp.MustCompile(`"preimage":"[A-Za-z0-9+/=]+"`)
	itemPattern     = regexp.MustCompile(`"[a-z2-7]{12}"`)
	tokenCursor     = regexp.MustCompile(`^tokens:\d+:`)
)

// shown is an answer to the byte, but for random ids, which stand by their order, moments of now and of the last use, and the order of errors of
// fields that are answered at the same time.
func shown(a answer) string {
	names := map[string]string{}
	body := idPattern.ReplaceAllStringFunc(sorted(a.body), func(id string) string {
		if text, err := base64.RawURLEncoding.DecodeString(strings.Trim(id, `"`)); err == nil && uuidPattern.Match(text) {
			return `"` + tokenCursor.ReplaceAllString(string(text), "tokens:now:") + `"`
		}
		return id
	})
	body = preimagePattern.ReplaceAllStringFunc(body, func(field string) string { // for whoever reads what differs
		name, value, _ := strings.Cut(field, ":")
		text, _ := base64.StdEncoding.DecodeString(strings.Trim(value, `"`))
		return name + ":" + string(text)
	})
	for _, pattern := range []*regexp.Regexp{uuidPattern, itemPattern} {
		body = pattern.ReplaceAllStringFunc(body, func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprint("id ", len(names))
			}
			return names[id]
		})
	}
	body = clockPattern.ReplaceAllString(body, "now")
	body = strings.ReplaceAll(body, `"lastUsedAt":null`, `"lastUsedAt":"now"`) // noted behind the answer, by each server when it gets to it
	header := a.header.Clone()
	for _, name := range []string{"Date", "Content-Length"} { // a slow answer is sent in chunks
		header.Del(name)
	}
	return fmt.Sprint(a.status, " ", header, " ", body)
}

// sorted gives a body with its errors in order.
func sorted(body []byte) string {
	var r struct{ Errors []json.RawMessage }
	if err := json.Unmarshal(body, &r); err != nil || len(r.Errors) < 2 {
		return string(body)
	}
	list := make([]string, len(r.Errors))
	for i, e := range r.Errors {
		list[i] = string(e)
	}
	before := strings.Join(list, ",")
	slices.Sort(list)
	return strings.Replace(string(body), before, strings.Join(list, ","), 1)
}

// Two databases that differ only in what a player cannot see answer the player byte for byte the same, whatever is asked.
func TestTwoWorlds(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			w, schema := newWorlds(t, fenced), schemaOf()
			w.pools["me"], w.pools["stranger"] = []string{fmt.Sprintf("%q", ana)}, []string{fmt.Sprintf("%q", cleo), fmt.Sprintf("%q", sumOf("invented"))}
			w.pools["own session"] = []string{fmt.Sprintf("%q", w.mine[0].SessionHash), fmt.Sprintf("%q", w.mine[9].SessionHash)}
			w.pools["hidden message"] = []string{fmt.Sprintf("%q", w.hidden[0].Hash), fmt.Sprintf("%q", sumOf("invented"))}
			tokens := [][2]string{}
			for _, role := range []auth.Role{auth.Client, auth.Agent} {
				scopes := auth.Scopes(0)
				if role == auth.Agent {
					scopes = auth.AllScopes
				}
				tokens = append(tokens, [2]string{w.one.token(role, ana, scopes), w.other.token(role, ana, scopes)})
			}
			for _, document := range w.surely() {
				if answers := w.ask(t, tokens[1], document); strings.Contains(answers, `"errors"`) { // the agent's scopes are enough
					t.Errorf("%s\nis answered %s", document, answers)
				}
			}
			for _, id := range w.pools["changed conversation"] {
				w.ask(t, tokens[1], "mutation { updateState(conversation: "+id+", state: {tool_calls: []}) { id } }")
			}
			asked, told := 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				d := &writer{T: rt, schema: schema, pools: w.pools}
				for range 4 {
					document := ""
					if rapid.IntRange(0, 2).Draw(rt, "operation") < 2 {
						document = d.query()
					} else {
						document = d.mutation()
					}
					by := rapid.SampledFrom(tokens).Draw(rt, "token")
					answers := w.ask(rt, by, document)
					asked++
					if !strings.Contains(answers, `"errors"`) {
						told++
					}
				}
			})
			t.Logf("%d documents, %d without an error", asked, told)
			if told*3 < asked {
				t.Errorf("%d of %d documents are answered without an error, want a third: nothing is compared", told, asked)
			}
		})
	}
}

// ask asks both worlds, and gives what both say.
func (w *worlds) ask(rt rapid.TB, by [2]string, document string) string {
	var told [2]string
	var made [2]string
	w.asked.Add(1)
	for i, s := range []*site{w.one, w.other} {
		d := document
		for n := range 4 {
			id := model.GlobalID("ContextSelection", inventedUUID)
			if n < len(w.selections[i]) {
				id = w.selections[i][len(w.selections[i])-1-n]
			}
			d = strings.ReplaceAll(d, fmt.Sprintf("@%d@", n), id)
		}
		if strings.HasPrefix(d, "mutation { r: ") { // a selection
			d = strings.Replace(d, "{ __typename", "{ id __typename", 1)
		}
		a := s.ask(by[i], d, nil)
		for again := 0; again < 20 && bytes.Contains(a.body, []byte(`"UNAVAILABLE"`)); again++ { // the machine is slow, which tells nothing
			time.Sleep(100 * time.Millisecond)
			a = s.ask(by[i], d, nil)
		}
		told[i] = shown(a)
		if a.status == http.StatusOK {
			var r struct {
				Data struct{ R struct{ ID string } }
			}
			_ = json.Unmarshal(a.body, &r) // what is no request for context has none
			made[i] = r.Data.R.ID
		}
	}
	if made[0] != "" && made[1] != "" {
		w.selections[0], w.selections[1] = append(w.selections[0], made[0]), append(w.selections[1], made[1])
	}
	// What there is in all is counted again only after a while, which may end between the two: a difference that tells stays.
	for again := 0; again < 30 && told[0] != told[1] && strings.HasPrefix(document, "query") && strings.Contains(document, "overview"); again++ {
		time.Sleep(100 * time.Millisecond)
		told[0], told[1] = shown(w.one.ask(by[0], document, nil)), shown(w.other.ask(by[1], document, nil))
	}
	if told[0] != told[1] {
		rt.Fatalf("the worlds differ (-one +other), by\n%s\n%s", document, cmp.Diff(told[0], told[1]))
	}
	return told[0]
}
