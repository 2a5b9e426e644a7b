package httpd

import (
	"maps"
	"net/http"
)

// secure are headers for answers that are data and never a page.
var secure = http.Header{
	"Content-Security-Policy":      {"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"camera=(), geolocation=(), microphone=()"},
	"Referrer-Policy":              {"no-referrer"},
	"X-Content-Type-Options":       {"nosniff"},
}

// Secure gives all answers headers by which a browser that is led to one runs nothing of it, shows it in no frame and hands it to
// no page of another site. A handler that serves pages, or lets those of other origins in, sets others.
func Secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), secure)
		next.ServeHTTP(w, r)
	})
}
