package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"hash/crc32"
	"math/big"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// A token is "cm", its kind, "_", 32 random bytes as 43 base62 digits, and the CRC-32 (IEEE) of all before it as 6.
// The checksum finds a token that was cut or mistyped without asking anybody.
const (
	secretBytes    = 32
	secretDigits   = 43 // 62^43 > 2^256
	checksumDigits = 6  // 62^6 > 2^32
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// prefixes of tokens, by what they make of whoever has them.
var prefixes = map[Role]string{Admin: "cmadm_", Agent: "cmagt_", Client: "cmcli_", Hook: "cmhook_"}

// Digest is the SHA-256 of a token: all that is kept of it.
type Digest [sha256.Size]byte

// DigestOf gives the digest of a token.
func DigestOf(token string) Digest { return sha256.Sum256([]byte(token)) }

// NewToken makes a token of a role, which must be one of the four.
func NewToken(role Role) string {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	text := prefixes[role] + encode62(new(big.Int).SetBytes(secret), secretDigits)
	return text + checksum(text)
}

// NewAdminToken makes an administrator's token.
func NewAdminToken() string { return NewToken(Admin) }

// roleOf gives the role that a token's form states, and false if a text has not the form of a token, checksum included.
func roleOf(token string) (Role, bool) {
	for _, role := range roles {
		rest, ok := strings.CutPrefix(token, prefixes[role])
		if !ok {
			continue
		}
		split := len(token) - checksumDigits
		if len(rest) == secretDigits+checksumDigits && checksum(token[:split]) == token[split:] {
			return role, true
		}
	}
	return "", false
}

func checksum(text string) string {
	digits := [checksumDigits]byte{}
	for i, n := checksumDigits-1, crc32.ChecksumIEEE([]byte(text)); i >= 0; i, n = i-1, n/62 {
		digits[i] = base62[n%62]
	}
	return string(digits[:])
}

// encode62 writes a number with leading zeros.
func encode62(n *big.Int, digits int) string {
	text := make([]byte, digits)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}

// errMalformed and errUnknown are what is said of tokens that are nobody's. Expired and revoked ones are unknown.
func errMalformed() error {
	return fault.New(fault.Unauthenticated,
		"malformed token: it is cmadm_, cmagt_, cmcli_ or cmhook_ and %d letters and digits, the last of which are a checksum that does not fit",
		secretDigits+checksumDigits)
}

func errUnknown() error {
	return fault.New(fault.Unauthenticated, "unknown token: nobody has it, or it has expired or was revoked")
}

// AdminToken verifies the one token of the administrator. It holds only the token's SHA-256, and takes the same time
// for every wrong one.
type AdminToken struct {
	digest Digest
}

// NewAdminVerifier makes the verifier of a token.
func NewAdminVerifier(token string) AdminToken { return AdminToken{digest: DigestOf(token)} }

// Verify gives the administrator for the token, and UNAUTHENTICATED for any other.
func (a AdminToken) Verify(_ context.Context, token string) (Caller, error) {
	if _, ok := roleOf(token); !ok {
		return Caller{}, errMalformed()
	}
	if !a.is(DigestOf(token)) {
		return Caller{}, errUnknown()
	}
	return Administrator(), nil
}

func (a AdminToken) is(digest Digest) bool {
	return subtle.ConstantTimeCompare(digest[:], a.digest[:]) == 1
}
