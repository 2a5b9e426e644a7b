package chain_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
)

// isJSON tells whether a text is one JSON value, by another reader.
func isJSON(text string) bool {
	decoder := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true))
	if _, err := decoder.ReadValue(); err != nil {
		return false
	}
	_, err := decoder.ReadToken()
	return errors.Is(err, io.EOF)
}

// asWritten is how many bytes Postgres writes a JSON value in that has no escapes and exponents: with a space after each comma and colon.
func asWritten(t *rapid.T, text string) int {
	value := jsontext.Value(text)
	if err := value.Format(jsontext.Multiline(false), jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true), jsontext.AllowDuplicateNames(true)); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return len(value)
}

// What is taken for JSON is what others take for it, and nothing else.
func TestCheckJSONIsJSON(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{
		`{`, `}`, `[`, `]`, `,`, `,`, `:`, `:`, ` `, "\n", `"a"`, `"a":`, `""`, `"\u00e9"`, `"\ud83d\ude42"`, `"\ud83d"`, `"\ude42"`, `"\ud83dA"`, `"\ud83d\u0041"`, `"\ud83d\ud83d"`, `"\ud83d\ue000"`, `"\"\\\/\b\f\n\r\t"`, `"\x"`, `"\u00g0"`,
		`"é漢🙂"`, "\"\t\"", "\"\x7f\"", "\"\u2028\"", "\"twelve bytes and one \x1f\"", `"long enough for several steps, and more"`, `"`, `\`, `1`, `-0`, `01`, `-`, `1.5`, `1.`, `.5`, `1e5`, `1E-5`, `1e`, `+1`,
		`true`, `false`, `null`, `nul`, `truth`, "\u00a0",
	})
	check := func(t *rapid.T, text string) {
		value := chain.JSON(text)
		err := chain.CheckJSON("f", &value, chain.MaxContentBytes)
		if err != nil && strings.Contains(err.Error(), "digits") { // such as 1e5101, whatever stands behind it
			return
		}
		if (err == nil) != isJSON(text) {
			t.Fatalf("CheckJSON(%q) = %v, and that it is JSON is %v", text, err, isJSON(text))
		}
	}
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind < 2 && depth > 0:
				b.WriteByte("[{"[kind])
				for i := range rapid.IntRange(0, 3).Draw(t, "length") {
					b.WriteString([]string{"", ","}[min(i, 1)] + []string{"", `"n":`}[kind] + value(depth-1).Draw(t, "value"))
				}
				b.WriteByte("]}"[kind])
			case kind < 4:
				b.WriteString(rapid.SampledFrom([]string{"0", "-12.5", "true", "false", "null", "7"}).Draw(t, "word"))
			default:
				b.WriteString(`"` + rapid.StringOf(rapid.RuneFrom([]rune("abc é漢🙂\u2028\x7f/-{[,:"))).Draw(t, "text") + `"`)
			}
			return b.String()
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(part, 1, 12).Draw(t, "parts"), ""))
		text := value(3).Draw(t, "value")
		check(t, text)
		size, whole := asWritten(t, text), chain.JSON(text)
		if err := chain.CheckJSON("f", &whole, size); err != nil && len(text) <= size {
			t.Fatalf("CheckJSON(%q) with room for the %d bytes that Postgres writes: %v", text, size, err)
		}
		if err := chain.CheckJSON("f", &whole, size-1); err == nil {
			t.Fatalf("CheckJSON(%q) with less than the %d bytes that Postgres writes: no fault", text, size)
		}
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		check(t, strings.ToValidUTF8(text[:at]+part.Draw(t, "part")+text[at:], "?"))
	})
}

// Each byte at each place of a string is taken or refused as others do: eight of them are looked at together.
func TestCheckJSONOfEachByte(t *testing.T) {
	t.Parallel()
	for at := range 24 {
		for c := range byte(0x80) {
			text := `"` + strings.Repeat("x", at) + string(rune(c)) + strings.Repeat("x", 23-at) + `"`
			value := chain.JSON(text)
			if err := chain.CheckJSON("f", &value, chain.MaxContentBytes); (err == nil) != isJSON(text) {
				t.Errorf("CheckJSON(%q) = %v, and that it is JSON is %v", text, err, isJSON(text))
			}
		}
	}
	for _, text := range []string{`"\ud83dA"`, `"\ud83d\u0041"`, `"\ud83d\ud83d"`, `"\ud83d\ue000"`, `"\ud83d\udc00"`, `"\ud83d\udfff"`, `"\udbff\udbff"`} {
		value := chain.JSON(text)
		if err := chain.CheckJSON("f", &value, chain.MaxContentBytes); (err == nil) != isJSON(text) {
			t.Errorf("CheckJSON(%s) = %v, and that it is JSON is %v", text, err, isJSON(text))
		}
	}
}
