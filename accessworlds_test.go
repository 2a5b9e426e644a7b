package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// longAgo is when the messages of both worlds were sent.
var longAgo = time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)

// worlds are two servers that differ only in what Ana cannot see.
type worlds struct {
	one, other *site
	mine       []chain.Message     // what Ana sees, in both
	hidden     []chain.Message     // of the other
	selections [2][]string         // hers, by their order, in each: their ids are random
	pools      map[string][]string // literals to draw from, by what they are
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
// she takes part in, citing her messages, and are called as she is.
func newWorlds(t *testing.T, fenced bool) *worlds {
	t.Helper()
	w := &worlds{one: newSite(t, fenced, config.Server{}), other: newSite(t, fenced, config.Server{})}
	now := func() time.Time { return longAgo.Add(2 * time.Hour) }
	w.one.Now, w.other.Now = now, now
	random := rand.New(rand.NewPCG(7, 7))
	gil := playerOf("gil")
	tags := []chain.Hash{component.DefaultHash("hst", "thing"), component.DefaultHash("hst", "other")}
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
		seed := d
		if i%10 == 5 { // sent with what Ana does not see, in one world because it is not there
			seed.Refs = append(slices.Clone(d.Refs), chain.Ref{Type: chain.RefContext, Hash: secretRef})
		}
		w.mine = append(w.mine, w.copied(seed))
	}
	hide(60)
	for i, s := range []*site{w.one, w.other} {
		s.record(knowledge.Draft{Kind: chain.RefSecretary, Book: "book", Title: "harbour", Content: text(random2(), 8), CreatedAt: &longAgo},
			knowledge.Draft{Kind: chain.RefAccountant, Book: "ledger", Title: "invoice", Content: text(random2(), 8), CreatedAt: &longAgo})
		s.upsert(component.Draft{Namespace: "ply", Key: "ana", Name: ptr("Lantern One"), Preferences: []string{"harbour", "Lantern"}},
			component.Draft{Namespace: "ply", Key: "ben", Name: ptr("Bridge"), Preferences: []string{"tomato"}},
			component.Draft{Namespace: "hst", Key: "thing", Name: ptr("harbour")})
		if i == 1 {
			s.upsert(component.Draft{Namespace: "ply", Key: "cleo", Name: ptr("Bridge Two")}, component.Draft{Namespace: "ply", Key: "gil", Name: ptr("Lantern")})
		}
		s.sealAll()
	}
	w.fillPools()
	return w
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
	cleos := w.other.choose(cleo, "harbour") // kept in the other world alone
	token, _ := w.other.newToken(auth.Draft{Role: auth.Agent, Player: cleo})
	hidden := w.hidden[len(w.hidden)/2]
	hashes := map[string][]any{
		"message": {w.mine[0].Hash, w.mine[5].Hash, w.mine[15].Hash, w.mine[60].Hash, w.mine[119].Hash, hidden.Hash, w.hidden[0].Hash, sumOf("invented")},
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
	for node, kind := range map[string]string{"Message": "message", "Session": "session", "Thread": "thread", "Player": "player", "Hashtag": "thing", "Item": "player", "Record": "message"} {
		for _, h := range hashes[kind] {
			w.pools["ID"] = append(w.pools["ID"], fmt.Sprintf("%q", model.GlobalID(node, fmt.Sprint(h))))
		}
	}
	selections := []string{`"@0@"`, `"@1@"`, `"@2@"`, `"@3@"`, fmt.Sprintf("%q", model.GlobalID("ContextSelection", cleos.ID)), fmt.Sprintf("%q", model.GlobalID("ContextSelection", inventedUUID))}
	w.pools["selection"] = selections
	w.pools["ID"] = append(w.pools["ID"], selections...)
	w.pools["token"] = quoted(token, inventedUUID)
	for _, list := range []string{"messages", "sessions", "threads", "citedBy", "thread.messages"} {
		for _, h := range hashes["message"] {
			w.pools["cursor "+list] = append(w.pools["cursor "+list], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString([]byte(list+":"+fmt.Sprint(h)))))
		}
	}
	for _, n := range []int{1, 2, 7, 100} {
		w.pools["cursor session.messages"] = append(w.pools["cursor session.messages"], fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "session.messages:%d", n))))
	}
	for _, list := range slices.Sorted(maps.Keys(w.pools)) {
		slices.Sort(w.pools[list])
	}
}

// writer draws valid documents from a schema.
type writer struct {
	*rapid.T
	schema *ast.Schema
	pools  map[string][]string
	around []string // fields, from the root
}

func (w *writer) chance(n, of int) bool { return rapid.IntRange(1, of).Draw(w.T, "chance") <= n }

func (w *writer) from(pool string) string {
	list := w.pools[pool]
	if len(list) == 0 {
		w.Fatalf("nothing is known of %s", pool)
	}
	return rapid.SampledFrom(list).Draw(w.T, pool)
}

// query draws a document of one or two fields.
func (w *writer) query() string {
	var names []string
	for _, f := range w.schema.Query.Fields {
		if !strings.HasPrefix(f.Name, "__") && !slices.Contains(commitments, f.Name) {
			names = append(names, f.Name)
		}
	}
	out := "query {"
	for i := range rapid.IntRange(1, 2).Draw(w.T, "roots") {
		f := w.schema.Query.Fields.ForName(rapid.SampledFrom(names).Draw(w.T, "root"))
		out += fmt.Sprintf(" r%d: ", i) + w.call(f, 4)
	}
	return out + " }"
}

// call draws a field with its arguments.
func (w *writer) call(f *ast.FieldDefinition, depth int) string {
	w.around = append(w.around, f.Name)
	defer func() { w.around = w.around[:len(w.around)-1] }()
	var args []string
	for _, a := range f.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil || a.Name == "first" || w.chance(1, 3) {
			args = append(args, a.Name+": "+w.value(a.Name, a.Type))
		}
	}
	out := f.Name
	if len(args) > 0 {
		out += "(" + strings.Join(args, ", ") + ")"
	}
	return out + w.selection(f.Type, depth)
}

// selection draws fields.
func (w *writer) selection(typ *ast.Type, depth int) string {
	t := w.schema.Types[typ.Name()]
	switch t.Kind {
	case ast.Scalar, ast.Enum:
		return ""
	case ast.Interface, ast.Union:
		out, possible := " { __typename", w.schema.GetPossibleTypes(t)
		for _, p := range possible {
			if w.chance(1, 2) {
				out += " ... on " + p.Name + " {" + w.fields(p, depth-1, differing(possible)) + " }"
			}
		}
		return out + " }"
	}
	return " {" + w.fields(t, depth, nil) + " }"
}

func (w *writer) fields(t *ast.Definition, depth int, apart map[string]bool) string {
	out := " __typename"
	for _, f := range t.Fields {
		inner := w.schema.Types[f.Type.Name()]
		leaf := inner.Kind == ast.Scalar || inner.Kind == ast.Enum
		tells := f.Name == "edges" || f.Name == "node" || f.Name == "items" || f.Name == "dropped" || f.Name == "explanation"
		if strings.HasPrefix(f.Name, "__") || slices.Contains([]string{"leafIndex", "proof", "tookMs"}, f.Name) || !leaf && depth <= 0 || !tells && !w.chance(1, 2) {
			continue
		}
		name := ""
		if apart[f.Name] {
			name = t.Name + "_" + f.Name + ": "
		}
		out += " " + name + w.call(f, depth-1)
	}
	return out
}

// value draws a literal.
func (w *writer) value(name string, typ *ast.Type) string {
	if typ.Elem != nil {
		var list []string
		for range rapid.IntRange(0, 2).Draw(w.T, "entries") {
			list = append(list, w.value(name, typ.Elem))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	switch t := w.schema.Types[typ.Name()]; {
	case t.Kind == ast.InputObject:
		var fields []string
		for _, f := range t.Fields {
			if f.Type.NonNull && f.DefaultValue == nil || w.chance(1, 4) {
				fields = append(fields, f.Name+": "+w.value(f.Name, f.Type))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case t.Kind == ast.Enum:
		return rapid.SampledFrom(t.EnumValues).Draw(w.T, name).Name
	case name == "after" || name == "before":
		return w.cursor()
	case t.Name == "Hash":
		return w.hash(name)
	case t.Name == "ID":
		return w.id()
	case t.Name == "Int":
		return fmt.Sprint(rapid.IntRange(0, 6).Draw(w.T, name))
	case t.Name == "Float":
		return rapid.SampledFrom([]string{"0", "0.01", "0.2", "0.7"}).Draw(w.T, name)
	case t.Name == "Boolean":
		return fmt.Sprint(rapid.Bool().Draw(w.T, name))
	case t.Name == "Time":
		return fmt.Sprintf("%q", longAgo.Add(time.Duration(rapid.IntRange(-1, 130).Draw(w.T, name))*time.Second).Format(time.RFC3339))
	case t.Name == "JSON":
		return "{}"
	}
	n := rapid.IntRange(1, 4).Draw(w.T, "words")
	var text []string
	for range n {
		text = append(text, w.from(rapid.SampledFrom([]string{"word", "word", "hidden word"}).Draw(w.T, "kind")))
	}
	return fmt.Sprintf("%q", strings.Join(text, " "))
}

// hash draws what a name stands for, mostly.
func (w *writer) hash(name string) string {
	kind := map[string]string{
		"message": "message", "sessions": "session", "session": "session", "threads": "thread", "thread": "thread", "players": "player",
		"owners": "player", "player": "player", "component": "player", "hashtags": "thing", "items": "thing", "locations": "thing",
		"verifySession": "session", "eraseMessage": "message",
	}
	if pool := kind[name]; pool != "" && w.chance(9, 10) {
		return w.from(pool)
	}
	if pool := kind[w.around[len(w.around)-1]]; name == "hash" && pool != "" && w.chance(9, 10) {
		return w.from(pool)
	}
	return w.from("Hash")
}

func (w *writer) id() string {
	switch w.around[len(w.around)-1] {
	case "contextSelection", "replayContext", "requestContext":
		return w.from("selection")
	case "revokeToken":
		return w.from("token")
	}
	return w.from("ID")
}

// cursor draws one of the list that the field is, if that has any that could tell something.
func (w *writer) cursor() string {
	list := w.around[len(w.around)-1]
	if list == "messages" && len(w.around) > 1 {
		list = "thread.messages"
		if slices.Contains(w.around, "session") || slices.Contains(w.around, "sessions") {
			list = "session.messages"
		}
	}
	if len(w.pools["cursor "+list]) == 0 {
		return `"bm90aGluZw"`
	}
	return w.from("cursor " + list)
}

// mutation draws one that leaves the worlds alike: a request for context, or what is refused.
func (w *writer) mutation() string {
	field := func(name string) string { return w.call(w.schema.Mutation.Fields.ForName(name), 4) }
	hidden := rapid.SampledFrom(w.pools["hidden message"]).Draw(w.T, "hidden")
	switch rapid.IntRange(0, 11).Draw(w.T, "mutation") {
	case 0:
		return "mutation { eraseMessage(hash: " + hidden + `, reason: "why") { hash } }`
	case 1:
		return "mutation { revokeToken(id: " + w.from("token") + ") { id } }"
	case 2:
		return "mutation { createToken(input: {kind: AGENT, player: " + w.from("stranger") + "}) { secret } }"
	case 3: // refused for its last message at the latest
		return "mutation { appendMessages(messages: [{sessionHash: " + w.from("own session") + `, content: "x", ownerId: ` + w.from("me") + ", threadHash: " + w.from("thread") +
			", playerIds: [" + w.from("player") + "], prevHash: " + w.from("message") + ", refs: [{type: CONTEXT, hash: " + w.from("message") + "}]}, {sessionHash: " + w.from("own session") +
			`, content: "x", ownerId: ` + w.from("me") + ", refs: [{type: CONTEXT, hash: " + hidden + "}]}]) { hash } }"
	case 4:
		return "mutation { recordSelection(selection: " + w.from("selection") + ", message: {sessionHash: " + w.from("own session") + `, content: "x", ownerId: ` + w.from("me") + ", refs: [{type: CONTEXT, hash: " + hidden + "}]}) { hash } }"
	case 5:
		return "mutation { upsertComponents(components: [{namespace: PLY, key: " + rapid.SampledFrom([]string{`"ana"`, `"ben"`, `"cleo"`, `"nobody"`}).Draw(w.T, "key") + `, description: "` + w.from("word") + `"}]) { hash name description } }`
	}
	return "mutation { r: " + field("requestContext") + " }"
}

var (
	uuidPattern     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	clockPattern    = regexp.MustCompile(`20(2[5-9]|[3-9]\d)-\d\d-\d\dT[0-9:.]+Z`)
	idPattern       = regexp.MustCompile(`"[A-Za-z0-9_-]{40,}"`)
	preimagePattern = regexp.MustCompile(`"preimage":"[A-Za-z0-9+/=]+"`)
	tokenCursor     = regexp.MustCompile(`^tokens:\d+:`)
)

// shown is an answer to the byte, but for random ids, which stand by their order, moments of now, and the order of errors of
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
	body = uuidPattern.ReplaceAllStringFunc(body, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprint("id ", len(names))
		}
		return names[id]
	})
	body = clockPattern.ReplaceAllString(body, "now")
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
func (w *worlds) ask(rt *rapid.T, by [2]string, document string) string {
	var told [2]string
	var made [2]string
	for i, s := range []*site{w.one, w.other} {
		d := document
		for n := range 4 {
			id := model.GlobalID("ContextSelection", inventedUUID)
			if n < len(w.selections[i]) {
				id = w.selections[i][len(w.selections[i])-1-n]
			}
			d = strings.ReplaceAll(d, fmt.Sprintf("@%d@", n), id)
		}
		if strings.HasPrefix(d, "mutation { r: requestContext") {
			d = strings.Replace(d, "{ __typename", "{ id __typename", 1)
		}
		a := s.ask(by[i], d, nil)
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
	if told[0] != told[1] {
		rt.Fatalf("the worlds differ (-one +other), by\n%s\n%s", document, cmp.Diff(told[0], told[1]))
	}
	return told[0]
}
