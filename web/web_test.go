package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func built(t *testing.T) fstest.MapFS {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("script")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		".gitkeep":             {},
		"index.html":           {Data: []byte("<title>console</title>")},
		"playground.html":      {Data: []byte("<title>playground</title>")},
		"favicon.svg":          {Data: []byte("<svg/>")},
		"assets/app-1.js":      {Data: []byte("script")},
		"assets/app-1.js.gz":   {Data: packed.Bytes()},
		"assets/plain-2.css":   {Data: []byte("style")},
		"assets/worker-4.js":   {Data: []byte("worker")},
		"assets/a.worker-5.js": {Data: []byte("another worker")},
		"assets/deep/name.js":  {Data: []byte("deep")},
	}
}

func get(h http.Handler, method, target string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	h := newHandler(built(t))
	hash := strings.Repeat("ab", 32)
	for _, test := range []struct {
		method, target string
		status         int
		body           string
	}{
		{"GET", "/", 200, "<title>console</title>"},
		{"GET", "/threads", 200, "<title>console</title>"},
		{"GET", "/threads/" + hash + "?message=" + hash, 200, "<title>console</title>"},
		{"GET", "/sessions/" + hash, 200, "<title>console</title>"},
		{"GET", "/messages/" + hash, 200, "<title>console</title>"},
		{"GET", "/messages/" + hash + "/references?view=graph", 200, "<title>console</title>"},
		{"GET", "/context?q=x", 200, "<title>console</title>"},
		{"GET", "/selections?when=week", 200, "<title>console</title>"},
		{"GET", "/selections/Q29udGV4dA==?why=x", 200, "<title>console</title>"},
		{"GET", "/components", 200, "<title>console</title>"},
		{"GET", "/components/hst/lisbon", 200, "<title>console</title>"},
		{"GET", "/records/" + hash, 200, "<title>console</title>"},
		{"GET", "/records", 200, "<title>console</title>"},
		{"GET", "/seal", 200, "<title>console</title>"},
		{"GET", "/tokens", 200, "<title>console</title>"},
		{"GET", "/quarantine", 200, "<title>console</title>"},
		{"GET", "/overview", 200, "<title>console</title>"},
		{"GET", "/settings", 200, "<title>console</title>"},
		{"GET", "/playground", 200, "<title>playground</title>"},
		{"GET", "/favicon.svg", 200, "<svg/>"},
		{"GET", "/assets/app-1.js", 200, "script"},
		{"GET", "/assets/plain-2.css", 200, "style"},
		{"GET", "/assets/gone-3.js", 404, "404 page not found\n"},
		{"GET", "/assets/", 404, "404 page not found\n"},
		{"GET", "/assets/deep", 404, "404 page not found\n"},
		{"GET", "/index.html", 404, "404 page not found\n"},
		{"GET", "/.gitkeep", 404, "404 page not found\n"},
		{"GET", "/threads/a/b/c", 404, "404 page not found\n"},
		{"GET", "/unknown", 404, "404 page not found\n"},
		{"HEAD", "/threads", 200, "<title>console</title>"},
		{"POST", "/threads", 405, "Method Not Allowed\n"},
	} {
		r := get(h, test.method, test.target)
		if got := body(t, r); r.StatusCode != test.status || got != test.body {
			t.Errorf("%s %s = %d %q, want %d %q", test.method, test.target, r.StatusCode, got, test.status, test.body)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := newHandler(built(t))
	for _, test := range []struct{ target, name, want string }{
		{"/", "Cache-Control", "no-cache"},
		{"/", "Content-Type", "text/html; charset=utf-8"},
		{"/", "Content-Security-Policy", strictPolicy},
		{"/unknown", "Content-Security-Policy", strictPolicy},
		{"/playground", "Content-Security-Policy", editorPolicy},
		{"/assets/app-1.js", "Content-Security-Policy", strictPolicy},
		{"/assets/worker-4.js", "Content-Security-Policy", workerPolicy},
		{"/assets/a.worker-5.js", "Content-Security-Policy", strictPolicy},
		{"/threads", "X-Content-Type-Options", "nosniff"},
		{"/threads", "Referrer-Policy", "no-referrer"},
		{"/assets/app-1.js", "Cache-Control", "public, max-age=31536000, immutable"},
		{"/assets/app-1.js", "Content-Type", "text/javascript; charset=utf-8"},
		{"/assets/app-1.js", "Content-Encoding", ""},
		{"/assets/plain-2.css", "Content-Type", "text/css; charset=utf-8"},
		{"/assets/gone-3.js", "Cache-Control", ""},
	} {
		if got := get(h, "GET", test.target).Header.Get(test.name); got != test.want {
			t.Errorf("GET %s: %s = %q, want %q", test.target, test.name, got, test.want)
		}
	}
	if strings.Contains(strictPolicy, "unsafe") {
		t.Errorf("the console's policy = %q, want nothing unsafe", strictPolicy)
	}
	if strings.Contains(workerPolicy, "'unsafe") {
		t.Errorf("the worker's policy = %q, want nothing unsafe but WebAssembly", workerPolicy)
	}
}

func TestPacked(t *testing.T) {
	t.Parallel()
	h := newHandler(built(t))
	for _, test := range []struct{ target, accept, want string }{
		{"/assets/app-1.js", "gzip, deflate, br", "gzip"},
		{"/assets/app-1.js", "br, gzip;q=0.5", "gzip"},
		{"/assets/app-1.js", "gzip;q=0", ""},
		{"/assets/app-1.js", "br", ""},
		{"/assets/plain-2.css", "gzip", ""},
	} {
		r := get(h, "GET", test.target, "Accept-Encoding", test.accept)
		if got := r.Header.Get("Content-Encoding"); got != test.want {
			t.Errorf("GET %s for %q: Content-Encoding = %q, want %q", test.target, test.accept, got, test.want)
		}
		if got := r.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("GET %s: Vary = %q, want Accept-Encoding", test.target, got)
		}
		if test.want == "" {
			continue
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != "script" {
			t.Errorf("GET %s unpacked = %q, %v, want \"script\"", test.target, got, err)
		}
	}
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	h := newHandler(built(t))
	etag := get(h, "GET", "/").Header.Get("ETag")
	if etag == "" {
		t.Fatal("GET / has no ETag")
	}
	if r := get(h, "GET", "/threads", "If-None-Match", etag); r.StatusCode != http.StatusNotModified {
		t.Errorf("GET /threads with its ETag = %d, want 304", r.StatusCode)
	}
	if r := get(h, "GET", "/playground", "If-None-Match", etag); r.StatusCode != http.StatusOK {
		t.Errorf("GET /playground with the console's ETag = %d, want 200", r.StatusCode)
	}
}

func TestNotBuilt(t *testing.T) {
	t.Parallel()
	h := newHandler(fstest.MapFS{".gitkeep": {}})
	for _, target := range []string{"/", "/threads", "/playground"} {
		r := get(h, "GET", target)
		if got := body(t, r); r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got, "console not built") {
			t.Errorf("GET %s without a build = %d %q, want 503 and \"console not built\"", target, r.StatusCode, got)
		}
	}
	if r := get(h, "GET", "/assets/app-1.js"); r.StatusCode != http.StatusNotFound {
		t.Errorf("GET an asset without a build = %d, want 404", r.StatusCode)
	}
}

// The handler that is shipped serves whatever was embedded, a build or none.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	if r := get(Handler(), "GET", "/"); r.StatusCode != http.StatusOK && r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("GET / = %d, want 200 or 503", r.StatusCode)
	}
}

// Every address that the console's router knows is one that the server answers, and the other way round.
func TestPagesAreTheRouters(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("console/src/app/Pages.tsx")
	if err != nil {
		t.Fatal(err)
	}
	routed := map[string]bool{}
	for _, m := range regexp.MustCompile(`<Route path="([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		routed[m[1]] = true
	}
	place := regexp.MustCompile(`\{(\w+)\}`)
	for _, page := range pages {
		page = place.ReplaceAllString(strings.TrimSuffix(page, "{$}"), ":$1")
		if !routed[page] {
			t.Errorf("the router does not know %s, which the server answers", page)
		}
		delete(routed, page)
	}
	for page := range routed {
		t.Errorf("the server does not answer %s, which the router knows", page)
	}
}
