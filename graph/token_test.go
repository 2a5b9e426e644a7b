package graph_test

import (
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
