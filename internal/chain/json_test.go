package chain_test

import (
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	const limit = 4000
	nested := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	const (
		number  = "f: holds a number of more than 1000 digits, written without an exponent"
		deep    = "f: is nested deeper than 100 levels"
		nul     = "f: holds the character U+0000, which the log cannot store"
		invalid = "f: is not valid JSON"
		large   = "f: has more than 4000 bytes as Postgres writes it"
	)
	for name, test := range map[string]struct{ text, want string }{
		"null":                        {`null`, ""},
		"empty object":                {` {} `, ""},
		"a name twice":                {`{"a":1,"a":2}`, ""},
		"a large number":              {`1e999`, ""},
		"a larger one":                {`1e1000`, number},
		"a small number":              {`1e-999`, ""},
		"a smaller one":               {`-1E-1000`, number},
		"a point and an exponent":     {`1.` + strings.Repeat("5", 1500) + `e-1`, number},
		"an exponent that cancels":    {`0.` + strings.Repeat("5", 999) + `e+500`, ""},
		"many digits":                 {strings.Repeat("9", 1001), number},
		"many zeros":                  {`0e-130000`, number},
		"within a list":               {`{"a":[1e130000]}`, number},
		"an exponent beyond integers": {`1e99999999999999999999`, number},
		"the least exponent":          {`1e-9223372036854775808`, number},
		"a hundred levels":            {nested(100), ""},
		"one more":                    {nested(101), deep},
		"of objects":                  {strings.Repeat(`{"a":`, 101) + `1` + strings.Repeat(`}`, 101), deep},
		"U+0000":                      {`["\u0000"]`, nul},
		"U+0000 in a name":            {`{"a\u0000":1}`, nul},
		"U+0000 itself":               {"\"\x00\"", nul},
		"no U+0000":                   {`"\\u0000"`, ""},
		"nothing":                     {``, invalid},
		"half":                        {`{"a":`, invalid},
		"two values":                  {`1 2`, invalid},
		"a lone surrogate":            {`"\ud800"`, invalid},
		"no number":                   {`01`, invalid},
		"not finite":                  {`NaN`, invalid},
		"long numbers":                {`[1e998,1e998,1e998,1e998]`, large},
		"fewer long numbers":          {`[1e996,1e996,1e996,1e996]`, "" /* 4 of 997, 3 of ", ", 2 brackets: 3996 */},
		"many short numbers":          {`[1` + strings.Repeat(`,1`, 1333) + `]`, large},
	} {
		text, got := chain.JSON(test.text), ""
		if err := chain.CheckJSON("f", &text, limit); err != nil {
			got = err.Error()
			if fault.CodeOf(err) != fault.BadUserInput {
				t.Errorf("%s: CheckJSON() has code %s, want BAD_USER_INPUT", name, fault.CodeOf(err))
			}
		}
		if got != test.want {
			t.Errorf("%s: CheckJSON() = %q, want %q", name, got, test.want)
		}
	}
	if err := chain.CheckJSON("f", nil, limit); err != nil {
		t.Errorf("CheckJSON(nil) = %v", err)
	}
}
