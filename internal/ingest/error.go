package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// LineError says which line of a file could not be imported, and why. Everything before the line is in the log.
type LineError struct {
	Name   string // of the file
	Line   int    // from 1: where the entry starts, or the very place if there is a Column
	Column int    // in bytes, from 1; 0 if the whole entry is meant
	Err    error
}

// Error gives file, line, column and reason.
func (e *LineError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(e.Name + ": ")
	}
	fmt.Fprintf(&b, "line %d", e.Line)
	if e.Column > 0 {
		fmt.Fprintf(&b, ", column %d", e.Column)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap gives the reason.
func (e *LineError) Unwrap() error { return e.Err }

// decode reads a JSON object strictly into target: a field that target lacks is an error. The error is a fault
// that names the field, within a LineError when the very place is known.
func (v *values) decode(from value, target any, options ...json.Options) error {
	err := json.Unmarshal(from.json, target, options...)
	if err == nil {
		return nil
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return v.fail(from.offset, err)
	}
	return v.fail(from.offset+semantic.ByteOffset, fault.Input(path(semantic.JSONPointer), "%s", reasonOf(semantic)))
}

// reasonOf says what is wrong with a JSON value.
func reasonOf(semantic *json.SemanticError) string {
	switch {
	case errors.Is(semantic.Err, json.ErrUnknownName):
		return "there is no such field"
	case errors.Is(semantic.Err, strconv.ErrRange), errors.Is(semantic.Err, strconv.ErrSyntax):
		return fmt.Sprintf("%s is not a number that fits", semantic.JSONValue)
	case semantic.Err != nil:
		return trimPrefix(semantic.Err)
	}
	return fmt.Sprintf("is a JSON %s, where %s belongs", kindName(semantic.JSONKind), wanted(semantic.GoType))
}

// wanted says what a Go type takes in JSON.
func wanted(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string of base64"
		}
		return "an array"
	}
	return "an object"
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{', '}':
		return "object"
	case '[', ']':
		return "array"
	}
	return "value"
}

// path writes a JSON pointer as GraphQL's errors name fields: /refs/0/hash is refs[0].hash.
func path(pointer jsontext.Pointer) string {
	var b strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 32); err == nil && b.Len() > 0 {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

func trimPrefix(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "jsontext: "), "json: ")
}

// ofEvent gives the error of an event's JSON as a fault that names the field, unless it is not JSON at all.
func ofEvent(err error, place int) error {
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return err
	}
	within := strings.TrimPrefix(string(semantic.JSONPointer), fmt.Sprintf("/%d", place)) // which a single event's has not
	return fault.Input(path(jsontext.Pointer(fmt.Sprintf("/events/%d", place)+within)), "%s", reasonOf(semantic))
}

// eventFields are the fields of events by those of the messages that they become.
var eventFields = map[string]string{
	"sessionHash": "thread_id", "attachments": "payload", "createdAt": "created_at", "idempotencyKey": "payload", "eventType": "event_type", "hashtags": "tags",
}

var messageField = regexp.MustCompile(`^(?:messages|events)(\[\d+\])(?:\.(\w+))?`)

// OfEvents gives a fault of messages by the fields of the events that they were to become.
func OfEvents(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	renamed := *f
	m := messageField.FindStringSubmatch(f.Field)
	switch name := ""; {
	case f.Field == "idempotencyKey":
		renamed.Field = "Idempotency-Key"
	case m == nil:
		return err
	default:
		renamed.Field = "events" + m[1] + strings.TrimPrefix(f.Field, m[0])
		if name = m[2]; name != "" {
			renamed.Field = "events" + m[1] + "." + cmp.Or(eventFields[name], name) + strings.TrimPrefix(f.Field, m[0])
		}
		if name == "idempotencyKey" && f.Code == fault.Conflict {
			renamed.Message = "has the id of something else"
		}
	}
	return &renamed
}

var callField = regexp.MustCompile(`^(messages|components|records)\[\d+\](\.|$)`)

// ofRow gives an error of a call with one row, without the call's own part of the field's path.
func ofRow(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !callField.MatchString(f.Field) {
		return err
	}
	inRow := *f
	inRow.Field = callField.ReplaceAllString(f.Field, "")
	return &inRow
}
