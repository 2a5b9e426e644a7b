package db

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// fillConversation reads what is kept as JSON: Postgres wrote it, so that it need not be checked, which takes most of the time.
func fillConversation(c *memory.Conversation, history, state string) (err error) {
	c.State = memory.State{}
	if c.History, err = readTurns(history); err != nil {
		return err
	}
	gjson.Parse(state).ForEach(func(name, value gjson.Result) bool {
		c.State[name.Str] = []byte(value.Raw)
		return true
	})
	return nil
}

// errHistory says that a history is not what Postgres writes.
var errHistory = errors.New("a conversation's history is no list of objects of strings and numbers")

// readTurns reads a history: a list of objects whose values are strings and numbers, and nothing else. It goes over the text
// once, which a reader of any JSON cannot: a prompt is mostly this.
func readTurns(history string) ([]memory.Turn, error) {
	turns := []memory.Turn{}
	if history != "[]" {
		turns = make([]memory.Turn, 0, memory.MaxTurns)
	}
	r := jsonText{rest: history}
	if !r.next("[") {
		return nil, errHistory
	}
	for more := r.next("{"); more; {
		var turn memory.Turn
		for !r.next("}") {
			name, err := r.text()
			if err != nil || !r.next(":") {
				return nil, errHistory
			}
			value, err := r.value()
			if err == nil {
				err = setTurn(&turn, name, value)
			}
			if err != nil {
				return nil, err
			}
			r.next(",")
		}
		turns = append(turns, turn)
		if more = r.next(","); more && !r.next("{") {
			return nil, errHistory
		}
	}
	if !r.next("]") || r.rest != "" {
		return nil, errHistory
	}
	return turns, nil
}

func setTurn(turn *memory.Turn, name, value string) (err error) {
	switch name {
	case "role":
		turn.Role = memory.Speaker(value)
	case "content":
		turn.Content = value
	case "at":
		turn.At, err = time.Parse(time.RFC3339, value)
	case "message":
		turn.Message, err = chain.ParseHash(value)
	case "tokens":
		turn.Tokens, err = strconv.Atoi(value)
	}
	return err
}

// jsonText is what is left to read of a JSON text.
type jsonText struct{ rest string }

// next tells whether a sign comes next, and goes behind it if so. The space that Postgres writes behind commas and colons does
// not count.
func (r *jsonText) next(sign string) bool {
	r.rest = strings.TrimLeft(r.rest, " ")
	rest, found := strings.CutPrefix(r.rest, sign)
	r.rest = rest
	return found
}

// value reads a string, or the digits of a number.
func (r *jsonText) value() (string, error) {
	r.rest = strings.TrimLeft(r.rest, " ")
	if strings.HasPrefix(r.rest, `"`) {
		return r.text()
	}
	end := strings.IndexAny(r.rest, ",}")
	if end < 1 || strings.IndexByte("-0123456789", r.rest[0]) < 0 {
		return "", errHistory
	}
	number := r.rest[:end]
	r.rest = r.rest[end:]
	return number, nil
}

// text reads a string.
func (r *jsonText) text() (string, error) {
	if !r.next(`"`) {
		return "", errHistory
	}
	end := strings.IndexByte(r.rest, '"')
	if end < 0 {
		return "", errHistory
	}
	if escape := strings.IndexByte(r.rest[:end], '\\'); escape < 0 {
		text := r.rest[:end]
		r.rest = r.rest[end+1:]
		return text, nil
	}
	for at := 0; ; at++ { // the first quote that no backslash stands before
		step := strings.IndexAny(r.rest[at:], `"\`)
		if step < 0 {
			return "", errHistory
		}
		if at += step; r.rest[at] == '\\' {
			at++
			continue
		}
		text := gjson.Parse(`"` + r.rest[:at+1]).Str
		r.rest = r.rest[at+1:]
		return text, nil
	}
}
