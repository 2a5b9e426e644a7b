package model_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/graph/model"
)

// asEncoded is what encoding/json makes of a value.
func asEncoded(v any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// JSON that is sent is written as encoding/json writes it, byte for byte: fingerprints that are kept are over that.
func TestUnmarshalJSON(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(
		rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("abcdefgh \"\\/<>&\x00\b\f\n\r\t\x1f\x7fé漢🙂\u2027\u2028\u2029\u202a\u2068\u2069\ufffd"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(0, 40), func(n int) string { return strings.Repeat("x", n) }))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
			case kind == 0 && depth > 0:
				return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")
			case kind == 1 && depth > 0:
				return rapid.MapOfN(text, value(depth-1), 0, 3).Draw(t, "object")
			case kind == 2:
				return rapid.SampledFrom([]any{nil, true, false, json.Number("1.50"), json.Number("1e5"), int64(7), 0.25, 3, []any(nil), map[string]any(nil), []string{"<"}}).Draw(t, "other")
			default:
				return text.Draw(t, "text")
			}
		})
	}
	for _, text := range []string{"\u2028\u2068\u2029\u2069\u2027\u202a", "\u2028é\x1f\"漢\\🙂\u2029"} {
		want, err := asEncoded(text)
		if got, gotErr := model.UnmarshalJSON(text); err != nil || gotErr != nil || string(got) != want {
			t.Errorf("UnmarshalJSON(%q) = %q, %v, want %q, %v", text, got, gotErr, want, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value(3).Draw(t, "value")
		want, err := asEncoded(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := model.UnmarshalJSON(v); err != nil || string(got) != want {
			t.Fatalf("UnmarshalJSON(%q) = %q, %v, want %q", v, got, err, want)
		}
	})
	for _, v := range []any{math.NaN(), []any{math.Inf(1)}, map[string]any{"a": json.Number("x")}, func() {}} {
		if got, err := model.UnmarshalJSON(v); err == nil {
			t.Errorf("UnmarshalJSON(%v) = %q, want a fault", v, got)
		}
	}
}
