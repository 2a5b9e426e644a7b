package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/ingest"
)

const chatFile = `{
  "model": "m-1",
  "messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [
      {"type": "text", "text": "What is on the photo?"},
      {"type": "image_url", "image_url": {"url": "https://images.invalid/1.png"}},
      {"type": "text", "text": "Reply in French.", "cache": true}
    ]},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "a lighthouse"},
    {"role": "assistant", "content": "Un phare."},
    {"role": "user", "content": "", "name": "zoe"}
  ]
}`

func TestChat(t *testing.T) {
	t.Parallel()
	d := open(t)
	for range 2 {
		load(t, d, chatFile)
	}
	type said struct {
		Role, Content string
		Event         chain.EventType
		Attachments   chain.JSON
		To            string
	}
	var got []said
	messages := all(t, d)
	for _, m := range messages {
		to := map[chain.Hash]string{component.DefaultHash("ply", "user"): "user", component.DefaultHash("ply", "assistant"): "assistant"}[m.PlayerIDs[0]]
		got = append(got, said{value(m.Role), *m.Content, m.EventType, *m.Attachments, to})
		if m.SessionHash != messages[0].SessionHash || *m.ThreadHash != *messages[0].ThreadHash {
			t.Errorf("message %d is of another session or thread", m.Sequence)
		}
		if want := component.DefaultHash("ply", *m.Role); m.OwnerID != want {
			t.Errorf("the owner of message %d is %s, want that of %s", m.Sequence, m.OwnerID, *m.Role)
		}
	}
	want := []said{
		{"system", "Be brief.", chain.EventSystem, `{"chat": {"model": "m-1"}}`, "assistant"},
		{"user", "What is on the photo?\nReply in French.", chain.EventMessage, `{"parts": [{"type": "image_url", "image_url": {"url": "https://images.invalid/1.png"}}, {"text": "Reply in French.", "type": "text", "cache": true}]}`, "assistant"},
		{"assistant", `[call look {"at":1}]`, chain.EventMessage, `{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}]}`, "user"},
		{"tool", "a lighthouse", chain.EventTool, `{"tool_call_id": "c1"}`, "assistant"},
		{"assistant", "Un phare.", chain.EventMessage, `{}`, "user"},
		{"user", "[empty]", chain.EventMessage, `{"name": "zoe"}`, "assistant"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// Each line is a conversation of its own, even if it is the same as another.
func TestChatLines(t *testing.T) {
	t.Parallel()
	d := open(t)
	hi := `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}`
	load(t, d, hi+"\n"+hi+"\n"+`{"messages":[{"role":"user","content":"bye"}]}`)
	sessions := map[chain.Hash]int{}
	for _, m := range all(t, d) {
		sessions[m.SessionHash]++
	}
	if len(sessions) != 3 {
		t.Errorf("%d sessions, want 3: %v", len(sessions), sessions)
	}
	// White space does not make another conversation of it.
	summary := load(t, d, strings.ReplaceAll(hi, ":", " :\n"))
	if want := (ingest.Summary{Present: 2}); summary != want {
		t.Errorf("summary = %+v, want %+v", summary, want)
	}
}

func TestChatRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	for text, want := range map[string]string{
		`{"messages":[{"content":"x"}]}`:                                          "f: line 1: messages[0].role: is missing",
		"\n" + `{"messages":[{"role":"user","content":{"text":"x"}}]}`:            "f: line 2: messages[0].content: cannot be a JSON object: a string or a list of parts belongs here",
		`{"messages":[{"role":"user","content":"\u0000"}]}`:                       "f: line 1: messages[0].content: holds the character U+0000, which the log cannot store",
		`{"messages":[{"role":"user","content":"a","x":{"\u0000":1}}]}`:           "f: line 1: messages[0].attachments: holds the character U+0000, which the log cannot store",
		`{"messages":{"role":"user"}}`:                                            "f: line 1, column 13: messages: is a JSON object, where an array belongs",
		`{"messages":[{"role":"` + strings.Repeat("r", 65) + `","content":"x"}]}`: "f: line 1: messages[0].role: has 65 bytes; at most 64 are allowed",
	} {
		_, err := ingest.Import(t.Context(), d, "f", strings.NewReader(text), ingest.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("Import(%s) = %v, want %s", text, err, want)
		}
	}
	wantContents(t, d)
}
