package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
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

// Conversations of the same user: with Ana as the assistant, and in the other world one with Cleo.
const (
	ownTalk    = "client:u1:00000000-0000-4000-8000-000000000001"
	hiddenTalk = "client:u1:00000000-0000-4000-8000-000000000002"
)

// talk puts a conversation with something in its memory into a world.
func (w *worlds) talk(s *site, id string, assistant chain.Hash) {
	w.other.t.Helper()
	session := chain.Sum([]byte(id))
	runSQL(w.other.t, s.database, `INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, history, state, created_at, last_activity, expires_at)
		VALUES ($1, 'client', 'u1', $2, $3, $4, jsonb_build_array(jsonb_build_object('role', 'user', 'content', 'classified harbour', 'at', '2020-01-01T00:00:00Z', 'message', $5::TEXT)),
			'{"a": 1}', $6, $6, $6::TIMESTAMPTZ + INTERVAL '1 day')`,
		id, memory.Person(memory.Client, "u1"), assistant, session, w.mine[0].Hash, longAgo)
}

// Windows: Ana's, in both worlds, and in the other the first of Cleo's, and Ben's.
const (
	ownWindow    = "00000000-0000-4000-8000-000000000020"
	hiddenWindow = "00000000-0000-4000-8000-000000000010"
	bensWindow   = "00000000-0000-4000-8000-000000000030"
)

// window puts one with an item, an entry and a tool into a world.
func (w *worlds) window(s *site, id string, agent chain.Hash) {
	w.other.t.Helper()
	runSQL(w.other.t, s.database, `INSERT INTO memory.windows (id, name, agent, task, capacity, encoding, used, created_at) VALUES ($1, 'harbour', $2, 'classified harbour', 8192, 'o200k_base', 7, $3)`, id, agent, longAgo)
	runSQL(w.other.t, s.database, `INSERT INTO memory.window_items (id, window_id, place, type, key, content, tokens, quality, observed_at, added_at, summary_of, injected)
		VALUES (substr(md5($1), 1, 12), $1::TEXT::UUID, 1, 'user_message', '', 'classified harbour', 5, '{"relevance": 1, "freshness": 1, "accuracy": 0.9, "completeness": 1, "consistency": 1}', $2, $2, '{}', FALSE)`, id, longAgo)
	runSQL(w.other.t, s.database, `INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, observed_at, created_at) VALUES ($3, $1::TEXT::UUID, 'knowledge', '', 'the lantern harbour', 4, $2, $2)`, id, longAgo, stagedEntry(id))
	runSQL(w.other.t, s.database, `INSERT INTO memory.tools (window_id, name, description, schema, tokens, shown) VALUES ($1, 'lantern', 'lights the harbour', '{}', 2, TRUE)`, id)
	runSQL(w.other.t, s.database, `INSERT INTO memory.window_operations (id, window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us) VALUES ($1, $1, 'write', $3, $2, 8192, 0, 5, 10)`, id, agent, longAgo)
}

// stagedEntry is the id of the entry of a window's scratchpad.
func stagedEntry(id string) string {
	return strings.NewReplacer("0", "g", "1", "h", "8", "i", "9", "j").Replace(sumOf("entry of %s", id).String()[:12])
}

func random2() *rand.Rand { return rand.New(rand.NewPCG(9, 9)) }

// copied appends the same message to both worlds, to the same hash.
func (w *worlds) copied(d chain.Draft) chain.Message {
	w.other.t.Helper()
	for _, r := range d.Refs { // to what the first world does not have, the hash is found out in the other
		if slices.ContainsFunc(w.hidden, func(m chain.Message) bool { return m.Hash == r.Hash }) {
			m := w.other.append(d)[0]
			d.Original = &chain.Original{Hash: m.Hash, Salt: m.Salt}
			return w.one.append(d)[0]
		}
	}
	if slices.ContainsFunc(d.Refs, func(r chain.Ref) bool { return r.Hash == sumOf("not yet") }) {
		d.Refs = d.Refs[:len(d.Refs)-1]
	}
	m := w.one.append(d)[0]
	d.Original = &chain.Original{Hash: m.Hash, Salt: m.Salt}
	w.other.append(d)
	return m
}

// fillPools gathers what documents may name: one's own, hidden and invented alike.
func (w *worlds) fillPools() {
	quoted := func(list ...any) []string {
		out := make([]string, len(list))
		for i, v := range list {
			out[i] = fmt.Sprintf("%q", fmt.Sprint(v))
		}
		return out
	}
	token, _ := w.other.newToken(auth.Draft{Role: auth.Agent, Player: cleo})
	hidden := w.hidden[len(w.hidden)/2]
	hashes := map[string][]any{
		"message": {w.mine[0].Hash, w.mine[5].Hash, w.mine[15].Hash, w.mine[60].Hash, w.mine[119].Hash, w.mine[120].Hash, hidden.Hash, w.hidden[0].Hash, w.aside[0], w.aside[1], sumOf("invented")},
		"record":  {w.records[0].Hash, w.records[1].Hash},
		"session": {w.mine[0].SessionHash, w.mine[9].SessionHash, hidden.SessionHash, sumOf("invented")},
		"thread":  {sumOf("thread 0"), sumOf("thread 1"), sumOf("thread 3"), sumOf("invented")},
		"player":  {ana, ben, cleo, playerOf("gil"), sumOf("invented")},
		"thing":   {component.DefaultHash("hst", "thing"), component.DefaultHash("hst", "other"), component.DefaultHash("itm", "thing"), component.DefaultHash("loc", "thing")},
	}
	w.pools = map[string][]string{"word": slices.Clone(words), "hidden word": {"classified", "gil", "Lantern", "Bridge Two"}}
	for kind, list := range hashes {
		w.pools[kind] = quoted(list...)
		w.pools["Hash"] = append(w.pools["Hash"], quoted(list...)...)
	}
	for node, kinds := range map[string][]string{"Message": {"message"}, "Session": {"session"}, "Thread": {"thread"}, "Player": {"player"}, "Hashtag": {"thing"}, "Item": {"player"}, "Record": {"record", "message"}} {
		for _, kind := range kinds {
			for _, h := range hashes[kind] {
				w.pools["ID"] = append(w.pools["ID"], fmt.Sprintf("%q", model.GlobalID(node, fmt.Sprint(h))))
			}
		}
	}
	selections := []string{`"@0@"`, `"@1@"`, `"@2@"`, `"@3@"`}
	for _, id := range append(slices.Clone(w.kept), inventedUUID) {
		selections = append(selections, fmt.Sprintf("%q", model.GlobalID("ContextSelection", id)))
	}
	w.pools["selection"] = selections
	w.pools["ID"] = append(w.pools["ID"], selections...)
	w.pools["conversation"] = quoted(ownTalk, hiddenTalk, "client:u1:"+inventedUUID, "admin:u1:00000000-0000-4000-8000-000000000001")
	w.pools["changed conversation"] = quoted(ownTalk, hiddenTalk, "client:u1:"+inventedUUID)
	for _, id := range []string{ownWindow, ownWindow, ownWindow, hiddenWindow, bensWindow, inventedUUID} {
		w.pools["window"] = append(w.pools["window"], fmt.Sprintf("%q", model.GlobalID(model.WindowKind, id)))
	}
	w.pools["ID"] = append(w.pools["ID"], w.pools["window"]...)
	w.pools["entry"] = quoted(stagedEntry(ownWindow), stagedEntry(hiddenWindow), inventedItem)
	w.pools["user"] = quoted("u1", "u2")
	w.pools["agent"], w.pools["event thread"] = quoted("ana", "cleo", "nobody"), quoted("t1", "t2", "t3")
	w.pools["token"] = quoted(token, inventedUUID)
	for _, list := range []string{"messages", "sessions", "threads", "citedBy", "record.citedBy", "thread.messages"} {
		for _, h := range hashes["message"] {
			w.pools["cursor "+list] = append(w.pools["cursor "+list], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString([]byte(list+":"+fmt.Sprint(h)))))
		}
	}
	for list, keys := range map[string][]string{"windows": {"1614834367000000:" + ownWindow, "1614834367000000:" + hiddenWindow}, "window.scratchpad": {stagedEntry(ownWindow), stagedEntry(hiddenWindow)}, "window.operations": {ownWindow, hiddenWindow}} {
		for _, key := range keys {
			w.pools["cursor "+list] = append(w.pools["cursor "+list], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString([]byte(list+":"+key))))
		}
	}
	for _, n := range []int{1, 2, 7, 100} {
		w.pools["cursor session.messages"] = append(w.pools["cursor session.messages"], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "session.messages:%d", n))))
	}
	for _, list := range slices.Sorted(maps.Keys(w.pools)) {
		slices.Sort(w.pools[list])
	}
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
