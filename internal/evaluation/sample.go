package evaluation

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// sample is a conversation's questions that have evidence.
type sample struct {
	id        string
	speakers  []string
	questions []question
	skipped   int            // questions without evidence
	fields    jsontext.Value // of the conversation, its sessions among them
}

type question struct {
	text     string
	category int
	evidence []string // each once
}

// readSamples reads the questions of a LoCoMo file: a list of conversations, or one of them. Fields that it does
// not need are left alone.
func readSamples(r io.Reader) ([]sample, error) {
	decoder := jsontext.NewDecoder(r)
	if decoder.PeekKind() == '[' {
		if _, err := decoder.ReadToken(); err != nil {
			return nil, unreadable(err)
		}
	}
	var samples []sample
	for decoder.PeekKind() != ']' {
		var wire struct {
			ID           string `json:"sample_id"`
			Conversation struct {
				A    string         `json:"speaker_a"`
				B    string         `json:"speaker_b"`
				Rest jsontext.Value `json:",unknown"`
			} `json:"conversation"`
			Questions []struct {
				Text     jsontext.Value `json:"question"`
				Category int            `json:"category"`
				Evidence []string       `json:"evidence"`
			} `json:"qa"`
		}
		if err := json.UnmarshalDecode(decoder, &wire); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, unreadable(err)
		}
		s := sample{id: wire.ID, speakers: []string{wire.Conversation.A, wire.Conversation.B}, fields: wire.Conversation.Rest}
		for i, q := range wire.Questions {
			evidence := splitEvidence(q.Evidence)
			if len(evidence) == 0 {
				s.skipped++
				continue
			}
			var text string
			if err := json.Unmarshal(q.Text, &text); err != nil || strings.TrimSpace(text) == "" {
				return nil, fault.Input(fmt.Sprintf("qa[%d].question", i), "of conversation %q is no text", wire.ID)
			}
			s.questions = append(s.questions, question{text: text, category: q.Category, evidence: evidence})
		}
		samples = append(samples, s)
	}
	if !slices.ContainsFunc(samples, func(s sample) bool { return len(s.questions) > 0 }) {
		return nil, fault.New(fault.BadUserInput, "holds no question with evidence: an evaluation needs LoCoMo's JSON, with qa")
	}
	return samples, nil
}

func unreadable(err error) error {
	return fault.Wrap(err, fault.BadUserInput, "is not LoCoMo's JSON: %s", err)
}

// splitEvidence gives the ids of dialogs, each once: an entry may hold several, as in "D8:6; D9:17".
func splitEvidence(entries []string) []string {
	var ids []string
	for _, entry := range entries {
		for _, id := range strings.FieldsFunc(entry, func(r rune) bool { return r == ';' || r == ',' || r == ' ' || r == '\t' }) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
