package db

import (
	"time"

	"github.com/tidwall/gjson"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/memory"
)

// fillConversation reads what is kept as JSON: Postgres wrote it, so that it need not be checked, which takes most of the time.
func fillConversation(c *memory.Conversation, history, state string) (err error) {
	c.History, c.State = []memory.Turn{}, memory.State{}
	if history != "[]" {
		c.History = make([]memory.Turn, 0, memory.MaxTurns)
	}
	gjson.Parse(history).ForEach(func(_, kept gjson.Result) bool {
		var turn memory.Turn
		kept.ForEach(func(name, value gjson.Result) bool {
			switch name.Str {
			case "role":
				turn.Role = memory.Speaker(value.Str)
			case "content":
				turn.Content = value.Str
			case "at":
				turn.At, err = time.Parse(time.RFC3339, value.Str)
			case "message":
				turn.Message, err = chain.ParseHash(value.Str)
			case "tokens":
				turn.Tokens = int(value.Int())
			}
			return err == nil
		})
		c.History = append(c.History, turn)
		return err == nil
	})
	gjson.Parse(state).ForEach(func(name, value gjson.Result) bool {
		c.State[name.Str] = []byte(value.Raw)
		return true
	})
	return err
}
