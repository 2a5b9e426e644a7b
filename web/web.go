// Package web serves the console, which is built from web/console into this binary. It answers the console's own
// addresses and files, and never anything else: the API, sessions and metrics belong to other handlers. It knows
// nothing of the log.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// Content policies. The console runs no inline script or style and loads nothing from elsewhere. The playground's
// editor writes style elements and reads its fonts from data: addresses, so that page alone may. The script that checks
// chains compiles WebAssembly to hash with: it runs in a worker, where the policy of its own answer is in force, and not
// that of the page.
const (
	strictPolicy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
	workerPolicy = strictPolicy + "; script-src 'self' 'wasm-unsafe-eval'"
	editorPolicy = strictPolicy + "; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data:"
)

// permissions are what no page may do: none needs more than a screen and a keyboard. Copying is not among them.
const permissions = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()"

// pages are the console's addresses. Its router in web/console/src/app/Pages.tsx answers the same ones.
var pages = []string{
	"/{$}", "/overview",
	"/threads", "/threads/{hash}", "/threads/{hash}/{message}", "/sessions/{hash}", "/sessions/{hash}/{message}",
	"/messages/{hash}", "/messages/{hash}/references",
	"/context", "/conversations", "/events", "/windows", "/windows/{id}", "/selections", "/selections/{id}", "/components", "/components/{namespace}/{name}", "/records", "/records/{hash}",
	"/seal", "/tokens", "/quarantine", "/settings",
}

// Handler serves the console that this binary was built with:
//
//   - its pages, and /playground, with Cache-Control no-cache and an ETag;
//   - files under /assets/, whose names hold a hash of their content, as immutable, and packed with gzip where the
//     client takes it;
//   - 404 for any other address, 405 for any method but GET and HEAD, and 503 with "console not built" on every page
//     if the binary was built without it.
//
// Every answer forbids framing, sniffing and foreign sources. The handler is safe for concurrent use.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return newHandler(files)
}

func newHandler(files fs.FS) http.Handler {
	mux := http.NewServeMux()
	console := document(files, "index.html", strictPolicy)
	for _, page := range pages {
		mux.Handle("GET "+page, console)
	}
	mux.Handle("GET /playground", document(files, "playground.html", editorPolicy))
	mux.Handle("GET /assets/{name}", assets(files))
	mux.HandleFunc("GET /favicon.svg", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "favicon.svg")
	})
	return secure(mux)
}

// secure sets the headers that every answer has. A handler behind it may loosen the content policy.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", strictPolicy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", permissions)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// document serves one HTML file at whatever address it is asked for.
func document(files fs.FS, name, policy string) http.Handler {
	body, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "console not built: run `make build`", http.StatusServiceUnavailable)
		})
	}
	if err != nil {
		panic(err) // embedded files can be read
	}
	sum := sha256.Sum256(body)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		h.Set("Content-Type", "text/html; charset=utf-8")
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body) // the client is gone if this fails
	})
}

// checksChains tells web/console/src/chain/worker.ts among the files that the build makes.
var checksChains = regexp.MustCompile(`^assets/worker-[^.]+\.js$`)

// assets serves files whose names change with their content. The build leaves name.gz beside name where that is
// smaller.
func assets(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Join("assets", r.PathValue("name"))
		if info, err := fs.Stat(files, name); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		if checksChains.MatchString(name) {
			h.Set("Content-Security-Policy", workerPolicy)
		}
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		h.Set("Content-Type", contentType(name))
		if packed := name + ".gz"; takesGzip(r) {
			if _, err := fs.Stat(files, packed); err == nil {
				h.Set("Content-Encoding", "gzip")
				name = packed
			}
		}
		http.ServeFileFS(w, r, files, name)
	})
}

// contentType does not ask the machine's own tables, which differ and may name none for a script.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".ttf":
		return "font/ttf"
	case ".woff2":
		return "font/woff2"
	default:
		return "application/octet-stream"
	}
}

// takesGzip reports whether the request accepts gzip; "gzip;q=0" refuses it.
func takesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if coding == "gzip" {
			weight = strings.ReplaceAll(weight, " ", "")
			return weight != "q=0" && weight != "q=0.0" && weight != "q=0.00" && weight != "q=0.000"
		}
	}
	return false
}
