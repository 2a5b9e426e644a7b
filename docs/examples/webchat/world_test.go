package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/servertest"
)

// program builds the server once, and TestMain removes it.
var program = sync.OnceValues(func() (*servertest.Binary, error) { return servertest.Build("../../..") })

func TestMain(m *testing.M) {
	code := m.Run()
	if binary, err := program(); err == nil {
		binary.Remove()
	}
	os.Exit(code)
}

// aboutFailure is in each event of a failure, and in nothing else.
const aboutFailure = `"error_code"`

// world is a server, a way to it that can be broken, and a model.
type world struct {
	*servertest.Process
	t     *testing.T
	token string // an agent's, as README.md says
	way   *httptest.Server
	model *httptest.Server

	stop  atomic.Pointer[string]           // requests with this text do not arrive
	heard atomic.Pointer[chan bool]        // of each request that is about a failure: whether its answer gets through
	lose  atomic.Pointer[string]           // answers to requests with this text are lost on the way; "": all of them
	speak atomic.Pointer[http.HandlerFunc] // the model; nil: it answers as scripted
}

func newWorld(t *testing.T) *world {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Process: binary.Start(t, servertest.DataDir(t)), t: t}
	var data struct{ CreateToken struct{ Secret string } }
	err = w.Ask(t.Context(), `mutation($p: Hash!) { createToken(input: { kind: AGENT, player: $p, scopes: ["log:read", "log:append", "context:select", "events:ingest"] }) { secret } }`,
		map[string]any{"p": component.DefaultHash("ply", "webchat")}, &data)
	if err != nil {
		t.Fatal(err)
	}
	w.token = data.CreateToken.Secret
	target, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	w.way = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		lost, stopped := w.lose.Load(), w.stop.Load()
		through := false
		if heard := w.heard.Load(); heard != nil && strings.Contains(string(body), aboutFailure) {
			defer func() { *heard <- through }()
		}
		switch {
		case stopped != nil && strings.Contains(string(body), *stopped):
			panic(http.ErrAbortHandler)
		case lost == nil:
			proxy.ServeHTTP(out, r)
			through = true
		case *lost == "":
			panic(http.ErrAbortHandler) // it doesn't even arrive
		case strings.Contains(string(body), *lost):
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			proxy.ServeHTTP(out, r)
			through = true
		}
	}))
	t.Cleanup(w.way.Close)
	w.model = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if speak := w.speak.Load(); speak != nil {
			(*speak)(out, r)
			return
		}
		scriptedModel(out, r)
	}))
	t.Cleanup(w.model.Close)
	return w
}

// says makes the model do something else until the end of the test.
func (w *world) says(t *testing.T, speak http.HandlerFunc) {
	t.Helper()
	w.speak.Store(&speak)
	t.Cleanup(func() { w.speak.Store(nil) })
}

// chat runs the program, and gives the address of its page.
func (w *world) chat(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	args = append([]string{"-addr", "127.0.0.1:0", "-server", w.way.URL, "-token", w.token}, args...)
	go func() {
		err := run(ctx, args, in, io.Discard)
		_ = in.CloseWithError(io.EOF)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the chat ended with %v", err)
		}
	})
	line := make([]byte, 1000)
	n, _ := out.Read(line)
	found := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).Find(line[:n])
	if found == nil {
		t.Fatalf("the chat prints %q", line[:n])
	}
	return string(found)
}

const modelKey = "a key of a test"

// ownModel are the flags of a chat with the test's model.
func (w *world) ownModel() []string {
	return []string{"-model-url", w.model.URL + "/v1", "-model", "test", "-model-key", modelKey}
}

// browser is a visitor's.
type browser struct {
	*http.Client
	base string
	at   string // the conversation
}

func visit(t *testing.T, base string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{Client: &http.Client{Jar: jar}, base: base}
}

type reply struct {
	status             int
	Code, Conversation string
	Messages           []message
}

// said gives the texts, each after who said it.
func (r reply) said() (out []string) {
	for _, m := range r.Messages {
		out = append(out, m.Role+": "+m.Content)
	}
	return out
}

func (b *browser) send(t *testing.T, method, path, body string, header ...string) (r reply) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := b.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "cmagt_") || strings.Contains(string(text), modelKey) {
		t.Errorf("%s %s tells a secret: %s", method, path, text)
	}
	r.status = response.StatusCode
	if err := json.Unmarshal(text, &r); err != nil && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		t.Fatalf("%s %s: %s: %v", method, path, text, err)
	}
	return r
}

// begin starts a conversation.
func (b *browser) begin(t *testing.T) {
	t.Helper()
	r := b.send(t, http.MethodPost, "/api/conversation", "")
	if r.status != http.StatusOK || r.Conversation == "" || len(r.Messages) != 0 {
		t.Fatalf("a new conversation is %+v", r)
	}
	b.at = r.Conversation
}

// say sends a message in Spanish.
func (b *browser) say(t *testing.T, id, text string) reply {
	t.Helper()
	body, err := json.Marshal(map[string]string{"conversation": b.at, "id": id, "text": text})
	if err != nil {
		t.Fatal(err)
	}
	return b.send(t, http.MethodPost, "/api/message", string(body), "Accept-Language", "es-ES,es;q=0.9")
}

// errors gives the events of failures that the log has, each on a line.
func (w *world) errors(t *testing.T) (lines []string) {
	t.Helper()
	var data struct {
		Messages struct {
			Edges []struct {
				Node struct {
					Role, Content, Source, Channel string
					Importance                     int
					Attachments, Ambient           map[string]any
					Owner                          struct{ Key string }
					Players, Hashtags              []struct{ Key string }
				}
			}
		}
	}
	err := w.Ask(t.Context(), `{ messages(filter: {eventTypes: [ERROR]}, first: 200) { edges { node {
		role content source channel importance attachments ambient owner { key } players { key } hashtags { key } } } } }`, nil, &data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range data.Messages.Edges {
		n := e.Node
		if n.Source != "webchat_backend" {
			continue // the sample's
		}
		lines = append(lines, fmt.Sprint(n.Role, " ", n.Importance, " ", n.Channel, " ", n.Owner.Key, " → ", len(n.Players), " ", n.Hashtags, " ", n.Content, " ",
			n.Attachments["error_code"], " ", n.Attachments["timeout_ms"], " ", n.Attachments["endpoint"], " ", n.Attachments["frontend_message_id"]))
		if thread := fmt.Sprint(n.Ambient["thread_id"]); thread != "client:"+n.Players[0].Key+":"+thread[strings.LastIndex(thread, ":")+1:] {
			t.Errorf("the thread of an event to %s is %s", n.Players[0].Key, thread)
		}
	}
	return lines
}

// runSQL runs SQL as the superuser of the server's database.
func (w *world) runSQL(t *testing.T, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.DatabaseURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if tag, err := conn.Exec(t.Context(), sql, args...); err != nil || tag.RowsAffected() == 0 {
		t.Fatalf("%s: %v, %v", sql, tag, err)
	}
}
