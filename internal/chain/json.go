package chain

import (
	"bytes"
	"strconv"
	"strings"

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
	s := jsonScan{field: field, text: string(*text), limit: limit}
	if err := s.value(0); err != nil {
		return err
	}
	if s.space(); s.at < len(s.text) {
		return s.invalid()
	}
	return nil
}

// jsonScan goes over a JSON text of valid UTF-8 once. What anybody may send is looked at before it can be refused, so a long string
// is stepped over with what the processor has for that.
type jsonScan struct {
	field, text string
	at          int
	size, limit int // as Postgres writes it
}

func (s *jsonScan) invalid() error { return fault.Input(s.field, "is not valid JSON") }

func (s *jsonScan) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// next gives the byte that stands here after white space, 0 at the end.
func (s *jsonScan) next() byte {
	if s.space(); s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// written adds what Postgres writes.
func (s *jsonScan) written(bytes int) error {
	if s.size += bytes; s.size > s.limit {
		return fault.Input(s.field, "has more than %d bytes as Postgres writes it", s.limit)
	}
	return nil
}

func (s *jsonScan) value(depth int) error {
	switch c := s.next(); c {
	case '{':
		return s.within(depth+1, '}')
	case '[':
		return s.within(depth+1, ']')
	case '"':
		return s.string()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

func (s *jsonScan) word(word string) error {
	if !strings.HasPrefix(s.text[s.at:], word) {
		return s.invalid()
	}
	s.at += len(word)
	return s.written(len(word))
}

// within goes over a list or an object.
func (s *jsonScan) within(depth int, closing byte) error {
	if depth > MaxJSONDepth {
		return fault.Input(s.field, "is nested deeper than %d levels", MaxJSONDepth)
	}
	s.at++
	if err := s.written(len("[]")); err != nil {
		return err
	}
	for first := true; ; first = false {
		switch c := s.next(); {
		case c == closing:
			s.at++
			return nil
		case first:
		case c == ',':
			s.at++
			if err := s.written(len(", ")); err != nil {
				return err
			}
		default:
			return s.invalid()
		}
		if closing == '}' {
			if err := s.name(); err != nil {
				return err
			}
		}
		if err := s.value(depth); err != nil {
			return err
		}
	}
}

// name goes over the name of a member, and the colon after it.
func (s *jsonScan) name() error {
	if s.next() != '"' {
		return s.invalid()
	}
	if err := s.string(); err != nil {
		return err
	}
	if s.next() != ':' {
		return s.invalid()
	}
	s.at++
	return s.written(len(": "))
}

// string goes over a string. Postgres writes characters as they are, but for control characters, quotes and backslashes.
func (s *jsonScan) string() error {
	s.at++
	size := len(`""`)
	for end := -1; ; {
		if end < s.at { // the next quote, unless it is known
			length := strings.IndexByte(s.text[s.at:], '"')
			if length < 0 {
				return s.invalid()
			}
			end = s.at + length
		}
		run := s.text[s.at:end]
		escape := strings.IndexByte(run, '\\')
		if escape >= 0 {
			run = run[:escape]
		}
		if hasControl(run) {
			return s.invalid()
		}
		size += len(run)
		s.at += len(run)
		if escape < 0 {
			s.at++
			return s.written(size)
		}
		bytes, err := s.escape()
		if err != nil {
			return err
		}
		size += bytes
	}
}

// escape goes over one or more escapes, and gives how many bytes Postgres writes for them.
func (s *jsonScan) escape() (size int, err error) {
	for s.at+1 < len(s.text) && s.text[s.at] == '\\' {
		switch s.text[s.at+1] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			size += 2
			s.at += 2
		case '/':
			size++
			s.at += 2
		case 'u':
			r, ok := s.unit()
			switch {
			case !ok || 0xdc00 <= r && r <= 0xdfff:
				return 0, s.invalid()
			case r == 0:
				return 0, fault.Input(s.field, "holds the character U+0000, which the log cannot store")
			case 0xd800 <= r && r <= 0xdbff:
				if low, ok := s.unit(); !ok || low < 0xdc00 || low > 0xdfff {
					return 0, s.invalid()
				}
				size += 4
			case r < 0x80:
				size += 1 + int(escapeSize[r])
			case r < 0x800:
				size += 2
			default:
				size += 3
			}
		default:
			return 0, s.invalid()
		}
	}
	return size, nil
}

// unit reads `\u` and four hexadecimal digits.
func (s *jsonScan) unit() (unit rune, ok bool) {
	if s.at+6 > len(s.text) || s.text[s.at] != '\\' || s.text[s.at+1] != 'u' {
		return 0, false
	}
	ok = true
	for _, c := range []byte(s.text[s.at+2 : s.at+6]) {
		digit := hexDigit[c]
		ok = ok && digit > 0
		unit = unit<<4 | rune(digit-1)
	}
	s.at += 6
	return unit, ok
}

// hexDigit is one more than what a digit stands for.
var hexDigit = func() (digits [256]uint8) {
	for i, c := range []byte("0123456789abcdef") {
		digits[c], digits[bytes.ToUpper([]byte{c})[0]] = uint8(i+1), uint8(i+1)
	}
	return digits
}()

// hasControl tells whether a text holds a control character, which strings of JSON may hold as an escape only.
func hasControl(text string) bool {
	for len(text) >= 8 { // eight bytes at a time: of those below 0x20 the subtraction sets the highest bit, which they did not have
		eight := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		if (eight-0x2020202020202020)&^eight&0x8080808080808080 != 0 {
			return true
		}
		text = text[8:]
	}
	for i := range len(text) {
		if text[i] < ' ' {
			return true
		}
	}
	return false
}

// number goes over a number.
func (s *jsonScan) number() error {
	start := s.at
	digits := func() int {
		from := s.at
		for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
			s.at++
		}
		return s.at - from
	}
	is := func(c byte) bool { return s.at < len(s.text) && s.text[s.at] == c }
	if is('-') {
		s.at++
	}
	if zero := is('0'); digits() != 1 && zero || s.at == start || s.text[s.at-1] == '-' {
		return s.invalid()
	}
	if is('.') {
		if s.at++; digits() == 0 {
			return s.invalid()
		}
	}
	if is('e') || is('E') {
		if s.at++; is('+') || is('-') {
			s.at++
		}
		if digits() == 0 {
			return s.invalid()
		}
	}
	number := s.text[start:s.at]
	before, after := numberDigits(number)
	if before+after > MaxJSONDigits {
		return fault.Input(s.field, "holds a number of more than %d digits, written without an exponent", MaxJSONDigits)
	}
	return s.written(before + min(after, 1) + after + strings.Count(number[:1], "-"))
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
var escapeSize = func() (more [0x80]uint8) {
	for c := range byte(' ') {
		more[c] = uint8(len(`\u0001`) - 1)
	}
	for _, c := range []byte("\"\\\b\f\n\r\t") {
		more[c] = 1
	}
	return more
}()
