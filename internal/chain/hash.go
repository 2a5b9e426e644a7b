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
func ParseHash(s string) (Hash, error) { return parse(s) }

// parse makes no copy: a message that is read has a dozen hashes.
func parse[T string | []byte](text T) (h Hash, err error) {
	if len(text) != HexLength {
		return Hash{}, errNoHash
	}
	for i := range h {
		high, low := digits[text[2*i]], digits[text[2*i+1]]
		if high|low > 15 {
			return Hash{}, errNoHash
		}
		h[i] = high<<4 | low
	}
	return h, nil
}

var errNoHash = fmt.Errorf("a hash is %d lower-case hexadecimal digits", HexLength)

// digits gives the value of each lower-case hexadecimal digit, and more than 15 for anything else: in a hash nobody, no
// processor either, can tell beforehand which digit comes next.
var digits = func() (values [256]byte) {
	for c := range values {
		values[c] = 16
	}
	for value, c := range []byte("0123456789abcdef") {
		values[c] = byte(value)
	}
	return values
}()

// String gives the text form.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText gives the text form, for JSON and the like.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the text form.
func (h *Hash) UnmarshalText(text []byte) error { return h.set(parse(text)) }

func (h *Hash) set(parsed Hash, err error) error {
	if err == nil {
		*h = parsed
	}
	return err
}

// Value gives the text form to the database.
func (h Hash) Value() (driver.Value, error) { return h.String(), nil }

// ScanBytes reads the text form from the database: what pgx calls for a text, without making a string of it first.
func (h *Hash) ScanBytes(text []byte) error { return h.set(parse(text)) }

// Compare orders hashes as their text forms sort.
func (h Hash) Compare(other Hash) int { return strings.Compare(string(h[:]), string(other[:])) }
