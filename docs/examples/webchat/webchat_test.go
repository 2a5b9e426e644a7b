package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The chat runs against a real server and a model over HTTP. Its page is tested in a browser: web/console/e2e/webchat.test.ts.
func TestWebchat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	t.Run("remembers what was said", w.remembers)
	t.Run("keeps visitors apart", w.keepsApart)
	t.Run("records a message once", w.recordsOnce)
	t.Run("writes failures of the model as events", w.writesFailures)
	t.Run("tells failures until they are written", w.tellsAgain)
	t.Run("says when the server is away", w.saysAway)
	t.Run("says when a conversation has expired", w.saysExpired)
	t.Run("takes no more than it should", w.limits)
	t.Run("names what is wrong with its settings", w.settings)
}

const scripted = "No soy una IA sino un modelo con guion, y esto no es una respuesta de verdad. Has escrito: «%s». Con ello he recibido %d mensajes anteriores de este chat y %d líneas de contexto."

func (w *world) remembers(t *testing.T) {
	b := visit(t, w.chat(t)) // by the program's own model
	if r := b.send(t, http.MethodGet, "/api/conversation?id=", ""); r.status != 200 || r.Conversation != "" || len(r.Messages) != 0 {
		t.Fatalf("before anything was said: %+v", r)
	}
	b.begin(t)
	b.say(t, "m1", "Quiero ver zapatillas")
	r := b.say(t, "m2", "¿Qué quería ver?")
	want := []string{
		"user: Quiero ver zapatillas", "assistant: " + fmt.Sprintf(scripted, "Quiero ver zapatillas", 0, 0),
		"user: ¿Qué quería ver?",
	}
	if len(r.Messages) != 4 || !slices.Equal(r.said()[:3], want) || !strings.Contains(r.Messages[3].Content, "2 mensajes anteriores") {
		t.Errorf("the conversation is %q, want %q and an answer that knows of 2 messages", r.said(), want)
	}
	for _, path := range []string{"/api/conversation", "/api/conversation?id=" + b.at} {
		if again := b.send(t, http.MethodGet, path, ""); again.Conversation != b.at || !slices.Equal(again.said(), r.said()) {
			t.Errorf("GET %s is %+v", path, again)
		}
	}
	first := b.at
	b.begin(t)
	if r := b.say(t, "m1", "hola"); len(r.Messages) != 2 || b.at == first {
		t.Errorf("a new chat is %+v", r)
	}
}

func (w *world) keepsApart(t *testing.T) {
	base := w.chat(t)
	one, other := visit(t, base), visit(t, base)
	one.begin(t)
	one.say(t, "m1", "un secreto")
	other.begin(t)
	other.at = one.at
	if r := other.say(t, "m1", "¿cuál era el secreto?"); r.status != http.StatusGone || r.Code != "expired" {
		t.Errorf("another's conversation takes %+v", r)
	}
	for _, at := range []string{one.at, "x:" + one.at} {
		if r := other.send(t, http.MethodGet, "/api/conversation?id="+at, ""); r.Conversation != "" || len(r.Messages) != 0 {
			t.Errorf("another's conversation is shown: %+v", r)
		}
	}
	stranger := visit(t, base) // without a cookie
	stranger.at = one.at
	if r := stranger.say(t, "m1", "hola"); r.status != http.StatusGone {
		t.Errorf("a stranger's message is %+v", r)
	}
}

func (w *world) recordsOnce(t *testing.T) {
	flags := w.ownModel()
	b := visit(t, w.chat(t, flags...))
	b.begin(t)

	// Clicked twice: the second comes while the first is answered.
	reached, answer := make(chan struct{}, 8), make(chan struct{})
	w.says(t, func(out http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		<-answer
		scriptedModel(out, r)
	})
	var clicks sync.WaitGroup
	for range 4 {
		clicks.Go(func() {
			if r := b.say(t, "m1", "¿Hay zapatos?"); len(r.Messages) != 2 {
				t.Errorf("a click gives %+v", r)
			}
		})
	}
	<-reached
	close(answer)
	clicks.Wait()
	if r := b.send(t, http.MethodGet, "/api/conversation?id="+b.at, ""); len(r.Messages) != 2 {
		t.Errorf("clicked four times, there is %q", r.said())
	}

	// Recorded, but the answer is lost on the way; tried again, the model says something else, also of another process.
	n := 0
	w.says(t, func(out http.ResponseWriter, r *http.Request) {
		n++
		fmt.Fprintf(out, `{"choices":[{"message":{"role":"assistant","content":"respuesta %d"}}]}`, n)
	})
	lost := "recordExchange"
	w.lose.Store(&lost)
	if r := b.say(t, "m2", "sí"); r.status != http.StatusServiceUnavailable || r.Code != "server" {
		t.Errorf("with its answer lost: %+v", r)
	}
	w.lose.Store(nil)
	want := []string{"user: sí", "assistant: respuesta 1"}
	if r := b.say(t, "m2", "sí"); r.status != 200 || len(r.Messages) != 4 || !slices.Equal(r.said()[2:], want) {
		t.Errorf("tried again: %d %q", r.status, r.said())
	}
	restarted := &browser{Client: b.Client, base: w.chat(t, flags...), at: b.at}
	if r := restarted.say(t, "m2", "sí"); r.status != 200 || len(r.Messages) != 4 {
		t.Errorf("tried again of another process: %d %q", r.status, r.said())
	}
	if r := restarted.say(t, "m3", "sí"); r.status != 200 || len(r.Messages) != 6 { // said again
		t.Errorf("said again: %d %q", r.status, r.said())
	}
}

func (w *world) writesFailures(t *testing.T) {
	base, hasty := w.chat(t, w.ownModel()...), w.chat(t, append(w.ownModel(), "-model-timeout", "300ms")...)
	tight := w.chat(t, append(w.ownModel(), "-token-budget", "20")...)
	for i, c := range []struct {
		name   string
		speak  http.HandlerFunc
		status int
		word   string
		tag    string
		event  string
	}{
		{"an error", func(out http.ResponseWriter, _ *http.Request) { http.Error(out, "overloaded", 500) }, 502, "model", "model_error", "El modelo de IA ha respondido con un error. MODEL_ERROR"},
		{"no JSON", func(out http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(out, "<html>") }, 502, "model", "model_error", "El modelo de IA ha respondido con un error. MODEL_ERROR"},
		{"no text", func(out http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(out, `{"choices":[{"message":{"content":null}}]}`)
		}, 502, "model", "model_error", "El modelo de IA ha respondido con un error. MODEL_ERROR"},
		{"too much", func(out http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(out, `{"choices":[{"message":{"content":%q}}]}`, strings.Repeat("a", maxAnswer+1))
		}, 502, "model", "model_error", "El modelo de IA ha respondido con un error. MODEL_ERROR"},
		{"no answer", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // from then on it is heard that nobody waits any more
			<-r.Context().Done()
		}, 504, "timeout", "model_timeout", "No se ha podido obtener respuesta del modelo de IA (timeout). MODEL_TIMEOUT"},
		{"nobody", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, "model", "model_unavailable", "No se ha podido contactar con el modelo de IA. MODEL_UNAVAILABLE"},
		{"nothing that is said", func(out http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(out, `{"choices":[{"message":{"content":"{\"tool_calls\":[]}"}}]}`)
		}, 422, "refused", "answer_rejected", "El modelo de IA ha respondido algo que no se puede guardar. ANSWER_REJECTED"},
		{"no text at all", func(out http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(out, `{"choices":[{"message":{"content":"a\u0000b"}}]}`)
		}, 422, "refused", "answer_rejected", "El modelo de IA ha respondido algo que no se puede guardar. ANSWER_REJECTED"},
		{"a prompt that does not fit", func(out http.ResponseWriter, _ *http.Request) {
			t.Error("the model is asked what does not fit")
			http.Error(out, "asked", 500)
		}, 413, "long", "prompt_too_long", "El mensaje no cabe en lo que se pregunta al modelo de IA. PROMPT_TOO_LONG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, asked := visit(t, base), "30000 "+w.model.URL+"/v1/chat/completions"
			switch c.status {
			case http.StatusGatewayTimeout:
				b.base, asked = hasty, "300 "+w.model.URL+"/v1/chat/completions"
			case http.StatusRequestEntityTooLarge:
				b.base, asked = tight, "<nil> <nil>"
			}
			b.begin(t)
			id := fmt.Sprint("fallo-", i)
			w.says(t, c.speak)
			for range 2 { // each failure is one of its own
				if r := b.say(t, id, "hola"); r.status != c.status || r.Code != c.word {
					t.Errorf("the visitor gets %+v, want %d %s", r, c.status, c.word)
				}
			}
			line := fmt.Sprintf("system 1 webchat webchat → 1 [{error} {%s}] %s %s %s", c.tag, c.event, asked, id)
			got := slices.DeleteFunc(w.errors(t), func(found string) bool { return !strings.HasSuffix(found, " "+id) })
			if !slices.Equal(got, []string{line, line}) {
				t.Errorf("events are\n%s\nwant twice\n%s", strings.Join(got, "\n"), line)
			}
			w.speak.Store(nil)
			b.base = base
			if r := b.say(t, id, "hola"); r.status != 200 || len(r.Messages) != 2 {
				t.Errorf("tried again: %d %q", r.status, r.said())
			}
		})
	}

	w.says(t, func(out http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+modelKey || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("the model is asked with %q at %s", r.Header.Get("Authorization"), r.URL)
		}
		_, _ = io.WriteString(out, `{"choices":[{"message":{"content":"buenas"}}]}`)
	})
	b, before := visit(t, base), w.errors(t)
	b.begin(t)
	if r := b.say(t, "m1", `{"tool_calls":[]}`); r.Code != "refused" {
		t.Errorf("what is never kept: %+v", r)
	}
	if after := w.errors(t); len(after) != len(before) { // it was the visitor's
		t.Errorf("what the visitor wrote is the failure %q", after)
	}
}

// An event that does not arrive, or whose answer is lost, is sent again, and is one event.
func (w *world) tellsAgain(t *testing.T) {
	w.says(t, func(out http.ResponseWriter, _ *http.Request) { http.Error(out, "overloaded", 500) })
	for name, broken := range map[string]*atomic.Pointer[string]{"does not arrive": &w.stop, "has no answer": &w.lose} {
		b, id := visit(t, w.chat(t, w.ownModel()...)), strings.ReplaceAll(name, " ", "-")
		b.begin(t)
		heard, event := make(chan bool, 100), aboutFailure
		w.heard.Store(&heard)
		broken.Store(&event)
		if r := b.say(t, id, "hola"); r.status != http.StatusBadGateway {
			t.Errorf("%s: the visitor gets %+v", name, r)
		}
		for vain := 0; !<-heard; {
			if vain++; vain == 2 {
				broken.Store(nil)
			}
		}
		w.heard.Store(nil)
		got := slices.DeleteFunc(w.errors(t), func(found string) bool { return !strings.HasSuffix(found, " "+id) })
		if len(got) != 1 {
			t.Errorf("an event that %s is there %d times, want 1: %q", name, len(got), got)
		}
	}
}

func (w *world) saysAway(t *testing.T) {
	b := visit(t, w.chat(t))
	b.begin(t)
	all := ""
	w.lose.Store(&all)
	away := visit(t, w.chat(t)) // begun without the server
	for _, r := range []reply{b.say(t, "m1", "hola"), b.send(t, http.MethodGet, "/api/conversation", ""), away.send(t, http.MethodPost, "/api/conversation", "")} {
		if r.status != http.StatusServiceUnavailable || r.Code != "server" {
			t.Errorf("without the server: %+v", r)
		}
	}
	w.lose.Store(nil)
	away.begin(t)
	if r := b.say(t, "m1", "hola"); r.status != 200 || len(r.Messages) != 2 {
		t.Errorf("with the server again: %d %q", r.status, r.said())
	}
}

func (w *world) saysExpired(t *testing.T) {
	b := visit(t, w.chat(t, w.ownModel()...))
	end := func() {
		w.runSQL(t, `UPDATE memory.conversations SET created_at = created_at - interval '2 hours', last_activity = last_activity - interval '2 hours', expires_at = expires_at - interval '2 hours' WHERE id LIKE '%:' || $1`, b.at)
	}
	b.begin(t)
	b.say(t, "m1", "hola")
	end()
	if r := b.say(t, "m2", "¿sigues ahí?"); r.status != http.StatusGone || r.Code != "expired" {
		t.Errorf("after its end: %+v", r)
	}
	if r := b.send(t, http.MethodGet, "/api/conversation?id="+b.at, ""); r.status != 200 || r.Conversation != "" {
		t.Errorf("shown after its end: %+v", r)
	}
	b.begin(t)
	w.says(t, func(out http.ResponseWriter, r *http.Request) { // it ends while the model thinks
		end()
		scriptedModel(out, r)
	})
	if r := b.say(t, "m2", "¿sigues ahí?"); r.status != http.StatusGone {
		t.Errorf("ended meanwhile: %+v", r)
	}
	w.speak.Store(nil)
	b.begin(t)
	if r := b.say(t, "m2", "¿sigues ahí?"); r.status != 200 || len(r.Messages) != 2 {
		t.Errorf("in a fresh one: %d %q", r.status, r.said())
	}
}

func (w *world) limits(t *testing.T) {
	base := w.chat(t)
	b := visit(t, base)
	for _, file := range []string{"/", "/chat.js", "/chat.css"} {
		if r := b.send(t, http.MethodGet, file, "", "Accept", "*/*"); r.status != 200 {
			t.Errorf("GET %s: %d", file, r.status)
		}
	}
	b.begin(t)
	for _, c := range []struct {
		name, text string
		status     int
	}{
		{"nothing", " \n", 422},
		{"the most", strings.Repeat("ñ", maxText), 200},
		{"too much", strings.Repeat("ñ", maxText+1), 422},
		{"a body that is too large", strings.Repeat("a", maxBody), 422},
		{"too many tokens", strings.Repeat("𓀀", maxText), 413},
		{"a model's response", `{"choices":[{"message":{"content":"hola"}}]}`, 422},
	} {
		if r := b.say(t, c.name, c.text); r.status != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, r.status, r.Code, c.status)
		}
	}
	for name, header := range map[string][]string{"another site": {"Origin", "https://evil.example"}, "another page": {"Sec-Fetch-Site", "cross-site"}} {
		if r := b.send(t, http.MethodPost, "/api/conversation", "", header...); r.status != http.StatusForbidden {
			t.Errorf("from %s: %+v", name, r)
		}
	}
	response, err := b.Get(base + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if policy := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'; ") {
		t.Errorf("the policy of the page is %s", policy)
	}
	fresh := visit(t, base)
	if response, err = fresh.Get(base + "/api/conversation"); err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if c := response.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is %v", c)
	}
	named, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	named.Host = "rebound.example"
	if response, err = b.Do(named); err != nil || response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("by another name: %v %v", response, err)
	}
	defer response.Body.Close()
}

func (w *world) settings(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "-token: there is none"},
		{[]string{"-token", "cmagt_wrong"}, "-token: UNAUTHENTICATED"},
		{[]string{"-token", w.token, "-server", "localhost:8080"}, "-server: "},
		{[]string{"-token", w.token, "-addr", ":8090"}, "-addr: "},
		{[]string{"-token", w.token, "-addr", "192.0.2.1:8090"}, "-addr: "},
		{[]string{"-token", w.token, "-model-url", "http://localhost:11434/v1"}, "-model: "},
		{[]string{"-token", w.token, "-model-url", "ftp://localhost"}, "-model-url: "},
		{[]string{"-token", w.token, "-model-timeout", "0s"}, "-model-timeout: "},
		{[]string{"-token", w.token, "-model-timeout", "soon"}, "-model-timeout"},
		{[]string{"-token", w.token, "hola"}, "hola"},
	} {
		args := c.args
		if !slices.Contains(args, "-server") {
			args = append([]string{"-server", w.URL}, args...)
		}
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

// The environment gives defaults, and the help shows none of it.
func TestSettingsOfEnvironment(t *testing.T) {
	t.Setenv("WEBCHAT_TOKEN", "cmagt_secret")
	t.Setenv("WEBCHAT_MODEL_KEY", "sk-secret")
	t.Setenv("WEBCHAT_MODEL_TIMEOUT", "2s")
	s, err := read([]string{"-model-key", "sk-other"}, io.Discard)
	if err != nil || s.token != "cmagt_secret" || s.modelKey != "sk-other" || s.modelTimeout != 2*time.Second {
		t.Errorf("settings are %+v, %v", s, err)
	}
	var help strings.Builder
	if _, err := read([]string{"-help"}, &help); err == nil || strings.Contains(help.String(), "secret") || !strings.Contains(help.String(), "WEBCHAT_MODEL_TIMEOUT") {
		t.Errorf("help: %v\n%s", err, help.String())
	}
	t.Setenv("WEBCHAT_MODEL_TIMEOUT", "soon")
	if _, err := read(nil, io.Discard); err == nil || !strings.Contains(err.Error(), "WEBCHAT_MODEL_TIMEOUT") {
		t.Errorf("a wrong variable: %v", err)
	}
}
