package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/db/instance"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/httpd"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

// The players of the tests of access. Ana, Ben and Eve share a session; Fay speaks to everybody else.
var ana, ben, cleo, dan, eve, fay = playerOf("ana"), playerOf("ben"), playerOf("cleo"), playerOf("dan"), playerOf("eve"), playerOf("fay")

func playerOf(key string) chain.Hash { return component.DefaultHash("ply", key) }

func sumOf(format string, args ...any) chain.Hash {
	return chain.Sum(fmt.Appendf(nil, format, args...))
}

// site is a whole server in this process, on a database of its own.
type site struct {
	t testing.TB
	*instance.Instance
	url      string
	database string // for a superuser
	dir      string // of data
	admin    string // an administrator's token

	mu     *sync.Mutex
	tokens map[string]string // by what they were made for
}

// newSite starts a server; fenced says whether row-level security stands behind the store's own predicates. A clock is the
// store's from the beginning: its sweeper reads it as long as the server runs.
func newSite(t testing.TB, fenced bool, cfg config.Server, clock ...*hands) *site {
	t.Helper()
	at := dbtest.New(t)
	if !fenced {
		runSQL(t, at, "ALTER TABLE log.messages DISABLE ROW LEVEL SECURITY") // by which the store tells
	}
	return siteOn(t, at, t.TempDir(), fenced, cfg, clock...) // the directory is made first, and so removed once the sealer has stopped
}

// siteOn makes a server of a database, and of a data directory, that there may be others of.
func siteOn(t testing.TB, at, dir string, fenced bool, cfg config.Server, clock ...*hands) *site {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	opened, err := instance.Open(context.Background(), config.Database{DatabaseURL: at, DataDir: dir}, false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Fenced() != fenced {
		t.Fatalf("Fenced() = %t, want %t", opened.Fenced(), fenced)
	}
	return siteOf(t, opened, at, dir, cfg, clock...)
}

// ownSite starts a server with the logins of a Postgres that is its own, which have no right too many.
func ownSite(t testing.TB, cfg config.Server) *site {
	t.Helper()
	at, quiet, dir := dbtest.New(t), slog.New(slog.DiscardHandler), t.TempDir()
	if err := db.MigrateOwn(t.Context(), at, quiet); err != nil {
		t.Fatal(err)
	}
	as := func(login string) string {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.User(login)
		return u.String()
	}
	store, err := db.OpenAs(context.Background(), as(db.WriterRole), as(db.ReaderRole), 16, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return siteOf(t, &instance.Instance{DB: store, URL: at, DataDir: dir, Log: quiet}, at, dir, cfg)
}

// siteOf makes a server of an instance, which it closes.
func siteOf(t testing.TB, opened *instance.Instance, at, dir string, cfg config.Server, clock ...*hands) *site {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	t.Cleanup(opened.Close)
	for _, c := range clock {
		opened.Clock = c.now
	}
	metrics := httpd.NewMetrics()
	if err := startSealer(context.Background(), opened.DB, cfg, dir, metrics); err != nil {
		t.Fatal(err)
	}
	listener, err := httpd.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, Instance: opened, url: "http://" + listener.Addr().String(), database: at, dir: dir, admin: auth.NewAdminToken(), mu: &sync.Mutex{}, tokens: map[string]string{}}
	tokens := auth.NewTokens(s.admin, opened.DB, openIDProvider(cfg, opened.DB), quiet)
	t.Cleanup(tokens.Close)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, opened, tokens, cfg, metrics, quiet) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// runSQL runs SQL as the superuser.
func runSQL(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// token gives a token of a player, made once. No scopes mean those usual for the role.
func (s *site) token(role auth.Role, player chain.Hash, scopes auth.Scopes) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprint(role, player, scopes)
	if s.tokens[name] == "" {
		_, s.tokens[name] = s.newToken(auth.Draft{Role: role, Player: player, Scopes: scopes, Note: "for a test"})
	}
	return s.tokens[name]
}

func (s *site) newToken(draft auth.Draft) (id, secret string) {
	s.t.Helper()
	made, secret, err := s.CreateToken(s.t.Context(), draft, auth.Administrator())
	if err != nil {
		s.t.Fatal(err)
	}
	return made.ID, secret
}

// answer is what came over HTTP.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send makes a request with a token, or without any.
func (s *site) send(method, path, token string, body []byte, header ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	identify(r.Header, token)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, text}
}

// cookieMark begins what stands for a token where somebody comes with a session of the console.
const cookieMark = "cm_session="

// identify says who is calling, if it is somebody.
func identify(header http.Header, token string) {
	switch {
	case strings.HasPrefix(token, cookieMark):
		header.Set("Cookie", token)
	case token != "":
		header.Set("Authorization", "Bearer "+token)
	}
}

// signIn gives the cookie of a new session of the console.
func (s *site) signIn(token string) string {
	s.t.Helper()
	a := s.send(http.MethodPost, "/session", "", fmt.Appendf(nil, `{"token":%q}`, token))
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != http.StatusNoContent || !strings.HasPrefix(cookie, cookieMark) {
		s.t.Fatalf("signing in: %d %s %s", a.status, cookie, a.body)
	}
	return cookie
}

// ask sends a document.
func (s *site) ask(token, query string, variables any) answer {
	s.t.Helper()
	body, err := json.Marshal(object{"query": query, "variables": variables})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(http.MethodPost, "/graphql", token, body, "Content-Type: application/json")
}

// reply is a GraphQL response.
type reply struct {
	Data   map[string]any
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
}

func (a answer) reply(t testing.TB) (r reply) {
	t.Helper()
	if err := json.Unmarshal(a.body, &r); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return r
}

// code is that of the first error, "" without one.
func (r reply) code() string {
	if len(r.Errors) == 0 {
		return ""
	}
	return r.Errors[0].Extensions.Code
}

// says is a message, long ago unless told.
func says(player chain.Hash, session, content string, to ...chain.Hash) chain.Draft {
	return chain.Draft{SessionHash: sumOf("session:%s", session), OwnerID: player, PlayerIDs: to, Content: content}
}

func (s *site) append(drafts ...chain.Draft) []chain.Message {
	s.t.Helper()
	written, err := s.Append(s.t.Context(), drafts)
	if err != nil {
		s.t.Fatal(err)
	}
	return written
}

func (s *site) upsert(drafts ...component.Draft) {
	s.t.Helper()
	if _, err := s.UpsertComponents(s.t.Context(), drafts); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) record(drafts ...knowledge.Draft) []knowledge.Record {
	s.t.Helper()
	records, err := s.AddRecords(s.t.Context(), drafts)
	if err != nil {
		s.t.Fatal(err)
	}
	return records
}

// choose keeps a selection of a player, of the shared session.
func (s *site) choose(player chain.Hash, query string) selection.Selection {
	s.t.Helper()
	chosen, err := s.As(player).RequestContext(s.t.Context(), selection.Request{
		Query: query, Limit: 5, Scope: selection.Scope{Sessions: []chain.Hash{sumOf("session:shared")}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return chosen
}

// sealAll waits until all that is committed is sealed.
func (s *site) sealAll() {
	s.t.Helper()
	if _, err := s.AwaitSeal(s.t.Context(), time.Minute); err != nil {
		s.t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }
