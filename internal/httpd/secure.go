package httpd

import "net/http"

// Secure sets headers for answers that are data and never a page: a browser that is led to one runs nothing of it, shows
// it in no frame and hands it to no page of another site. Where pages of other origins are let in, CORS says so by
// itself, and crossOrigin takes Cross-Origin-Resource-Policy out of its way.
func Secure(next http.Handler, crossOrigin bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if crossOrigin {
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
