// Package chain is the log's core: messages, what their hashes cover, and the check of a session's chain.
// It is pure: it computes from values given to it, and never reads a clock, a database or randomness.
package chain

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strings"
)

// Hash is a SHA-256. Outside of Go it is always 64 lower-case hexadecimal digits.
type Hash [sha256.Size]byte

// HexLength is the length of a hash in its text form.
const HexLength = 2 * sha256.Size

// Sum gives the SHA-256 of data.
func Sum(data []byte) Hash { return sha256.Sum256(data) }

// ParseHash reads the text form; upper-case digits and any other length are refused.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != HexLength || strings.ContainsAny(s, "ABCDEF") {
		return h, fmt.Errorf("a hash is %d lower-case hexadecimal digits", HexLength)
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("a hash is %d lower-case hexadecimal digits", HexLength)
	}
	return h, nil
}

// String gives the text form.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText gives the text form, for JSON and the like.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the text form.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err != nil {
		return err
	}
	*h = parsed
	return nil
}

// Value gives the text form to the database.
func (h Hash) Value() (driver.Value, error) { return h.String(), nil }

// Scan reads the text form from the database.
func (h *Hash) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return h.UnmarshalText([]byte(v))
	case []byte:
		return h.UnmarshalText(v)
	default:
		return fmt.Errorf("cannot read a hash from %T", src)
	}
}

// Compare orders hashes as their text forms sort.
func (h Hash) Compare(other Hash) int { return strings.Compare(string(h[:]), string(other[:])) }
