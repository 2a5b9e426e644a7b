package fault

import (
	"errors"
	"strings"
	"testing"
)

func recovered(f func()) (err error) {
	defer func() { err = Panicked(recover()) }()
	f()
	return nil
}

func TestPanicked(t *testing.T) {
	t.Parallel()
	var none map[string]int
	for name, test := range map[string]struct {
		f    func()
		want string
	}{
		"a text":           {func() { panic("secret") }, "panic: a value of type string, in fault.TestPanicked.func1, line "},
		"an error":         {func() { panic(errors.New("secret")) }, "panic: a value of type *errors.errorString, in fault.TestPanicked.func2, line "},
		"an index":         {func() { _ = []int{}[len(none)] }, "panic: runtime error: index out of range [0] with length 0, in fault.TestPanicked.func3, line "},
		"a map":            {func() { none["secret"] = 1 }, "panic: assignment to entry in nil map, in fault.TestPanicked.func4, line "},
		"a nil, elsewhere": {func() { (*Error)(nil).hurt() }, "panic: runtime error: invalid memory address or nil pointer dereference, in fault.(*Error).hurt, line "},
	} {
		got := recovered(test.f).Error()
		if !strings.HasPrefix(got, test.want) || strings.Contains(got, "secret") || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, want %q and no secret", name, got, test.want)
		}
	}
}

//go:noinline
func (e *Error) hurt() { e.Field = "" }

func TestRedacted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{`ERROR: invalid input syntax for type bigint: "a"secret"b" (SQLSTATE 22P02)`, `ERROR: invalid input syntax for type bigint: … (SQLSTATE 22P02)`},
		{"cannot parse `postgres://secret`: failed", "cannot parse …: failed"},
		{"context deadline exceeded", "context deadline exceeded"},
		{strings.Repeat("é", 400), strings.Repeat("é", 250) + "…"},
	} {
		if got := Redacted(errors.New(test.text)); got != test.want {
			t.Errorf("Redacted(%q) = %q, want %q", test.text, got, test.want)
		}
	}
	if got := Redacted(nil); got != "" {
		t.Errorf("Redacted(nil) = %q", got)
	}
}
