package model

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// The domain's words are lower case, GraphQL's enums upper case; otherwise they are the same. That an enum has the
// value is checked by GraphQL's own validation.

func marshalEnum[T ~string](v T) graphql.Marshaler {
	return graphql.MarshalString(strings.ToUpper(string(v)))
}

func unmarshalEnum[T ~string](v any) (T, error) {
	s, ok := v.(string)
	if !ok {
		return "", fault.New(fault.BadUserInput, "an enum's value is a name")
	}
	return T(strings.ToLower(s)), nil
}

// MarshalRefType writes a kind of ref.
func MarshalRefType(v chain.RefType) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalRefType reads a kind of ref.
func UnmarshalRefType(v any) (chain.RefType, error) { return unmarshalEnum[chain.RefType](v) }

// MarshalRecordKind writes a kind of record.
func MarshalRecordKind(v chain.RefType) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalRecordKind reads a kind of record.
func UnmarshalRecordKind(v any) (chain.RefType, error) { return unmarshalEnum[chain.RefType](v) }

// MarshalEventType writes a kind of entry.
func MarshalEventType(v chain.EventType) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalEventType reads a kind of entry.
func UnmarshalEventType(v any) (chain.EventType, error) { return unmarshalEnum[chain.EventType](v) }

// MarshalNamespace writes a namespace.
func MarshalNamespace(v component.Namespace) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalNamespace reads a namespace.
func UnmarshalNamespace(v any) (component.Namespace, error) {
	return unmarshalEnum[component.Namespace](v)
}

// MarshalDropReason writes why something was left out.
func MarshalDropReason(v selection.DropReason) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalDropReason reads why something was left out.
func UnmarshalDropReason(v any) (selection.DropReason, error) {
	return unmarshalEnum[selection.DropReason](v)
}

// MarshalNoticeCode writes what a notice tells.
func MarshalNoticeCode(v selection.NoticeCode) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalNoticeCode reads what a notice tells.
func UnmarshalNoticeCode(v any) (selection.NoticeCode, error) {
	return unmarshalEnum[selection.NoticeCode](v)
}

// MarshalSelectionStageName writes a stage of a selection.
func MarshalSelectionStageName(v selection.StageName) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalSelectionStageName reads a stage of a selection.
func UnmarshalSelectionStageName(v any) (selection.StageName, error) {
	return unmarshalEnum[selection.StageName](v)
}

// MarshalWhyNotKind writes what became of something.
func MarshalWhyNotKind(v selection.VerdictKind) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalWhyNotKind reads what became of something.
func UnmarshalWhyNotKind(v any) (selection.VerdictKind, error) {
	return unmarshalEnum[selection.VerdictKind](v)
}

// MarshalWeightName writes which constant of the ranking it is.
func MarshalWeightName(v ranking.WeightName) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalWeightName reads which constant of the ranking it is.
func UnmarshalWeightName(v any) (ranking.WeightName, error) {
	return unmarshalEnum[ranking.WeightName](v)
}

// MarshalRangeMarkKind writes why a message is marked.
func MarshalRangeMarkKind(v db.MarkKind) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalRangeMarkKind reads why a message is marked.
func UnmarshalRangeMarkKind(v any) (db.MarkKind, error) { return unmarshalEnum[db.MarkKind](v) }

// MarshalUsageBucket writes over how long a time use is counted.
func MarshalUsageBucket(v db.UsageBucket) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalUsageBucket reads over how long a time use is counted.
func UnmarshalUsageBucket(v any) (db.UsageBucket, error) { return unmarshalEnum[db.UsageBucket](v) }

// MarshalReplayCauseKind writes what made a replay differ.
func MarshalReplayCauseKind(v selection.CauseKind) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalReplayCauseKind reads what made a replay differ.
func UnmarshalReplayCauseKind(v any) (selection.CauseKind, error) {
	return unmarshalEnum[selection.CauseKind](v)
}

// MarshalBreakReason writes what kind of break was found.
func MarshalBreakReason(v chain.BreakReason) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalBreakReason reads it; its words are upper case in the domain too.
func UnmarshalBreakReason(v any) (chain.BreakReason, error) {
	lower, err := unmarshalEnum[chain.BreakReason](v)
	return chain.BreakReason(strings.ToUpper(string(lower))), err
}
