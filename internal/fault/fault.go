// Package fault is the one error type of the context manager: a code that clients can act on and a message
// that is safe to show them. It never carries SQL, stacks or secrets to the outside; causes stay inside and
// reach only the server's own log.
package fault

import (
	"errors"
	"fmt"
)

// Code says what a client can do about an error. Its text is what stands in GraphQL's extensions.code.
type Code string

// The codes, as contract: clients switch on them.
const (
	BadUserInput          Code = "BAD_USER_INPUT"          // the request is wrong; the message names the field and the limit
	NotFound              Code = "NOT_FOUND"               // absent, or hidden from the caller: the two are never told apart
	Unauthenticated       Code = "UNAUTHENTICATED"         // no token, or one that is not known
	Forbidden             Code = "FORBIDDEN"               // known caller, not allowed
	Conflict              Code = "CONFLICT"                // the state is not what the caller took it for; read again, then retry
	ContextWindowExceeded Code = "CONTEXT_WINDOW_EXCEEDED" // it cannot fit, whatever is left out
	ContentRejected       Code = "CONTENT_REJECTED"        // the content may not be kept
	RateLimited           Code = "RATE_LIMITED"            // later
	Unavailable           Code = "UNAVAILABLE"             // the server or its database cannot serve now; retry later
	Internal              Code = "INTERNAL"                // a defect; the cause is in the server's log only
)

// Error is a fault with its code. Message is shown to clients; Field, if not empty, is the path of the input
// that is wrong (as in "messages[3].content"); Cause is for the log only.
type Error struct {
	Code    Code
	Field   string
	Message string
	Cause   error
}

// Error gives field and message, without the cause.
func (e *Error) Error() string {
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// Unwrap gives the cause, so that errors.Is finds what is below.
func (e *Error) Unwrap() error { return e.Cause }

// New makes a fault with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Input makes a BAD_USER_INPUT that names the field.
func Input(field, format string, args ...any) *Error {
	return &Error{Code: BadUserInput, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault around a cause that clients never see.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// CodeOf gives the code of the outermost fault in err's chain; anything unknown is Internal.
func CodeOf(err error) Code {
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Code
	}
	return Internal
}
