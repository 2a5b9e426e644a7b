package provider

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tzzr/context-manager/internal/endpoint"
)

// Kind says what went wrong, for counters and for those who decide whether to try again.
type Kind = endpoint.Kind

// The kinds. The first five pass by themselves; the others need an administrator.
const (
	Unreachable         = endpoint.Unreachable
	TimedOut            = endpoint.TimedOut
	RateLimited         = endpoint.RateLimited
	Failing             = endpoint.Failing
	Paused              = endpoint.Paused // of queries alone
	Denied              = endpoint.Denied
	NotFound            = endpoint.NotFound
	Refused             = endpoint.Refused
	Unusable            = endpoint.Unusable // an answer that holds no vectors, or not the right number, or NaN
	WrongDimension Kind = "WRONG_DIMENSION" // not that of the vectors before, or more than MaxDimensions
)

// Error is a failure of the provider. Its text says what an administrator can do, and holds neither the key nor a text
// nor anything else that the provider wrote but one of some known codes, such as model_not_found.
type Error endpoint.Failure

// Error says it in words.
func (e *Error) Error() string { return "the embedding provider " + e.Message }

// Temporary says whether the same request may succeed later without anybody doing anything.
func (e *Error) Temporary() bool { return e.Kind.Temporary() }

// TextError says that one text got no vector, though the provider embeds others.
type TextError struct {
	Index   int // in the texts of the call; -1: it is a query
	Message string
	Empty   bool // it will never get one; else it may, if that was a fault that passes
}

// Error says it in words, without the text.
func (e *TextError) Error() string {
	if e.Index < 0 {
		return "the query " + e.Message
	}
	return fmt.Sprintf("text %d %s", e.Index, e.Message)
}

// TextErrors gives every *TextError of an error of Embed, by index.
func TextErrors(err error) []*TextError {
	if joined, ok := errors.AsType[*outcome](err); ok {
		return joined.texts
	}
	if one, ok := errors.AsType[*TextError](err); ok {
		return []*TextError{one}
	}
	return nil
}

// outcome is what went wrong in one call: texts without a vector, and what ended the call early, if anything did.
type outcome struct {
	failure error // nil if only texts failed
	texts   []*TextError
}

// result gives the outcome as an error, or nil.
func result(failure error, texts []*TextError) error {
	if failure == nil && len(texts) == 0 {
		return nil
	}
	slices.SortFunc(texts, func(a, b *TextError) int { return a.Index - b.Index })
	return &outcome{failure: failure, texts: texts}
}

func (o *outcome) Error() string {
	switch {
	case o.failure == nil && len(o.texts) == 1:
		return o.texts[0].Error()
	case o.failure == nil:
		return fmt.Sprintf("%d texts have no vector; the first: %s", len(o.texts), o.texts[0])
	case len(o.texts) == 0:
		return o.failure.Error()
	default:
		return fmt.Sprintf("%s; before that %d texts got no vector", o.failure, len(o.texts))
	}
}

// Unwrap gives what ended the call first, so that errors.As finds an *Error only if the provider failed.
func (o *outcome) Unwrap() []error {
	var all []error
	if o.failure != nil {
		all = append(all, o.failure)
	}
	for _, text := range o.texts {
		all = append(all, text)
	}
	return all
}
