package auth

import "strings"

// isJWT tells whether a token has the form of a signed JSON Web Token: three parts, with dots between them.
func isJWT(token string) bool { return strings.Count(token, ".") == 2 }
