package auth

import (
	"net/http"

	"github.com/tzzr/context-manager/internal/fault"
)

// Administrators lets administrators in whose token has the scopes, and nobody else. The caller must be in the request's
// context: see Identify.
func Administrators(scopes Scopes, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := From(r.Context())
		switch {
		case err == nil && caller.IsAdmin() && caller.Scopes.Has(scopes):
			next.ServeHTTP(w, r)
		case err == nil && caller.IsAdmin():
			refuse(w, http.StatusForbidden, fault.New(fault.Forbidden, "your token lacks the scope %s", scopes&^caller.Scopes))
		case err == nil:
			refuse(w, http.StatusForbidden, fault.New(fault.Forbidden, "this is for administrators"))
		case fault.CodeOf(err) == fault.Unauthenticated:
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, err)
		default:
			refuse(w, http.StatusServiceUnavailable, err)
		}
	})
}
