package fault

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
	"strings"
)

// Panicked tells what panicked and where, for the log: no stack, and no value but those that the runtime itself panics
// with, since others may hold what a client wrote. It must be called by a deferred function that has recovered value.
func Panicked(value any) error {
	what := fmt.Sprintf("a value of type %T", value)
	if e, ok := value.(runtime.Error); ok {
		what = Redacted(e)
	}
	return fmt.Errorf("panic: %s, in %s", what, panicker())
}

// panicker gives the function that panicked, and its line.
func panicker() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for after := false; ; {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			after = true
		case after && !strings.HasPrefix(frame.Function, "runtime."):
			return fmt.Sprintf("%s, line %d", path.Base(frame.Function), frame.Line)
		}
		if !more {
			return "a function that is not known"
		}
	}
}

// quoted is all from the first quotation mark to the last: what is quoted may hold any.
var quoted = regexp.MustCompile("(?s)[\"'`].*[\"'`]")

// maxRedacted is how much of an error is logged, in bytes.
const maxRedacted = 500

// Redacted gives an error's text for the log, without what it quotes: databases and encoders quote the values that they
// do not like, which clients wrote.
func Redacted(err error) string {
	if err == nil {
		return ""
	}
	text := quoted.ReplaceAllString(err.Error(), "…")
	if len(text) > maxRedacted {
		text = strings.ToValidUTF8(text[:maxRedacted], "") + "…"
	}
	return text
}
