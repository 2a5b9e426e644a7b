package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

const (
	sessionPrefix = "session_"
	sessionTime   = "3:04 pm on 2 January, 2006"
	// turnGap stands between two messages of a session, which LoCoMo does not date.
	turnGap = 20 * time.Second
)

type sample struct {
	ID           string                    `json:"sample_id"`
	Conversation map[string]jsontext.Value `json:"conversation"`
}

type turn struct {
	Speaker  string         `json:"speaker"`
	DialogID string         `json:"dia_id"`
	Text     string         `json:"text"`
	Caption  string         `json:"blip_caption"`
	Rest     jsontext.Value `json:",unknown"` // img_url, query, …
}

// turnAttachments keeps what a message's text does not hold.
type turnAttachments struct {
	SampleID string         `json:"sample_id"`
	DialogID string         `json:"dia_id"`
	Caption  string         `json:"blip_caption,omitzero"`
	Rest     jsontext.Value `json:",unknown"`
}

// locomoSession is one session of a conversation, with its number.
type locomoSession struct {
	number int
	field  string
	start  time.Time
}

// TurnLabel is the label of a message of LoCoMo.
func TurnLabel(sampleID, dialogID string) string { return sampleID + "/" + dialogID }

// readSample reads one conversation of LoCoMo: one thread, a session for each of its own, its speakers as
// players. Session n is dated by session_n_date_time, taken as UTC, with 20 seconds from message to message. Where
// a message shows an image, the image's caption ends its content: "text\n[image: caption]".
func readSample(values *values, v value, add func(*row) error) error {
	rows, err := sampleRows(v)
	if err != nil {
		return values.explainRow(v, err)
	}
	line, _ := values.lines.at(v.offset)
	for _, row := range rows {
		row.line = line
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}

func sampleRows(v value) ([]*row, error) {
	var read sample
	if err := json.Unmarshal(v.json, &read); err != nil {
		return nil, fault.Input("conversation", "%s", trimPrefix(err))
	}
	if read.ID == "" {
		return nil, fault.Input("sample_id", "is missing")
	}
	speakers, err := read.speakers()
	if err != nil {
		return nil, err
	}
	sessions, err := read.sessions()
	if err != nil {
		return nil, err
	}
	var rows []*row
	seen := map[string]int{}
	for _, s := range sessions {
		var turns []turn
		if err := json.Unmarshal(read.Conversation[s.field], &turns); err != nil {
			return nil, fault.Input("conversation."+s.field, "%s", trimPrefix(err))
		}
		for i := range turns {
			t := &turns[i]
			row, err := t.toRow(read.ID, s, i, speakers, seen)
			if err != nil {
				return nil, inList("conversation."+s.field, i, err)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (s *sample) speakers() ([]string, error) {
	var names []string
	for _, field := range []string{"speaker_a", "speaker_b"} {
		var name string
		if raw := s.Conversation[field]; raw != nil {
			if err := json.Unmarshal(raw, &name); err != nil {
				return nil, fault.Input("conversation."+field, "%s", trimPrefix(err))
			}
		}
		if name == "" {
			return nil, fault.Input("conversation."+field, "is missing")
		}
		names = append(names, name)
	}
	return names, nil
}

// sessions gives the sessions that have messages, in their order.
func (s *sample) sessions() ([]locomoSession, error) {
	var found []locomoSession
	for field := range s.Conversation {
		number, err := strconv.Atoi(strings.TrimPrefix(field, sessionPrefix))
		if err != nil || !strings.HasPrefix(field, sessionPrefix) {
			continue
		}
		dated := field + "_date_time"
		var text string
		if raw := s.Conversation[dated]; raw == nil || json.Unmarshal(raw, &text) != nil {
			return nil, fault.Input("conversation."+dated, "is missing, or no string")
		}
		start, err := time.Parse(sessionTime, text)
		if err != nil {
			return nil, fault.Input("conversation."+dated, "%q is no time such as %q", text, "1:56 pm on 8 May, 2023")
		}
		found = append(found, locomoSession{number: number, field: field, start: start})
	}
	slices.SortFunc(found, func(a, b locomoSession) int { return a.number - b.number })
	return found, nil
}

func (t *turn) toRow(sampleID string, s locomoSession, i int, speakers []string, seen map[string]int) (*row, error) {
	switch {
	case t.Speaker == "":
		return nil, fault.Input("speaker", "is missing")
	case t.DialogID == "":
		return nil, fault.Input("dia_id", "is missing")
	}
	attachments, err := json.Marshal(turnAttachments{SampleID: sampleID, DialogID: t.DialogID, Caption: t.Caption, Rest: t.Rest})
	if err != nil {
		return nil, fmt.Errorf("attachments: %w", err)
	}
	// The same dia_id twice in a conversation is not foreseen, yet no reason to lose a message.
	label := TurnLabel(sampleID, t.DialogID)
	if seen[label]++; seen[label] > 1 {
		label = fmt.Sprintf("%s#%d", label, seen[label])
	}
	m := new(message)
	thread, created, key := LocomoThread(sampleID), s.start.Add(time.Duration(i)*turnGap), "locomo:"+label
	m.draft = chain.Draft{
		SessionHash: SessionHash(fmt.Sprintf("locomo/%s/%s", sampleID, s.field)), ThreadHash: &thread,
		Content: t.content(), Attachments: exactJSON(attachments), CreatedAt: &created,
		Channel: pointer(chatChannel), Source: pointer("locomo"), IdempotencyKey: &key,
	}
	speaks := func(name string, to *chain.Hash) {
		m.named(component.Draft{Namespace: defaultPlayer, Key: sampleID + "/" + name, Name: &name}, to)
	}
	speaks(t.Speaker, &m.draft.OwnerID)
	others := slices.DeleteFunc(slices.Clone(speakers), func(name string) bool { return name == t.Speaker })
	m.draft.PlayerIDs = make([]chain.Hash, len(others))
	for i, name := range others {
		speaks(name, &m.draft.PlayerIDs[i])
	}
	return &row{message: m, label: label}, m.validate()
}

// LocomoThread is the thread of a conversation of LoCoMo.
func LocomoThread(sampleID string) chain.Hash { return ThreadHash("locomo/" + sampleID) }

// content is the text, and the caption of the image that was shown with it.
func (t *turn) content() string {
	if t.Caption == "" {
		return t.Text
	}
	return strings.TrimPrefix(t.Text+"\n[image: "+t.Caption+"]", "\n")
}
