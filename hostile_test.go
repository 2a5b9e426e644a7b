package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/servertest"
)

// get gives what a server answers to a request with these headers, of the form "Name: value".
func get(t *testing.T, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// first gives what a server answers first, be it a redirect, without the body.
func first(t *testing.T, url string) *http.Response {
	t.Helper()
	url, elsewhere := strings.CutSuffix(url, " of another host")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if elsewhere {
		r.Host = "example.org"
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response
}

// Who may read which route.
func TestRoutes(t *testing.T) {
	t.Parallel()
	open, private := start(t, servertest.DataDir(t), "DEMO=1"), start(t, servertest.DataDir(t), "DEMO=1", "PRIVATE_LOG=true")
	for _, p := range []*servertest.Process{open, private} {
		until(t, connect(t, p.DatabaseURL()), "a checkpoint", "SELECT count(*) FROM seal.checkpoints")
	}
	for path, want := range map[string][3]int{ // without a token, without one of a private log, as an administrator
		"/healthz":              {200, 200, 200},
		"/readyz":               {200, 200, 200},
		"/checkpoint":           {200, 401, 200},
		"/log.pub":              {200, 401, 200},
		"/tile/0/000.p/1":       {200, 401, 200},
		"/tile/0/000.p/300":     {404, 401, 404},
		"/tile/entries/000.p/1": {401, 401, 200},
		"/tile/entries":         {401, 401, 404},
		"/metrics":              {401, 401, 200},
		"/session":              {401, 401, 200},
		"/graphql":              {401, 401, 400},
	} {
		for i, ask := range []func(string) (int, string){open.Get, private.Get, private.GetAsAdmin} {
			if path == "/session" && i == 2 {
				continue // sessions are of browsers
			}
			if status, body := ask(path); status != want[i] {
				t.Errorf("GET %s, %d: %d %.100s, want %d", path, i, status, body, want[i])
			}
		}
	}
	for _, path := range []string{"/", "/nowhere", "/playground", "/graphql", "/session", "/metrics", "/healthz", "/readyz", "/checkpoint", "/tile/0/000", "//checkpoint", "/tile/../checkpoint", "/ of another host"} {
		r := first(t, open.URL+path)
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "base-uri 'none'") || strings.Contains(policy, "'unsafe-eval'") ||
			strings.Contains(policy, "unsafe-inline") && path != "/playground" {
			t.Errorf("GET %s: Content-Security-Policy: %s", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Permissions-Policy": "camera=()",
		} {
			if got := r.Header.Get(name); !strings.Contains(got, want) {
				t.Errorf("GET %s: %s: %q, want %q", path, name, got, want)
			}
		}
		if got := r.Header.Get("Server") + r.Header.Get("X-Powered-By"); got != "" {
			t.Errorf("GET %s tells what serves: %s", path, got)
		}
	}
}

// Requests without a valid token are limited by address, and nobody else's are.
func TestAddressRate(t *testing.T) {
	t.Parallel()
	p := start(t, servertest.DataDir(t), "ADDRESS_RATE_LIMIT=1", "TRUSTED_PROXIES=127.0.0.0/8")
	from := func(n int) string { return fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", n) }
	for i := range 5 {
		if r, _ := get(t, p.URL+"/graphql", from(1)); r.StatusCode != 401 {
			t.Fatalf("request %d: %d, want 401", i, r.StatusCode)
		}
	}
	limited := func() bool { // one may come in between: the bucket fills
		for range 5 {
			r, body := get(t, p.URL+"/graphql", from(1), "Authorization: Bearer cmadm_wrong")
			if r.StatusCode == 429 {
				return r.Header.Get("Retry-After") == "1" && strings.Contains(body, `"RATE_LIMITED"`)
			}
		}
		return false
	}
	if !limited() {
		t.Error("many requests from an address: want 429 RATE_LIMITED, and to come back in a second")
	}
	for _, path := range []string{"/checkpoint", "/metrics", "/session"} {
		for i := range 3 {
			r, _ := get(t, p.URL+path, from(1))
			if r.StatusCode == 429 {
				break
			}
			if i == 2 {
				t.Errorf("GET %s is not limited", path)
			}
		}
	}
	if r, _ := get(t, p.URL+"/graphql", from(2)); r.StatusCode != 401 {
		t.Errorf("another address: %d, want 401", r.StatusCode)
	}
	if r, _ := get(t, p.URL+"/healthz", from(1)); r.StatusCode != 200 {
		t.Errorf("/healthz: %d, want 200", r.StatusCode)
	}
	var data overviewData
	if err := p.Ask(t.Context(), overview, nil, &data); err != nil {
		t.Errorf("an administrator: %v", err)
	}
}
