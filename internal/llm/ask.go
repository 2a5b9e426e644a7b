package llm

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tzzr/context-manager/internal/endpoint"
)

// question is what a model is asked: what to do, with what, and the form of its answer.
type question struct {
	task   string
	rules  string // say the form in words, too: endpoints exist that take any response_format and pass over it
	schema string // JSON
	turns  []turn
	accept func(answer string) *endpoint.Failure // keeps what is right; else why it is not
}

// turn is one thing that is said to the model, or that it said.
type turn struct {
	own  bool // the model said it
	text string
}

// Ways to ask for JSON, the best first. Which one an endpoint knows is found out by asking.
const (
	bySchema = iota
	byObject // the schema is in the rules
	byWords  // so it is, and that is all
)

// manner is how an endpoint wants to be asked.
type manner struct {
	form int
	hot  bool // it takes no temperature but its own
}

// What a refusal says of the manner.
const (
	ofForm        = "form"
	ofTemperature = "temperature"
)

// formWords are how endpoints say that they do not know a way to ask for JSON.
var formWords = []string{"response_format", "response format", "json_schema", "json_object", "json schema", "structured output"}

// hint finds out whether a refusal is one of the manner.
func hint(said string) string {
	if strings.Contains(said, "temperature") {
		return ofTemperature
	}
	for _, word := range formWords {
		if strings.Contains(said, word) {
			return ofForm
		}
	}
	return ""
}

// other gives the manner to try after a refusal, if there is one.
func (w manner) other(failure *endpoint.Failure) (manner, bool) {
	switch {
	case failure.Hint == ofTemperature && !w.hot:
		w.hot = true
	case failure.Hint != "" && w.form < byWords:
		w.form++
	default:
		return w, false
	}
	return w, true
}

// ask gets an answer that is accepted. It tries again what fails in a way that passes, as long as ctx lasts. The error is an
// *Error, or says why ctx ended before its limit.
func (m *Model) ask(ctx context.Context, q question) error {
	m.mu.Lock()
	how := m.manner
	m.mu.Unlock()
	for attempt := 0; ; {
		failure, err := m.once(ctx, q, how)
		if errors.Is(err, errLate) {
			return m.late()
		}
		if err != nil {
			return err
		}
		if failure == nil {
			m.mu.Lock()
			m.manner = how
			m.mu.Unlock()
			return nil
		}
		if next, ok := how.other(failure); ok {
			how = next
			continue
		}
		if attempt++; attempt == tries || !failure.Kind.Temporary() {
			return (*Error)(failure)
		}
		pause := endpoint.Backoff(attempt-1, failure.RetryAfter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return (*Error)(failure)
		}
		m.wait(ctx.Done(), pause)
	}
}

// late is the failure of a call that took too long.
func (m *Model) late() *Error {
	return &Error{Kind: endpoint.TimedOut, Message: "did not answer within " + m.config.Limit.String()}
}

// once makes one request, and counts it.
func (m *Model) once(ctx context.Context, q question, how manner) (*endpoint.Failure, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	m.state.Requests++
	m.mu.Unlock()
	began := m.now()
	body, failure, err := chat.Send(ctx, m.config.Limit, m.now, func(ctx context.Context, options ...option.RequestOption) error {
		_, err := m.service.New(ctx, m.params(q, how), options...)
		return err
	})
	switch {
	case errors.Is(err, errLate):
		failure = (*endpoint.Failure)(m.late())
	case err != nil:
		return nil, err
	case failure == nil:
		var text string
		if text, failure = read(body); failure == nil {
			failure = q.accept(text)
		}
	}
	m.note(q.task, failure, m.now().Sub(began))
	return failure, err
}

// params writes a question down.
func (m *Model) params(q question, how manner) openai.ChatCompletionNewParams {
	rules := q.rules
	if how.form != bySchema {
		rules += "\nThe JSON Schema of your answer: " + q.schema
	}
	params := openai.ChatCompletionNewParams{Model: m.config.Model, Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(rules)}}
	for _, t := range q.turns {
		if t.own {
			params.Messages = append(params.Messages, openai.AssistantMessage(t.text))
		} else {
			params.Messages = append(params.Messages, openai.UserMessage(t.text))
		}
	}
	if !how.hot {
		params.Temperature = openai.Float(0)
	}
	switch how.form {
	case bySchema:
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: q.task, Strict: openai.Bool(true), Schema: jsontext.Value(q.schema),
		}}
	case byObject:
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	return params
}

// read gives the text of an answer.
func read(body []byte) (string, *endpoint.Failure) {
	var answer openai.ChatCompletion
	switch err := json.Unmarshal(body, &answer); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "", endpoint.BrokeOff()
	case err != nil, len(answer.Choices) == 0:
		return "", endpoint.NotUsable("gave no answer of a chat in JSON; check LLM_URL")
	}
	choice := answer.Choices[0]
	switch {
	case choice.Message.Refusal != "", choice.FinishReason == "content_filter":
		return "", endpoint.NotUsable("declined to answer")
	case choice.FinishReason == "length":
		return "", endpoint.NotUsable("reached its own limit of tokens before its answer was complete")
	case strings.TrimSpace(choice.Message.Content) == "":
		return "", endpoint.NotUsable("gave an empty answer")
	}
	return choice.Message.Content, nil
}

// encode makes JSON of what a model is to look at. It reads better without escapes that only pages need.
func encode(value any) (string, error) {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	return string(text), err
}

// decode reads the object in an answer. What stands around it, such as a code fence or thoughts aloud, is passed over; a
// name that stands twice in it makes it nothing.
func decode(text string, into any) bool {
	if thought, ok := strings.CutPrefix(strings.TrimSpace(text), "<think>"); ok {
		_, text, _ = strings.Cut(thought, "</think>")
	}
	begin, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	return begin >= 0 && end > begin && json.Unmarshal([]byte(text[begin:end+1]), into) == nil
}

// clean gives a text of a model without characters that the database cannot keep, or that show a text as another one.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text))
}
