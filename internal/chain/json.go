package chain

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of a JSON value.
const (
	MaxJSONDigits = 1000 // of a number without an exponent: 1e3 has 4, 1e-3 has 4
	MaxJSONDepth  = 100  // arrays and objects within one another
)

// CheckJSON refuses a JSON text that the log cannot hold: what CheckText refuses, what is not JSON, U+0000 in a string
// or a name, what is nested too deep, and what Postgres writes in more than limit bytes. It writes a number without its
// exponent, however large, and a space after each comma and colon. An absent text is well.
func CheckJSON(field string, text *JSON, limit int) error {
	if err := CheckText(field, (*string)(text), limit); err != nil || text == nil {
		return err
	}
	decoder := jsontext.NewDecoder(bytes.NewBufferString(string(*text)), jsontext.AllowDuplicateNames(true))
	size, values := 0, 0
	for {
		token, err := decoder.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case err != nil:
			return fault.Input(field, "is not valid JSON")
		case decoder.StackDepth() > MaxJSONDepth:
			return fault.Input(field, "is nested deeper than %d levels", MaxJSONDepth)
		}
		written, err := tokenSize(field, token)
		if err != nil {
			return err
		}
		if size += written; size > limit {
			return fault.Input(field, "has more than %d bytes as Postgres writes it", limit)
		}
		if decoder.StackDepth() == 0 {
			values++
		} else {
			size += separatorSize(decoder)
		}
	}
}

// separatorSize is how many bytes stand before the token that was read: a comma or a colon, and a space.
func separatorSize(decoder *jsontext.Decoder) int {
	if _, length := decoder.StackIndex(decoder.StackDepth()); length > 1 {
		return 2
	}
	return 0
}

// tokenSize is how many bytes Postgres writes a token in, and no fewer.
func tokenSize(field string, token jsontext.Token) (int, error) {
	switch token.Kind() {
	case '0':
		number := token.String()
		before, after := numberDigits(number)
		if before+after > MaxJSONDigits {
			return 0, fault.Input(field, "holds a number of more than %d digits, written without an exponent", MaxJSONDigits)
		}
		return before + min(after, 1) + after + strings.Count(number[:1], "-"), nil
	case '"':
		text := token.String()
		if strings.ContainsRune(text, 0) {
			return 0, fault.Input(field, "holds the character U+0000, which the log cannot store")
		}
		return stringSize(text), nil
	case '{', '}', '[', ']':
		return 1, nil
	case 'f':
		return len("false"), nil
	}
	return len("true"), nil // or null
}

// numberDigits is how many digits stand before and after the point of a number that is written without its exponent:
// one before it at least. A number far too long has more than MaxJSONDigits before it.
func numberDigits(number string) (before, after int) {
	number = strings.TrimPrefix(number, "-")
	exponent := 0
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		var err error
		most := len(number) + MaxJSONDigits
		if exponent, err = strconv.Atoi(number[at+1:]); err != nil || exponent > most || exponent < -most {
			return MaxJSONDigits + 1, 0
		}
		number = number[:at]
	}
	whole, fraction, _ := strings.Cut(number, ".")
	return max(1, len(whole)+exponent), max(0, len(fraction)-exponent)
}

// escapeSize is how many bytes more each byte of a string takes.
var escapeSize = func() (more [256]uint8) {
	for c := range byte(' ') {
		more[c] = uint8(len(`\u0001`) - 1)
	}
	for _, c := range []byte("\"\\\b\f\n\r\t") {
		more[c] = 1
	}
	return more
}()

// stringSize is how long a string is within quotes, with what must be escaped.
func stringSize(text string) int {
	size := len(text) + 2
	for i := range len(text) {
		size += int(escapeSize[text[i]])
	}
	return size
}
