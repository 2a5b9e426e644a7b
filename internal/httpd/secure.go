package httpd

import "net/http"

// secure are headers of every answer, by which a browser that is led to one runs nothing of it, shows it in no frame and hands it to
// no page of another site. A handler that serves pages, or lets those of other origins in, sets others.
var secure = http.Header{
	"Content-Security-Policy":      {"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"camera=(), geolocation=(), microphone=()"},
	"Referrer-Policy":              {"no-referrer"},
	"X-Content-Type-Options":       {"nosniff"},
}
