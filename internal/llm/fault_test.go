package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/llm/llmtest"
)

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]Config{
		"LLM_URL":   {URL: "http://a:secret-7@localhost/v1", Model: "m"},
		"LLM_MODEL": {URL: "http://localhost/v1", Key: "secret-7"},
		"LLM_KEY":   {URL: "http://localhost/v1", Model: "m", Key: "secret-7 " + "\nX: y"},
	} {
		m, err := New(config)
		f, ok := err.(*fault.Error)
		if m != nil || !ok || f.Code != fault.BadUserInput || f.Field != field || strings.Contains(err.Error(), "secret-7") {
			t.Errorf("New = %v, %v, want BAD_USER_INPUT of %s without the key", m, err, field)
		}
	}
	for given, want := range map[string]string{
		" http://localhost:11434/v1/ ": "http://localhost:11434/v1", "https://a.example/v1/chat/completions": "https://a.example/v1",
	} {
		if m, err := New(Config{URL: given, Model: "m"}); err != nil || m.State().URL != want {
			t.Errorf("New(%q) asks %v, %v, want %s", given, m, err, want)
		}
	}
}

func TestKeyIsSentAndOthersAreNot(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "of-another-program")
	t.Setenv("OPENAI_ORG_ID", "of-another-program")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	m, server := start(t, func(c *Config) { c.Key = "key-1" })
	server.RequireKey("key-1")
	if _, err := m.Judge(t.Context(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	header := server.Requests()[0].Header
	if header.Get("Authorization") != "Bearer key-1" || strings.Contains(fmt.Sprint(header), "of-another-program") {
		t.Errorf("headers = %v, want our key, and nothing of other programs", header)
	}
}

// TestFaults lets the endpoint fail in every way: it is asked again what may pass by itself, and the failure is told.
func TestFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault    endpointtest.Fault
		kind     endpoint.Kind
		requests int
		says     string // to an administrator
		plain    string // to anybody
	}{
		"429":             {endpointtest.Status(429, "1"), endpoint.RateLimited, tries, "quota", "no more requests"},
		"429 for long":    {endpointtest.Status(429, "60"), endpoint.RateLimited, 1, "quota", "no more requests"},
		"500":             {endpointtest.Status(500, ""), endpoint.Failing, tries, "look at its own log", "status 500"},
		"503":             {endpointtest.Status(503, ""), endpoint.Failing, tries, "look at its own log", "status 503"},
		"401":             {endpointtest.Status(401, ""), endpoint.Denied, 1, "check LLM_KEY", "status 401"},
		"404":             {endpointtest.Status(404, ""), endpoint.NotFound, 1, "check LLM_MODEL", "status 404"},
		"400":             {endpointtest.Status(400, ""), endpoint.Refused, 1, "does not take", "status 400"},
		"redirect":        {endpointtest.Redirect("http://127.0.0.1:1/"), endpoint.NotFound, 1, "check LLM_URL", "status 307"},
		"dies":            {endpointtest.Die(), endpoint.Unreachable, tries, "broke off", "cannot be reached"},
		"half a body":     {endpointtest.HalfBody(), endpoint.Unreachable, tries, "broke off", "cannot be reached"},
		"huge body":       {endpointtest.Huge(maxAnswer + 1), endpoint.Unusable, 1, "more than 1048576 bytes", "more than 1048576 bytes"},
		"a page":          {endpointtest.Body("text/html", "<html>"), endpoint.Unusable, 1, "check LLM_URL", "no answer of a chat"},
		"nothing":         {endpointtest.Body("application/json", ""), endpoint.Unreachable, tries, "broke off", "cannot be reached"},
		"half of JSON":    {endpointtest.Body("application/json", `{"choices":[{`), endpoint.Unreachable, tries, "broke off", "cannot be reached"},
		"null":            {endpointtest.Body("application/json", "null"), endpoint.Unusable, 1, "no answer", "no answer"},
		"no choices":      {endpointtest.Body("application/json", `{"choices":[]}`), endpoint.Unusable, 1, "no answer", "no answer"},
		"no content":      {endpointtest.Body("application/json", `{"choices":[{"message":{"content":null}}]}`), endpoint.Unusable, 1, "empty answer", "empty answer"},
		"a refusal":       {endpointtest.Body("application/json", `{"choices":[{"message":{"refusal":"I'd rather not"}}]}`), endpoint.Unusable, 1, "declined", "declined"},
		"a filter":        {endpointtest.Body("application/json", `{"choices":[{"finish_reason":"content_filter","message":{"content":"{}"}}]}`), endpoint.Unusable, 1, "declined", "declined"},
		"not to the end":  {endpointtest.Body("application/json", `{"choices":[{"finish_reason":"length","message":{"content":"{}"}}]}`), endpoint.Unusable, 1, "its own limit", "its own limit"},
		"another content": {endpointtest.Body("application/json", `{"choices":[{"message":{"content":{"verdicts":[]}}}]}`), endpoint.Unusable, 1, "0 verdicts", "0 verdicts"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &watch{}
			m, server := start(t, func(c *Config) { c.Observer = seen })
			server.Break(c.fault)
			_, err := m.Judge(t.Context(), numbered(1))
			failure := wantFailure(t, err, c.kind)
			if !strings.Contains(failure.Error(), c.says) || !strings.Contains(err.Error(), c.plain) || strings.Contains(err.Error(), "LLM_") {
				t.Errorf("error = %v to anybody, %v to administrators", err, failure)
			}
			state := m.State()
			if got := len(server.Requests()); got != c.requests || state.Requests != int64(got) || state.Failures != int64(got) || len(seen.asked) != got {
				t.Errorf("%d requests, State %+v, observed %v, want %d", got, state, seen.asked, c.requests)
			}
			if seen.asked[0] != TaskJudge+" "+string(c.kind) || state.LastError != failure.Error() || state.LastErrorKind != c.kind || state.LastErrorAt.IsZero() {
				t.Errorf("State = %+v, observed %v, want the failure", state, seen.asked)
			}
			if paused := !state.PausedUntil.IsZero(); paused == c.kind.OfTexts() {
				t.Errorf("paused %t after %s", paused, c.kind)
			}
		})
	}
}

// TestTriesAgain sees that what passes by itself costs time alone.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	m, server := start(t)
	server.JudgeBy(clash)
	var waits []time.Duration
	m.wait = func(_ <-chan struct{}, d time.Duration) { waits = append(waits, d) }
	server.BreakNext(tries-1, endpointtest.Status(http.StatusTooManyRequests, "3"))
	verdicts, err := m.Judge(t.Context(), numbered(3))
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, verdicts, 3)
	if len(waits) != tries-1 || waits[0] < 3*time.Second || waits[1] > 4*time.Second {
		t.Errorf("waited %v, want as long as it asked for", waits)
	}
	if state := m.State(); state.Failures != tries-1 || !state.LastSuccessAt.After(state.LastErrorAt) || !state.PausedUntil.IsZero() {
		t.Errorf("State = %+v", state)
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]endpointtest.Fault{"hangs": endpointtest.Hang(), "hangs half way": endpointtest.HangHalfway()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &watch{}
			m, server := start(t, func(c *Config) { c.Limit, c.Observer = 200*time.Millisecond, seen })
			server.Break(f)
			within(t, name, func() {
				_, err := m.Judge(t.Context(), numbered(1))
				failure := wantFailure(t, err, endpoint.TimedOut)
				if failure.Error() != "the model did not answer within 200ms" || err.Error() != failure.Error() {
					t.Errorf("error = %v", err)
				}
			})
			if state := m.State(); state.Failures != 1 || len(seen.took) != 1 || seen.took[0] < 150*time.Millisecond || state.PausedUntil.IsZero() {
				t.Errorf("State = %+v, took %v, want one failure that took the limit", state, seen.took)
			}
		})
	}
}

// TestSlowAnswers sees that the limit is one for all requests of a call.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	m, server := start(t, func(c *Config) { c.Limit = 300 * time.Millisecond })
	server.SummariseBy(func(llmtest.Asked) string { return strings.Repeat("They come by ferry. ", 50) })
	var asked atomic.Int32
	server.Break(func(x *endpointtest.Exchange) {
		if asked.Add(1) == 1 {
			x.Answer()
			return
		}
		x.Wait()
	})
	within(t, "a second try that hangs", func() {
		_, err := m.Summarise(t.Context(), talk, 40)
		wantFailure(t, err, endpoint.TimedOut)
	})
}

// TestPause sees that a model which failed is left alone, then tried by one caller.
func TestPause(t *testing.T) {
	t.Parallel()
	m, server := start(t)
	c := endpointtest.NewClock()
	m.now = c.Now
	server.Break(endpointtest.Status(401, ""))
	_, err := m.Judge(t.Context(), numbered(1))
	wantFailure(t, err, endpoint.Denied)
	_, err = m.Summarise(t.Context(), talk, 40)
	if wantFailure(t, err, endpoint.Paused); !strings.Contains(err.Error(), "left alone") {
		t.Errorf("error = %v", err)
	}
	server.Mend()
	c.Move(Pause - time.Second)
	_, err = m.Judge(t.Context(), numbered(1))
	wantFailure(t, err, endpoint.Paused)
	if state := m.State(); len(server.Requests()) != 1 || state.Requests != 1 || state.PausedUntil.Sub(c.Now()) != time.Second {
		t.Errorf("%d requests, State %+v, want one, and a second to wait", len(server.Requests()), state)
	}
	c.Move(time.Second)
	gone, cancel := context.WithCancel(t.Context())
	server.BreakNext(1, func(x *endpointtest.Exchange) {
		cancel()
		x.Wait()
	})
	if _, err := m.Judge(gone, numbered(1)); !errors.Is(err, context.Canceled) || m.State().PausedUntil.IsZero() {
		t.Errorf("error = %v, State %+v, want nothing known of the model yet", err, m.State())
	}
	c.Move(Pause)
	if _, err := m.Judge(t.Context(), numbered(1)); err != nil || !m.State().PausedUntil.IsZero() {
		t.Errorf("error = %v, State %+v, want it asked again", err, m.State())
	}
}

// TestSecretsStayInside provokes failures with an endpoint that repeats what it is sent.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	const key, text = "lowercase_key", "private"
	var lines strings.Builder
	log := slog.New(slog.NewJSONHandler(&lines, nil))
	check := func(what, said string) {
		t.Helper()
		if strings.Contains(said, key) || strings.Contains(said, text) {
			t.Errorf("%s says %s", what, said)
		}
	}
	pairs := numbered(1)
	pairs[0].Known = text
	faults := map[string]endpointtest.Fault{"nonsense": func(x *endpointtest.Exchange) { _, _ = x.W.Write(x.Body) }}
	for _, status := range []int{307, 400, 401, 402, 403, 404, 405, 408, 413, 422, 429, 500, 503} {
		faults[fmt.Sprint(status)] = endpointtest.Echo(status)
	}
	for name, f := range faults {
		m, server := start(t, func(c *Config) { c.Key = key })
		server.Break(f)
		_, err := m.Judge(t.Context(), pairs)
		if err == nil {
			t.Fatalf("%s is taken for an answer", name)
		}
		failure := wantFailure(t, err, m.State().LastErrorKind)
		check("the error after "+name, fmt.Sprintf("%v %+v %q %v %+v %q", err, err, err, failure, failure, failure))
		verdicts, err := m.WithFallback(rules{}, rules{}, log).Judge(t.Context(), pairs)
		if err != nil || len(verdicts) != 1 {
			t.Fatal(verdicts, err)
		}
		check("the fallback after "+name, verdicts[0].Fallback)
		log.Info("model", "model", m, "config", m.config, "state", m.State())
		check("fmt", fmt.Sprintf("%v %+v %#v %s %v %+v %#v %+v", m, m, m, m, m.config, m.config, m.config, m.State()))
		encoded, err := json.Marshal(m.State())
		if err != nil {
			t.Fatal(err)
		}
		check("JSON", string(encoded))
	}
	check("the log", lines.String())
}

// TestRedirect sees that neither texts nor the key go to another server.
func TestRedirect(t *testing.T) {
	t.Parallel()
	other := llmtest.New(t)
	m, server := start(t, func(c *Config) { c.Key = "key-1" })
	server.Break(endpointtest.Redirect(other.URL() + "/chat/completions"))
	_, err := m.Judge(t.Context(), numbered(1))
	wantFailure(t, err, endpoint.NotFound)
	if n := len(other.Requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}
