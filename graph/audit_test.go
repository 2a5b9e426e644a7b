package graph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/selection"
)

// recorded gives the sessions that stand on record as read by the administrator, event by event.
func (a *api) recorded() (events [][]string) {
	a.t.Helper()
	rows, err := a.store.SessionMessages(a.t.Context(), db.AuditSession(auth.Administrator().Player), db.Page[int64]{Limit: 1000})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, item := range rows.Items {
		var d struct {
			Kind     string
			Sessions []string
		}
		if err := json.Unmarshal([]byte(*item.Value.Attachments), &d); err != nil {
			a.t.Fatal(err)
		}
		if d.Kind == "reading" {
			events = append(events, d.Sessions)
		}
	}
	return events
}

// foreign writes messages that have nothing to do with the administrator.
func (a *api) foreign(session string, contents ...string) []chain.Message {
	a.t.Helper()
	var drafts []chain.Draft
	for _, content := range contents {
		hash, thread := chain.Sum([]byte(session)), chain.Sum([]byte("thread of "+session))
		d := chain.Draft{SessionHash: hash, OwnerID: chain.Sum([]byte("ana")), Content: content, ThreadHash: &thread}
		drafts = append(drafts, d)
	}
	written, err := a.store.Append(a.t.Context(), drafts)
	if err != nil {
		a.t.Fatal(err)
	}
	return written
}

// Whatever an administrator is shown of sessions that are not theirs is on record before they see it, once, whichever way
// they ask; who asks for hashes, numbers and checks leaves none.
func TestReadingOthersIsOnRecord(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for i, test := range []struct {
		name, query string // %s: the session, its message, its thread, the selection
		read        bool
	}{
		{"a message", `{ message(hash: "%[2]s") { content } }`, true},
		{"who sent it", `{ message(hash: "%[2]s") { owner { hash } } }`, true},
		{"a node", `{ node(id: "%[5]s") { ... on Message { createdAt } } }`, true},
		{"a list", `{ messages(filter: {sessions: ["%[1]s"]}) { edges { node { ...f } } } } fragment f on Message { role }`, true},
		{"a session", `{ session(hash: "%[1]s") { messages { edges { node { content } } } } }`, true},
		{"a thread's last", `{ thread(hash: "%[3]s") { lastMessage { content } } }`, true},
		{"a thread", `{ thread(hash: "%[3]s") { messages { edges { node { content } } } } }`, true},
		{"a selection", `{ contextSelection(id: "%[4]s") { rendered } }`, true},
		{"a replay", `{ replayContext(id: "%[4]s") { selection { rendered } } }`, true},
		{"a list of selections", `{ selections(first: 1) { edges { node { rendered } } } }`, true},
		{"a try", `{ tryContext(request: {query: "falcon", threshold: 0, scope: {sessions: ["%[1]s"]}}) { receipt } }`, true},
		{"a verdict", `{ whyNot(selection: "%[4]s", hash: "%[2]s") { verdicts { message } } }`, true},
		{"a request", `mutation { requestContext(input: {query: "falcon", threshold: 0, scope: {sessions: ["%[1]s"]}}) { id } }`, true},
		{"what it is made of", `{ message(hash: "%[2]s") { integrity { contentPreimage } } }`, true},
		{"a quarantine", `mutation { quarantine(message: "%[2]s", reason: "why") { message { content } } }`, true},

		{"hashes", `{ messages(filter: {sessions: ["%[1]s"]}) { totalCount pageInfo { endCursor } edges { cursor node { id hash prevHash sequence quarantined
			session { hash length head } refs { hash } citedBy { totalCount } integrity { state leafIndex } } } } }`, false},
		{"sessions", `{ sessions { totalCount edges { node { hash length head startedAt } } } session(hash: "%[1]s") { messages { totalCount } } }`, false},
		{"threads", `{ threads { edges { node { hash messageCount } } } }`, false},
		{"checks", `{ verifySession(hash: "%[1]s") { valid } verifyLog { valid } }`, false},
		{"a quarantine's frame", `mutation { quarantine(message: "%[2]s", reason: "why") { reason placedAt selections { totalCount } message { hash } } }`, false},
	} {
		name := fmt.Sprint("session ", i)
		written := a.foreign(name, "The falcon nests in the tower.", "It does.")
		player := a.store.As(written[0].OwnerID)
		s, err := player.RequestContext(t.Context(), falcon(written[0].SessionHash))
		if err != nil {
			t.Fatal(err)
		}
		query := strings.TrimSuffix(fmt.Sprintf(test.query+"%.0[1]s%.0[2]s%.0[3]s%.0[4]s%.0[5]s", written[0].SessionHash.String(), written[0].Hash.String(),
			written[0].ThreadHash.String(), globalID("ContextSelection", s.ID), globalID("Message", written[0].Hash.String())), "\n")
		before := len(a.recorded())
		a.ask(query, nil, &struct{}{})
		a.ask(query, nil, &struct{}{})
		events := a.recorded()[before:]
		switch {
		case test.read && (len(events) != 1 || !slices.Equal(events[0], []string{written[0].SessionHash.String()})):
			t.Errorf("%s: on record are %v, want the session once", test.name, events)
		case !test.read && len(events) != 0:
			t.Errorf("%s: on record are %v, want none", test.name, events)
		}
	}
	var log struct{ VerifyLog struct{ Valid bool } }
	if a.ask(`{ verifyLog { valid } }`, nil, &log); !log.VerifyLog.Valid {
		t.Error("the chain of the events does not verify")
	}
}

// What was confirmed in a conversation was said by somebody, whether that stands in the log or not.
func TestReadingAConversationIsOnRecord(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	c, err := a.store.StartConversation(t.Context(), memory.Client, "42", chain.Sum([]byte("assistant")))
	if err != nil {
		t.Fatal(err)
	}
	query := fmt.Sprintf(`{ conversation(id: %q) { state } }`, c.ID.String())
	a.ask(query, nil, &struct{}{})
	if events := a.recorded(); len(events) != 0 {
		t.Errorf("of a conversation in which nothing was said or confirmed: %v", events)
	}
	if _, err := a.store.UpdateState(t.Context(), c.ID, memory.State{"size": json.RawMessage("43")}); err != nil {
		t.Fatal(err)
	}
	a.ask(query, nil, &struct{}{})
	if events := a.recorded(); len(events) != 1 || !slices.Equal(events[0], []string{c.ID.Session().String()}) {
		t.Errorf("on record is %v, want the conversation's session once", events)
	}
}

// The context of a prompt is selected with the assistant's eyes, and yet an administrator reads it.
func TestReadingAPromptIsOnRecord(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	assistant := chain.Sum([]byte("assistant"))
	var sessions []string
	var c memory.Conversation
	for _, said := range []string{"The falcon nests in the tower.", "Good morning."} {
		var err error
		if c, err = a.store.StartConversation(t.Context(), memory.Client, "42", assistant); err == nil {
			_, err = a.store.RecordExchange(t.Context(), c.ID, db.Exchange{User: said, Assistant: "Noted."}, assistant)
		}
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, c.ID.Session().String())
	}
	for _, ask := range []struct {
		context, said string // said: in the third message
		want          []string
	}{{"", "morning", sessions[1:]}, {`, context: {query: "falcon", threshold: 0}`, "falcon", sessions[:1]}} {
		before := len(a.recorded())
		var got struct {
			PromptMessages []struct{ Role, Content string }
		}
		a.ask(fmt.Sprintf(`mutation { promptMessages(conversation: %q, input: "Where?", rolePrompt: "You answer."%s) { role content } }`, c.ID.String(), ask.context), nil, &got)
		if messages := got.PromptMessages; len(messages) < 3 || !strings.Contains(messages[2].Content, ask.said) {
			t.Fatalf("with%s: %+v", ask.context, messages)
		}
		if events := a.recorded()[before:]; len(events) != 1 || !slices.Equal(events[0], ask.want) {
			t.Errorf("with%s: on record are %v, want %v once", ask.context, events, ask.want)
		}
	}
}

// One answer leaves one event, of all that it shows, refs' targets included.
func TestReadingOfOneAnswer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	first, second := a.foreign("first", "one"), a.foreign("second", "two")
	third := a.append(message("third", "mine", object{"refs": []object{{"hash": first[0].Hash.String(), "type": "CONTEXT"}}}))
	query := fmt.Sprintf(`{ a: message(hash: "%s") { refs { target { ... on Message { content } } } } b: message(hash: "%s") { content } }`, third[0], second[0].Hash)
	a.ask(query, nil, &struct{}{})
	want := []string{first[0].SessionHash.String(), second[0].SessionHash.String()}
	slices.Sort(want)
	if events := a.recorded(); len(events) != 1 || !slices.Equal(events[0], want) {
		t.Errorf("on record are %v, want one event of %v", events, want)
	}
}

// While the record cannot be written the administrator sees nothing of others, and is told why; their own they see.
func TestReadingIsRefusedWithoutARecord(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hidden, own := a.foreign("foreign", "hidden words")[0], a.append(message("own", "my words"))[0]
	conn, err := pgx.Connect(t.Context(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), "ALTER DATABASE "+conn.Config().Database+" SET default_transaction_read_only = on"); err != nil {
		t.Fatal(err)
	}
	reader := &api{t: t, url: a.url, counter: &statements{}}
	log := slog.New(slog.DiscardHandler)
	if reader.store, err = db.Open(t.Context(), a.url, 8, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.store.Close)
	served := graph.NewHandler(&graph.Resolver{Store: reader.store, Log: log}, graph.Config{Log: log})
	reader.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Administrator())))
	})
	got := reader.try(fmt.Sprintf(`{ a: message(hash: "%s") { content } b: message(hash: "%s") { content } }`, hidden.Hash, own), nil)
	if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "UNAVAILABLE" || got.Errors[0].Message != "reading others' sessions is recorded in the log, which cannot be written now" ||
		bytes.Contains(got.Data, []byte("words")) {
		t.Errorf("the answer is %s, errors %+v; want UNAVAILABLE and nothing else", got.Data, got.Errors)
	}
	for _, query := range []string{fmt.Sprintf(`{ message(hash: "%s") { content } }`, own), fmt.Sprintf(`{ message(hash: "%s") { hash } }`, hidden.Hash)} {
		if got := reader.try(query, nil); len(got.Errors) > 0 || bytes.Contains(got.Data, []byte("null")) {
			t.Errorf("%s: %s, errors %+v", query, got.Data, got.Errors)
		}
	}
}

// A subscription has each new session put on record before its first message is delivered.
func TestDeliveryIsOnRecord(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	events := g.eventsOf(`subscription{messageAppended(sessions:[\"`+hashOf("a")+`\",\"`+hashOf("b")+`\",\"`+hashOf("mine")+`\"]){content}}`, "Authorization", "Bearer "+g.token)
	hashes := g.eventsOf(`subscription{messageAppended(sessions:[\"`+hashOf("c")+`\"]){hash}}`, "Authorization", "Bearer "+g.token)
	until(g.live, "news", g.eventsOf(`subscription{messageAppended{hash}}`, "Authorization", "Bearer "+g.token)) // streams that were opened before are on by now
	before := len(g.recorded())
	g.foreign("a", "one", "two")
	g.append(message("mine", "three"))
	g.foreign("b", "four")
	g.foreign("c", "five")
	for _, want := range []string{"one", "two", "three", "four"} {
		if got := <-events; !contains(got, want) {
			t.Errorf("event %s, want %s", got, want)
		}
		recorded := fmt.Sprint(g.recorded())
		if !contains(recorded, hashOf("a")) || contains(recorded, hashOf("mine")) || want == "four" && !contains(recorded, hashOf("b")) {
			t.Errorf("at the delivery of %s on record are %s", want, recorded)
		}
	}
	if got := <-hashes; !contains(got, "hash") || contains(fmt.Sprint(g.recorded()), hashOf("c")) {
		t.Errorf("hashes alone: %s, on record %v", got, g.recorded())
	}
	if n := len(g.recorded()) - before; n != 2 {
		t.Errorf("there are %d events, want 2", n)
	}
}

// Everybody else reads without a record.
func TestOthersReadingIsNotOnRecord(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	m := g.foreign("a", "one")[0]
	made := g.create(g.token, object{"kind": "AGENT", "player": m.OwnerID.String()})
	if _, got := g.as(made.Secret, `query($h: Hash!) { message(hash: $h) { content } }`, object{"h": m.Hash}); !contains(string(got.Data), "one") {
		t.Errorf("the agent sees %s, %+v", got.Data, got.Errors)
	}
	if events := g.recorded(); len(events) != 0 {
		t.Errorf("on record are %v", events)
	}
	if n, err := g.store.As(m.OwnerID).CountMessages(t.Context(), everything, selection.Match{}); err != nil || n != 1 {
		t.Errorf("the agent's player sees %d messages, %v; want 1", n, err)
	}
}

// Two servers of one log: each records what its own administrators read.
func TestReadingOnTwoServers(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	store, err := db.Open(t.Context(), a.url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	log := slog.New(slog.DiscardHandler)
	served := graph.NewHandler(&graph.Resolver{Store: store, Log: log}, graph.Config{Log: log})
	b := &api{t: t, store: store, url: a.url, counter: a.counter, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Administrator())))
	})}
	m := a.foreign("a", "one")[0]
	for _, server := range []*api{a, b, b, a} {
		server.ask(`query($h: Hash!) { message(hash: $h) { content } }`, object{"h": m.Hash}, &struct{}{})
	}
	if n := len(a.recorded()); n != 2 {
		t.Errorf("%d events, want one of each server", n)
	}
}
