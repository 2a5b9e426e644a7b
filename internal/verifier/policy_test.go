package verifier

import (
	"errors"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
)

// A quorum is of distinct keys.
func TestPolicy(t *testing.T) {
	t.Parallel()
	_, log := logKey(t, origin)
	const second = "example.org/second"
	key := func(owner, name string) string {
		vkey, _ := keyUnder(owner, name)
		return vkey
	}
	one, two := key(witnessName, witnessName), key(second, second)
	for _, c := range []struct {
		name string
		pins Pins
		want string // the argument that is named; empty: none is wrong
	}{
		{"two witnesses", Pins{Witnesses: []string{one, two}, Quorum: 2}, ""},
		{"blanks around", Pins{Witnesses: []string{" " + one + "\n"}, Quorum: -1}, ""},
		{"one key twice", Pins{Witnesses: []string{one, one}, Quorum: 2}, "--witness"},
		{"one key under two names", Pins{Witnesses: []string{one, key(witnessName, "example.org/other")}, Quorum: 2}, "--witness"},
		{"one key under two names, among others", Pins{Witnesses: []string{one, two, key(witnessName, "example.org/other")}, Quorum: 1}, "--witness"},
		{"two keys under one name", Pins{Witnesses: []string{one, key(second, witnessName)}}, "--witness"},
		{"the log's own key", Pins{Witnesses: []string{key(origin, witnessName)}, Quorum: 1}, "--witness"},
		{"a log's key", Pins{Witnesses: []string{log}}, "--witness"},
		{"another id", Pins{Witnesses: []string{strings.Replace(one, "+", "+0", 1)}}, "--witness"},
		{"more than there are", Pins{Witnesses: []string{one}, Quorum: 2}, "--quorum"},
		{"a witness's key for the log's", Pins{Key: one}, "--key"},
	} {
		if c.pins.Key == "" {
			c.pins.Key = log
		}
		policy, err := c.pins.Policy()
		argument := ""
		if f, ok := errors.AsType[*fault.Error](err); ok {
			argument = f.Field
		}
		if argument != c.want || (err == nil) != (c.want == "") || err != nil && fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("%s: Policy() = %+v, %v, want %q to be wrong", c.name, policy, err, c.want)
		}
	}
}
