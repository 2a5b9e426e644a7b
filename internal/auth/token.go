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
	adminPrefix    = "cmadm_"
	secretBytes    = 32
	secretDigits   = 43 // 62^43 > 2^256
	checksumDigits = 6  // 62^6 > 2^32
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewAdminToken makes an administrator's token.
func NewAdminToken() string {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails
	text := adminPrefix + encode62(new(big.Int).SetBytes(secret), secretDigits)
	return text + checksum(text)
}

// checkForm tells whether a text has the form of a token, checksum included.
func checkForm(token string) bool {
	rest, ok := strings.CutPrefix(token, adminPrefix)
	if !ok || len(rest) != secretDigits+checksumDigits {
		return false
	}
	split := len(token) - checksumDigits
	return checksum(token[:split]) == token[split:]
}

func checksum(text string) string {
	return encode62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(text)))), checksumDigits)
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

// AdminToken verifies the one token of the administrator. It holds only the token's SHA-256, and takes the same time
// for every wrong one.
type AdminToken struct {
	sum [sha256.Size]byte
}

// NewAdminVerifier makes the verifier of a token.
func NewAdminVerifier(token string) AdminToken {
	return AdminToken{sum: sha256.Sum256([]byte(token))}
}

// Verify gives the administrator for the token, and UNAUTHENTICATED for any other.
func (a AdminToken) Verify(_ context.Context, token string) (Caller, error) {
	if !checkForm(token) {
		return Caller{}, fault.New(fault.Unauthenticated,
			"malformed token: it is %q and %d letters and digits, the last of which are a checksum that does not fit",
			adminPrefix, secretDigits+checksumDigits)
	}
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], a.sum[:]) != 1 {
		return Caller{}, fault.New(fault.Unauthenticated, "unknown token: nobody has it")
	}
	return Administrator(), nil
}
