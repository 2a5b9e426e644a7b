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
	gjson.Parse(state).ForEach(func(name, value gjson.Result) bool {
		c.State[name.Str] = []byte(value.Raw)
		return true
	})
	c.History, err = turnsOf(history)
	return err
}

var errNoHistory = errors.New("a history is a list of turns, whose values are strings and numbers")

// turnsOf goes from one string to the next, since nearly all of a history is in strings: each is one look for a quote. What stands
// between them is known, as Postgres writes it in one way.
func turnsOf(history string) ([]memory.Turn, error) {
	turns := make([]memory.Turn, 0, memory.MaxTurns)
	if history == "[]" {
		return turns, nil
	}
	for rest := history; rest != "}]"; {
		start := strings.IndexByte(rest, '"')
		if start < 0 {
			return nil, errNoHistory
		}
		switch between := rest[:start]; {
		case between == "}, {" || between == "},{", between == "[{" && len(turns) == 0:
			turns = append(turns, memory.Turn{})
		case between != ", " && between != ",", len(turns) == 0:
			return nil, errNoHistory
		}
		name, behind, ok := quoted(rest[start:])
		if !ok || !strings.HasPrefix(behind, ":") {
			return nil, errNoHistory
		}
		behind = strings.TrimPrefix(behind[1:], " ")
		var value string
		if strings.HasPrefix(behind, `"`) {
			value, rest, ok = quoted(behind)
		} else if end := strings.IndexAny(behind, `,}"[{`); end >= 0 { // what begins a list or an object never stands between turns
			value, rest = behind[:end], behind[end:]
		} else {
			ok = false
		}
		if !ok {
			return nil, errNoHistory
		}
		if err := set(&turns[len(turns)-1], name, value); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// set sets what is called name. The value is as in JSON, without its quotes.
func set(turn *memory.Turn, name, value string) (err error) {
	switch name {
	case "role":
		turn.Role = memory.Speaker(value)
	case "content":
		if turn.Content = value; strings.IndexByte(value, '\\') >= 0 {
			turn.Content = gjson.Parse(`"` + value + `"`).Str
		}
	case "at":
		turn.At, err = time.Parse(time.RFC3339, value)
	case "message":
		turn.Message, err = chain.ParseHash(value)
	case "tokens":
		turn.Tokens, err = strconv.Atoi(value)
	}
	return err
}

// quoted gives what is in the quotes that a text begins with, and what stands behind them.
func quoted(text string) (in, behind string, ok bool) {
	for end := 1; ; end++ {
		next := strings.IndexByte(text[end:], '"')
		if next < 0 {
			return "", "", false
		}
		end += next
		slashes := end
		for text[slashes-1] == '\\' {
			slashes--
		}
		if (end-slashes)%2 == 0 {
			return text[1:end], text[end+1:], true
		}
	}
}
