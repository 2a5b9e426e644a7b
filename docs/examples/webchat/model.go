package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer is how long an answer may be, in bytes.
const maxAnswer = 32 << 10

// model speaks OpenAI's chat completions.
type model struct {
	name, key string
	url       string
	endpoint  string // url, without what may be secret in it
	timeout   time.Duration
}

func newModel(s settings) model {
	u, _ := url.Parse(s.modelURL) // read has looked
	u = u.JoinPath("chat/completions")
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return model{name: s.model, key: s.modelKey, url: u.String(), endpoint: plain.String(), timeout: s.modelTimeout}
}

// The codes of faults of models, which stand in the events that they become.
const (
	modelTimeout     = "MODEL_TIMEOUT"
	modelUnavailable = "MODEL_UNAVAILABLE" // it cannot be reached
	modelFailed      = "MODEL_ERROR"       // it answers something else than an answer
)

// answer asks the model.
func (m model) answer(ctx context.Context, messages json.RawMessage) (string, *fault) {
	status, body, err := post(ctx, m.timeout, m.url, m.key, map[string]any{"model": m.name, "messages": messages})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", &fault{modelTimeout, fmt.Sprint("no answer within ", m.timeout)}
	case err != nil:
		return "", &fault{modelUnavailable, "it cannot be reached"}
	case status != http.StatusOK:
		return "", &fault{modelFailed, fmt.Sprint("status ", status)}
	}
	var said struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if json.Unmarshal(body, &said) != nil || len(said.Choices) == 0 || strings.TrimSpace(said.Choices[0].Message.Content) == "" {
		return "", &fault{modelFailed, "the answer has no text"}
	}
	if text := said.Choices[0].Message.Content; len(text) <= maxAnswer {
		return text, nil
	}
	return "", &fault{modelFailed, fmt.Sprintf("the answer has more than %d bytes", maxAnswer)}
}

var script = map[string]string{
	"en": "I am no AI but a scripted model, and this is no real answer. You wrote: “%s”. With it I was given %d earlier messages of this chat and %d lines of relevant context.",
	"es": "No soy una IA sino un modelo con guion, y esto no es una respuesta de verdad. Has escrito: «%s». Con ello he recibido %d mensajes anteriores de este chat y %d líneas de contexto.",
}

// scriptedModel answers chat completions without a model: always the same to the same messages.
func scriptedModel(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAnswerBody)).Decode(&asked); err != nil || len(asked.Messages) == 0 || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "this answers POST /v1/chat/completions", http.StatusBadRequest)
		return
	}
	language, earlier, lines := "en", -1, 0
	for _, m := range asked.Messages {
		switch {
		case m.Role != "system":
			earlier++
		case m.Content == rules["es"]:
			language = "es"
		case strings.HasPrefix(m.Content, "Relevant Context:"):
			lines = strings.Count(m.Content, "\n- ")
		}
	}
	text := fmt.Sprintf(script[language], asked.Messages[len(asked.Messages)-1].Content, earlier, lines)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "model": "scripted", "choices": []any{
		map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}},
	}})
}
