package evaluation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// session is what was said in one session of a conversation.
type session struct {
	name  string
	turns []turn
}

// turn is a message. An image that was shown with it is nothing that was said.
type turn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
}

// sessions gives the sessions of a conversation that have messages, in their order.
func (s *sample) sessions() ([]session, error) {
	fields := map[string]jsontext.Value{}
	if s.fields != nil {
		if err := json.Unmarshal(s.fields, &fields); err != nil {
			return nil, unreadable(err)
		}
	}
	numbers := map[string]int{}
	var sessions []session
	for field, value := range fields {
		number, err := strconv.Atoi(strings.TrimPrefix(field, "session_"))
		if err != nil || !strings.HasPrefix(field, "session_") {
			continue
		}
		one := session{name: field}
		if err := json.Unmarshal(value, &one.turns); err != nil {
			return nil, fault.Input(fmt.Sprintf("conversation.%s", field), "of conversation %q is no list of messages: %s", s.id, err)
		}
		if len(one.turns) > 0 {
			sessions = append(sessions, one)
			numbers[field] = number
		}
	}
	slices.SortFunc(sessions, func(a, b session) int { return numbers[a.name] - numbers[b.name] })
	return sessions, nil
}
