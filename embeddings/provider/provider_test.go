package provider

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/fault"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://localhost:11434/v1":             "http://localhost:11434/v1",
		"http://localhost:11434/v1/":            "http://localhost:11434/v1",
		" https://api.example.org/v1 ":          "https://api.example.org/v1",
		"https://api.example.org/v1/embeddings": "https://api.example.org/v1",
		"http://localhost:8080/embeddings/":     "http://localhost:8080",
		"http://[::1]:8080":                     "http://[::1]:8080",
	} {
		p, err := New(Config{URL: given, Model: "m"})
		if err != nil || p.State().URL != want {
			t.Errorf("New(%q) asks %v, %v, want %s", given, p, err, want)
		}
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		config Config
		field  string
	}{
		"no address":       {Config{Model: "m"}, "EMBEDDINGS_URL"},
		"no scheme":        {Config{URL: "localhost:11434/v1", Model: "m"}, "EMBEDDINGS_URL"},
		"another scheme":   {Config{URL: "ftp://localhost/v1", Model: "m"}, "EMBEDDINGS_URL"},
		"no host":          {Config{URL: "http://:80/v1", Model: "m"}, "EMBEDDINGS_URL"},
		"a password":       {Config{URL: "http://a:secret-7@localhost/v1", Model: "m"}, "EMBEDDINGS_URL"},
		"a query":          {Config{URL: "http://localhost/v1?api-key=secret-7", Model: "m"}, "EMBEDDINGS_URL"},
		"no model":         {Config{URL: "http://localhost/v1"}, "EMBEDDINGS_MODEL"},
		"a blank model":    {Config{URL: "http://localhost/v1", Model: " \t"}, "EMBEDDINGS_MODEL"},
		"a model of lines": {Config{URL: "http://localhost/v1", Model: "a\nb"}, "EMBEDDINGS_MODEL"},
		"a long model":     {Config{URL: "http://localhost/v1", Model: strings.Repeat("m", endpoint.MaxModel+1)}, "EMBEDDINGS_MODEL"},
		"a key of lines":   {Config{URL: "http://localhost/v1", Model: "m", Key: "secret-7\nX: y"}, "EMBEDDINGS_KEY"},
		"a key of letters": {Config{URL: "http://localhost/v1", Model: "m", Key: "secret-7é"}, "EMBEDDINGS_KEY"},
		"many dimensions":  {Config{URL: "http://localhost/v1", Model: "m", Dimensions: MaxDimensions + 1}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := New(c.config)
			f, ok := err.(*fault.Error)
			if p != nil || !ok || f.Code != fault.BadUserInput || f.Field != c.field {
				t.Fatalf("New = %v, %v, want BAD_USER_INPUT of %q", p, err, c.field)
			}
			if strings.Contains(err.Error(), "secret-7") {
				t.Errorf("error = %v, which shows the key", err)
			}
		})
	}
}

func TestKeyIsSentAndOthersAreNot(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "of-another-program")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Other: of-another-program")
	for _, key := range []string{"", "key-1"} {
		p, server := start(t, func(c *Config) { c.Key = key })
		if _, err := p.Embed(t.Context(), []string{"ferry"}); err != nil {
			t.Fatal(err)
		}
		request := server.Requests()[0]
		want := ""
		if key != "" {
			want = "Bearer key-1"
		}
		if got := request.Header.Get("Authorization"); got != want {
			t.Errorf("Authorization = %q, want %q", got, want)
		}
		if all := fmt.Sprint(request.Header); strings.Contains(all, "of-another-program") {
			t.Errorf("headers = %s, want none of other programs", all)
		}
		if len(request.Body) != 3 || request.Body["encoding_format"] != "float" || request.Body["model"] != providertest.Model {
			t.Errorf("body = %v, want input, model, and floats", request.Body)
		}
	}
}

// TestSecretsStayInside provokes every failure with a provider that repeats what it is sent.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	const key, text = "lowercase_key", "private"
	p, server := start(t, func(c *Config) { c.Key = key })
	check := func(what, said string) {
		t.Helper()
		if strings.Contains(said, key) || strings.Contains(said, "private") {
			t.Errorf("%s says %s", what, said)
		}
	}
	for _, status := range []int{307, 400, 401, 402, 403, 404, 405, 408, 413, 422, 429, 500, 503} {
		server.Break(endpointtest.Echo(status))
		_, err := p.Embed(t.Context(), []string{text})
		if err == nil {
			t.Fatalf("%d is taken for an answer", status)
		}
		check(fmt.Sprintf("the error after %d", status), fmt.Sprintf("%v %+v %q", err, err, err))
		if _, err := p.Query(t.Context(), text); err != nil {
			check(fmt.Sprintf("the error of a query after %d", status), fmt.Sprintf("%v %+v", err, err))
		}
	}
	for _, body := range []string{key + text, `{"data":"` + key + text + `"}`, `{"data":[{"index":0,"embedding":["` + key + text + `"]}]}`} {
		server.Break(endpointtest.Body("text/plain", body))
		_, err := p.Embed(t.Context(), []string{text})
		check("the error after nonsense", fmt.Sprintf("%v %+v", err, err))
	}
	var lines strings.Builder
	slog.New(slog.NewJSONHandler(&lines, nil)).Info("provider", "provider", p, "config", p.config, "state", p.State())
	slog.New(slog.NewTextHandler(&lines, nil)).Info("provider", "provider", p, "config", p.config, "state", p.State())
	check("the log", lines.String())
	encoded, err := json.Marshal(p.config)
	if err != nil {
		t.Fatal(err)
	}
	check("JSON", string(encoded))
	check("fmt", fmt.Sprintf("%v %+v %#v %s %v %+v %#v", p, p, p, p, p.config, p.config, p.config))
	check("the state", fmt.Sprintf("%+v", p.State()))
}

func TestStatusesAreClassed(t *testing.T) {
	t.Parallel()
	cases := map[int]struct {
		kind Kind
		says string
	}{
		301: {NotFound, "check EMBEDDINGS_URL"}, 401: {Denied, "check EMBEDDINGS_KEY"}, 402: {Denied, "credit"}, 403: {Denied, "check EMBEDDINGS_KEY"},
		404: {NotFound, "check EMBEDDINGS_MODEL"}, 405: {NotFound, "check EMBEDDINGS_URL"},
		408: {Failing, "log"}, 425: {Failing, "log"}, 429: {RateLimited, "quota"}, 500: {Failing, "log"}, 503: {Failing, "log"}, 529: {Failing, "log"},
		400: {Refused, "(server_error)"}, 413: {Refused, "request"}, 422: {Refused, "request"},
	}
	for status, c := range cases {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			p, server := start(t)
			server.Break(endpointtest.Status(status, ""))
			vectors, err := p.Embed(t.Context(), []string{"ferry", "", "quay"})
			failure := wantKind(t, err, c.kind)
			temporary := c.kind == Failing || c.kind == RateLimited
			if failure.Status != status || failure.Temporary() != temporary || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), fmt.Sprint(status)) {
				t.Errorf("error = %v, temporary %t", failure, failure.Temporary())
			}
			if vectors[0] != nil || len(indexes(err)) != 1 {
				t.Errorf("vectors = %v, texts %v, want none, and the empty one", vectors, indexes(err))
			}
			state := p.State()
			if state.LastError != failure.Error() || state.LastErrorKind != c.kind || state.LastErrorAt.IsZero() || state.Failures != 1 || state.Requests < 1 {
				t.Errorf("State = %+v, want the failure", state)
			}
		})
	}
}

func TestMain(m *testing.M) {
	// A proxy of the machine's has no part in these tests.
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		_ = os.Unsetenv(name)
	}
	os.Exit(m.Run())
}
