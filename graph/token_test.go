package graph_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
)

// guarded is the API on a listener, with tokens of all kinds, as the server has it.
type guarded struct {
	*live
	tokens   *auth.Tokens
	sessions *auth.Sessions
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{live: &live{api: newAPI(t), token: auth.NewAdminToken()}, sessions: auth.NewSessions()}
	log := slog.New(slog.DiscardHandler)
	g.tokens = auth.NewTokens(g.token, g.store, nil, log)
	t.Cleanup(g.tokens.Close)
	g.sessions.Recheck = g.tokens.Recheck
	gate := auth.NewGate(g.tokens, g.sessions)
	mux := http.NewServeMux()
	mux.Handle("/graphql", gate.Identify(graph.NewHandler(&graph.Resolver{Store: g.store, Log: log},
		graph.Config{Log: log, Tokens: g.tokens, Watcher: g.tokens})))
	mux.Handle("/session", gate.Sessions())
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.live.url = server.URL
	return g
}

// as asks with a token, or with no header if it is empty.
func (g *guarded) as(token, query string, variables any, header ...string) (int, reply) {
	g.t.Helper()
	body, err := json.Marshal(object{"query": query, "variables": variables})
	if err != nil {
		g.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(g.t.Context(), "POST", g.live.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close()
	var out reply
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		g.t.Fatal(err)
	}
	return response.StatusCode, out
}

type madeToken struct {
	Token struct {
		ID, Kind, Note, State string
		Scopes                []string
		CreatedAt, ExpiresAt  time.Time
		RevokedAt, LastUsedAt *time.Time
		Player, Creator       struct{ Hash string }
	}
	Secret string
}

const tokenFields = `{ id kind note state scopes createdAt expiresAt revokedAt lastUsedAt player { hash } creator { hash } }`

// create makes a token with another one.
func (g *guarded) create(by string, input object) (made madeToken) {
	g.t.Helper()
	_, got := g.as(by, `mutation($i: TokenInput!) { createToken(input: $i) { secret token `+tokenFields+` } }`, object{"i": input})
	if len(got.Errors) > 0 {
		g.t.Fatalf("createToken(%v): %+v", input, got.Errors)
	}
	var data struct{ CreateToken madeToken }
	if err := json.Unmarshal(got.Data, &data); err != nil {
		g.t.Fatal(err)
	}
	return data.CreateToken
}

func (g *guarded) revoke(id string) {
	g.t.Helper()
	if _, got := g.as(g.token, `mutation($id: ID!) { revokeToken(id: $id) { state } }`, object{"id": id}); len(got.Errors) > 0 || !contains(string(got.Data), "REVOKED") {
		g.t.Fatalf("revokeToken: %+v %s", got.Errors, got.Data)
	}
}

// soon asks until the answer is as it should be.
func (g *guarded) soon(what string, right func() bool) {
	g.t.Helper()
	for limit := time.Now().Add(20 * time.Second); !right(); {
		if time.Now().After(limit) {
			g.t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func code(r reply) string {
	if len(r.Errors) == 0 {
		return ""
	}
	return r.Errors[0].Extensions.Code
}

func TestTokenOverHTTP(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("porter"), "note": "the porter"})
	if !regexp.MustCompile(`^cmagt_[0-9A-Za-z]{49}$`).MatchString(made.Secret) || made.Token.State != "ACTIVE" || made.Token.Note != "the porter" ||
		made.Token.Player.Hash != hashOf("porter") || made.Token.Creator.Hash != auth.Administrator().Player.String() || made.Token.LastUsedAt != nil {
		t.Errorf("createToken = %+v, want an agent's token", made)
	}
	if want := []string{"log:read", "log:append", "context:select", "memory:write", "verify"}; !slices.Equal(made.Token.Scopes, want) {
		t.Errorf("its scopes = %q, want %q", made.Token.Scopes, want)
	}
	appends := `mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { owner { hash } masterPlayer { hash } } }`
	status, got := g.as(made.Secret, appends, object{"m": []object{message("s", "mine", object{"ownerId": hashOf("porter")})}})
	if want := `{"appendMessages":[{"owner":{"hash":"` + hashOf("porter") + `"},"masterPlayer":null}]}`; status != 200 || string(got.Data) != want {
		t.Errorf("its own message: %d %s %+v, want %s", status, got.Data, got.Errors, want)
	}
	_, got = g.as(made.Secret, appends, object{"m": []object{message("s", "another's")}})
	if code(got) != "FORBIDDEN" || !strings.HasPrefix(got.Errors[0].Message, "messages[0].ownerId: ") {
		t.Errorf("another's message: %+v, want FORBIDDEN that names messages[0].ownerId", got)
	}
	_, got = g.as(g.token, appends, object{"m": []object{message("t", "for the owner")}})
	if want := `"masterPlayer":{"hash":"` + auth.Administrator().Player.String() + `"}`; !contains(string(got.Data), want) {
		t.Errorf("an administrator's for another: %s %+v, want %s", got.Data, got.Errors, want)
	}

	g.tokens.Close() // writes down what was used
	_, got = g.as(g.token, `{ tokens(first: 10) { totalCount edges { node `+tokenFields+` } pageInfo { hasNextPage } } }`, nil)
	var listed struct {
		Tokens struct {
			TotalCount int
			Edges      []struct {
				Node json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(got.Data, &listed); err != nil || listed.Tokens.TotalCount != 1 || len(listed.Tokens.Edges) != 1 {
		t.Fatalf("tokens = %s %+v, want the one", got.Data, got.Errors)
	}
	again := madeToken{}
	if err := json.Unmarshal(listed.Tokens.Edges[0].Node, &again.Token); err != nil || again.Token.ID != made.Token.ID || again.Token.LastUsedAt == nil {
		t.Errorf("the token = %s, %v, want it used", listed.Tokens.Edges[0].Node, err)
	}
	if contains(string(got.Data), made.Secret[len("cmagt_"):]) {
		t.Error("tokens shows the secret")
	}
}

func TestTokenInputs(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	manager := g.create(g.token, object{"kind": "AGENT", "player": hashOf("porter"), "scopes": []string{"log:read", "tokens:manage"}}).Secret
	plain := g.create(g.token, object{"kind": "AGENT", "player": hashOf("porter")})
	for name, test := range map[string]struct {
		by          string
		input       object
		code, begin string
	}{
		"an unknown scope":         {g.token, object{"kind": "AGENT", "scopes": []string{"verify", "root"}}, "BAD_USER_INPUT", "input.scopes[1]: is none of log:read log:append"},
		"no scopes":                {g.token, object{"kind": "AGENT", "scopes": []string{}}, "BAD_USER_INPUT", "input.scopes: is empty"},
		"beyond a year":            {g.token, object{"kind": "AGENT", "expiresAt": time.Now().AddDate(2, 0, 0).Format(time.RFC3339)}, "BAD_USER_INPUT", "input.expiresAt: is not after now and at most 366 days later"},
		"a long note":              {g.token, object{"kind": "AGENT", "note": long(257)}, "BAD_USER_INPUT", "input.note: has 257 bytes; at most 256"},
		"without tokens:manage":    {plain.Secret, object{"kind": "AGENT"}, "FORBIDDEN", "your token lacks the scope tokens:manage"},
		"an administrator's":       {manager, object{"kind": "ADMIN"}, "FORBIDDEN", "input.kind: "},
		"another player's":         {manager, object{"kind": "AGENT", "player": hashOf("x")}, "FORBIDDEN", "input.player: "},
		"more scopes than its own": {manager, object{"kind": "AGENT", "scopes": []string{"erase"}}, "FORBIDDEN", "input.scopes: your own token lacks erase"},
	} {
		_, got := g.as(test.by, `mutation($i: TokenInput!) { createToken(input: $i) { secret } }`, object{"i": test.input})
		if code(got) != test.code || !strings.HasPrefix(got.Errors[0].Message, test.begin) {
			t.Errorf("%s: %+v, want %s %q", name, got, test.code, test.begin)
		}
	}
	if made := g.create(manager, object{"kind": "CLIENT"}); made.Token.Player.Hash != hashOf("porter") || !slices.Equal(made.Token.Scopes, []string{"log:read"}) {
		t.Errorf("its own client = %+v, want the same player, and log:read alone", made.Token)
	}
	for id, want := range map[string]string{"x": "BAD_USER_INPUT", "00000000-0000-4000-8000-000000000000": "NOT_FOUND"} {
		if _, got := g.as(manager, `mutation($id: ID!) { revokeToken(id: $id) { id } }`, object{"id": id}); code(got) != want {
			t.Errorf("revokeToken(%s) = %+v, want %s", id, got, want)
		}
	}
	if _, got := g.as(plain.Secret, `{ tokens { totalCount } }`, nil); code(got) != "FORBIDDEN" {
		t.Errorf("tokens without tokens:manage = %+v, want FORBIDDEN", got)
	}
	if _, got := g.as(manager, `{ tokens(first: 201) { totalCount } }`, nil); code(got) != "BAD_USER_INPUT" {
		t.Errorf("201 tokens = %+v, want BAD_USER_INPUT", got)
	}
	var ids []string
	for after := (*string)(nil); ; {
		_, got := g.as(g.token, `query($a: String) { tokens(first: 1, after: $a) { edges { node { id } } pageInfo { hasNextPage endCursor } } }`, object{"a": after})
		var page struct {
			Tokens struct {
				Edges    []struct{ Node struct{ ID string } }
				PageInfo struct {
					HasNextPage bool
					EndCursor   *string
				}
			}
		}
		if err := json.Unmarshal(got.Data, &page); err != nil || len(page.Tokens.Edges) != 1 {
			t.Fatalf("a page of one: %s %+v", got.Data, got.Errors)
		}
		ids = append(ids, page.Tokens.Edges[0].Node.ID)
		if after = page.Tokens.PageInfo.EndCursor; !page.Tokens.PageInfo.HasNextPage {
			break
		}
	}
	if slices.Sort(ids); len(ids) != 3 || len(slices.Compact(ids)) != 3 {
		t.Errorf("page by page there are %d tokens, want 3, each once", len(ids))
	}
}

// eventsOf opens a stream of events, as whoever the header says. The channel is closed at its end.
func (g *guarded) eventsOf(query string, header ...string) <-chan string {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 30*time.Second)
	g.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "POST", g.live.url+"/graphql", strings.NewReader(`{"query":"`+query+`"}`))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != 200 {
		g.t.Fatalf("%v %v", response, err)
	}
	g.t.Cleanup(func() { _ = response.Body.Close() })
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- text
			}
		}
	}()
	return events
}

// framesOf opens a subscription on a WebSocket. The last that comes is how the socket was closed.
func (g *guarded) framesOf(ctx context.Context, conn *websocket.Conn, query string) <-chan string {
	g.t.Helper()
	g.subscribe(ctx, conn, "1", query)
	frames := make(chan string, 1000)
	go func() {
		defer close(frames)
		for {
			var f frame
			if err := wsjson.Read(ctx, conn, &f); err != nil {
				frames <- websocket.CloseStatus(err).String()
				return
			}
			frames <- f.Type + string(f.Payload)
		}
	}()
	return frames
}

// Streams end when their token is revoked, and say why; so does the whole WebSocket.
func TestStreamsEndWithARevocation(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner")})
	g.wantEnd(made.Secret, func() { g.revoke(made.Token.ID) })
}

func TestStreamsEndWithTheToken(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner"), "expiresAt": time.Now().Add(5 * time.Second).Format(time.RFC3339Nano)})
	g.wantEnd(made.Secret, func() {})
}

// wantEnd opens streams, and wants them to end once the token does.
func (g *guarded) wantEnd(token string, end func()) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 30*time.Second)
	defer cancel()
	hello := `{"authorization":"Bearer ` + token + `"}`
	conn, answer, err := g.dial(ctx, nil, hello)
	if err != nil || answer.Type != "connection_ack" {
		g.t.Fatalf("%v %v", answer, err)
	}
	idle, _, err := g.dial(ctx, nil, hello)
	if err != nil {
		g.t.Fatal(err)
	}
	events, frames := g.eventsOf(subscription, "Authorization", "Bearer "+token), g.framesOf(ctx, conn, subscription)
	end()
	wantLast(g.t, "events", events, `"UNAUTHENTICATED"`, "unknown token")
	var seen []string
	for f := range frames {
		seen = append(seen, f)
	}
	if n := len(seen); n < 2 || !contains(seen[n-2], "error") || !contains(seen[n-2], `"UNAUTHENTICATED"`) || !contains(seen[n-1], "4401") {
		g.t.Errorf("the WebSocket ends with %q, want an error UNAUTHENTICATED and 4401", seen)
	}
	if _, _, err := idle.Read(ctx); websocket.CloseStatus(err) != 4401 {
		g.t.Errorf("an idle WebSocket is closed with %v, want 4401", err)
	}
	g.soon("a request is refused", func() bool {
		status, got := g.as(token, "{ __typename }", nil)
		return status == 401 && code(got) == "UNAUTHENTICATED"
	})
	if _, _, err := g.dial(ctx, nil, hello); websocket.CloseStatus(err) != 4401 {
		g.t.Errorf("another WebSocket: %v, want it closed with 4401", err)
	}
}

// A stream of the administrator's file goes on while others end.
func TestStreamOfTheFileGoesOn(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner")})
	own := g.eventsOf(`subscription{messageAppended(sessions:[\"`+hashOf("s")+`\"]){content}}`, "Authorization", "Bearer "+g.token)
	others := g.eventsOf(subscription, "Authorization", "Bearer "+made.Secret)
	g.revoke(made.Token.ID)
	wantLast(t, "the revoked one", others, `"UNAUTHENTICATED"`)
	if got := until(g.live, "news", own); !contains(got, "news") {
		t.Errorf("the administrator's stream gives %s, want the message", got)
	}
}

// A session of the console lasts no longer than the token it was opened with, and its streams no longer than it.
func TestSessionEndsWithTheToken(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	signIn := func(token string) string {
		t.Helper()
		r, err := http.Post(g.live.url+"/session", "application/json", strings.NewReader(`{"token":"`+token+`"}`))
		if err != nil || len(r.Cookies()) != 1 {
			t.Fatalf("POST /session: %v %v", r, err)
		}
		defer r.Body.Close()
		return r.Cookies()[0].Name + "=" + r.Cookies()[0].Value
	}
	made := g.create(g.token, object{"kind": "CLIENT", "player": hashOf("lena")})
	cookie := signIn(made.Secret)
	if status, got := g.as("", "{ __typename }", nil, "Cookie", cookie); status != 200 {
		t.Fatalf("with the session: %d %+v", status, got)
	}
	events := g.eventsOf(subscription, "Cookie", cookie)
	g.revoke(made.Token.ID)
	wantLast(t, "the session's stream", events, `"UNAUTHENTICATED"`)
	g.soon("the session ends", func() bool {
		status, got := g.as("", "{ __typename }", nil, "Cookie", cookie)
		return status == 401 && code(got) == "UNAUTHENTICATED"
	})

	cookie = signIn(g.token)
	events = g.eventsOf(subscription, "Cookie", cookie)
	r, err := http.NewRequestWithContext(t.Context(), "DELETE", g.live.url+"/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", cookie)
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != 204 {
		t.Fatalf("DELETE /session: %v %v", response, err)
	}
	_ = response.Body.Close()
	wantLast(t, "the stream of who signed out", events, `"UNAUTHENTICATED"`, "the session has ended")
}

// While the database lets nobody in, nobody is told that their token is unknown; the administrator's file needs no
// database.
func TestTokensWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	made := g.create(g.token, object{"kind": "AGENT", "player": hashOf("owner")})
	signedIn, err := http.Post(g.live.url+"/session", "application/json", strings.NewReader(`{"token":"`+made.Secret+`"}`))
	if err != nil || len(signedIn.Cookies()) != 1 {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, signedIn.Body)
	cookie := signedIn.Cookies()[0].Name + "=" + signedIn.Cookies()[0].Value
	config, err := pgx.ParseConfig(g.api.url)
	if err != nil {
		t.Fatal(err)
	}
	name := config.Database
	config.Database = "postgres"
	admin, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	closed := func(yes string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" ALLOW_CONNECTIONS "+yes); err != nil {
			t.Fatal(err)
		}
		if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name); err != nil {
			t.Fatal(err)
		}
	}
	closed("false")
	g.soon("UNAVAILABLE", func() bool {
		status, got := g.as(made.Secret, "{ __typename }", nil)
		if status == 401 {
			t.Fatalf("without the database: %d %+v, want UNAVAILABLE", status, got)
		}
		return status == 503 && code(got) == "UNAVAILABLE"
	})
	if status, got := g.as(auth.NewToken(auth.Agent), "{ __typename }", nil); status != 503 || code(got) != "UNAVAILABLE" {
		t.Errorf("an unknown token without the database: %d %+v, want UNAVAILABLE", status, got)
	}
	if status, got := g.as("cmagt_x", "{ __typename }", nil); status != 401 {
		t.Errorf("a malformed token without the database: %d %+v, want 401", status, got)
	}
	if status, got := g.as(g.token, "{ __typename }", nil); status != 200 {
		t.Errorf("the administrator's without the database: %d %+v, want 200", status, got)
	}
	g.soon("UNAVAILABLE with the session", func() bool {
		status, _ := g.as("", "{ __typename }", nil, "Cookie", cookie)
		return status == 503
	})
	closed("true")
	g.soon("all is well again", func() bool {
		status, _ := g.as(made.Secret, "{ __typename }", nil)
		session, _ := g.as("", "{ __typename }", nil, "Cookie", cookie)
		return status == 200 && session == 200
	})
}
