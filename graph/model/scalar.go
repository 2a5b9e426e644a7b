// Package model holds the Go side of the GraphQL schema: how its scalars are written and read, and the types that
// wrap the domain's.
package model

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// MarshalHash writes a hash as 64 hexadecimal digits.
func MarshalHash(h chain.Hash) graphql.Marshaler { return graphql.MarshalString(h.String()) }

// UnmarshalHash reads a hash; anything but 64 lower-case hexadecimal digits is refused.
func UnmarshalHash(v any) (chain.Hash, error) {
	s, ok := v.(string)
	if !ok {
		return chain.Hash{}, fault.New(fault.BadUserInput, "a hash is a string of %d lower-case hexadecimal digits", chain.HexLength)
	}
	h, err := chain.ParseHash(s)
	if err != nil {
		return h, fault.New(fault.BadUserInput, "%s", err)
	}
	return h, nil
}

// TimeLayout is RFC 3339 with as many digits as are needed, at most six.
const TimeLayout = "2006-01-02T15:04:05.999999Z07:00"

// MarshalTime writes a moment in UTC.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.MarshalString(t.UTC().Format(TimeLayout))
}

// UnmarshalTime reads RFC 3339 and cuts what is below a microsecond.
func UnmarshalTime(v any) (time.Time, error) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, fault.New(fault.BadUserInput, "a time is a string as RFC 3339 has it, such as 2026-01-31T12:00:00Z")
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Time{}, fault.New(fault.BadUserInput, "a time is a string as RFC 3339 has it, such as 2026-01-31T12:00:00Z, in the years 1 to 9999")
	}
	return t.UTC().Truncate(time.Microsecond), nil
}

// MarshalJSON writes a JSON value as the database gave it.
func MarshalJSON(j chain.JSON) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, string(j)) })
}

// MarshalInt16 writes a small integer.
func MarshalInt16(i int16) graphql.Marshaler { return graphql.MarshalInt(int(i)) }

// UnmarshalInt16 reads a small integer.
func UnmarshalInt16(v any) (int16, error) {
	i, err := graphql.UnmarshalInt(v)
	if err != nil || i < math.MinInt16 || i > math.MaxInt16 {
		return 0, fmt.Errorf("%v is not a small integer", v)
	}
	return int16(i), nil
}
