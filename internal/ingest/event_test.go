package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

const userEvent = `{
  "source": "webchat_backend", "agent": "jarvis_webchat", "user_id": "user_42", "channel": "webchat", "thread_id": "thread_20251203_01",
  "event_type": "message", "role": "user", "importance": 0, "tags": ["jarvis", "webchat", "jarvis"],
  "content": "Jarvis, ¿puedes bajar la calefacción del salón a 20 grados?",
  "payload": {"frontend_message_id": "msg-usr-0001", "session_id": "sess-123", "language": "es-ES"}
}`

// draftsOf gives the messages of a body, with the hashes that keys have by themselves.
func draftsOf(t *testing.T, body, key string) []chain.Draft {
	t.Helper()
	events, err := ReadEvents([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	drafts, err := Drafts(events, nil, nil, key)
	if err != nil {
		t.Fatal(err)
	}
	return drafts
}

func TestEventBecomesMessage(t *testing.T) {
	t.Parallel()
	agent, user := component.DefaultHash("ply", "jarvis_webchat"), component.DefaultHash("plu", "user_42")
	said := draftsOf(t, userEvent, "")[0]
	thread := EventThread("jarvis_webchat", "user_42", "thread_20251203_01")
	switch {
	case said.OwnerID != user || len(said.PlayerIDs) != 1 || said.PlayerIDs[0] != agent:
		t.Errorf("from %s to %s", said.OwnerID, said.PlayerIDs)
	case said.SessionHash != thread || *said.ThreadHash != thread || *said.Ambient != `{"thread_id":"thread_20251203_01"}`:
		t.Errorf("in %s of %s, %s", said.SessionHash, said.ThreadHash, *said.Ambient)
	case *said.Role != "user" || said.EventType != chain.EventMessage || *said.Channel != "webchat" || *said.Source != "webchat_backend" || said.Importance != 0:
		t.Errorf("%+v", said)
	case len(said.Hashtags) != 2 || said.Hashtags[0] != component.DefaultHash("hsu", "jarvis"):
		t.Errorf("tags %v", said.Hashtags)
	case !strings.Contains(string(*said.Attachments), `"session_id":"sess-123"`):
		t.Errorf("attachments %s", *said.Attachments)
	case said.IdempotencyKey == nil || !strings.HasSuffix(*said.IdempotencyKey, ":f:msg-usr-0001") || !strings.Contains(*said.IdempotencyKey, thread.String()[:32]):
		t.Errorf("key %v", said.IdempotencyKey)
	}
	for role, owner := range map[string]chain.Hash{"assistant": agent, "system": agent, "tool": agent, "user": user} {
		d := draftsOf(t, strings.Replace(userEvent, `"role": "user"`, `"role": "`+role+`"`, 1), "")[0]
		if d.OwnerID != owner {
			t.Errorf("%s is said by %s", role, d.OwnerID)
		}
	}
}

func TestEventKeys(t *testing.T) {
	t.Parallel()
	plain := `{"source":"s","agent":"a","user_id":7,"thread_id":12,"role":"assistant","content":"c","payload":%s}`
	key := func(payload, call string) string {
		d := draftsOf(t, fmt.Sprintf(plain, payload), call)[0]
		if d.IdempotencyKey == nil {
			return ""
		}
		return *d.IdempotencyKey
	}
	if got := key("null", ""); got != "" {
		t.Errorf("without an id: %q", got)
	}
	if got := key("{}", "call"); got != "event:call:signed:call#0" {
		t.Errorf("of a call: %q", got)
	}
	if key(`{"backend_message_id":"1"}`, "") == key(`{"frontend_message_id":"1"}`, "") || key(`{"backend_message_id":1}`, "x") != key(`{"backend_message_id":"1"}`, "") {
		t.Error("ids of backends and frontends are told apart, and neither by the call nor by their type")
	}
	for number, as := range map[string]string{"7": "7", "1e2": "100", "1.50": "1.50", "1.5E1": "15", "25e-3": "0.025", "-0": "0", "12345678901234567890": "12345678901234567890"} {
		if got := key(`{"backend_message_id":`+number+`}`, ""); !strings.HasSuffix(got, ":b:"+as) {
			t.Errorf("the id %s has the key %s, want it to end in %s, as by SQL", number, got, as)
		}
	}
	answer := `{"source":"s","agent":"a","user_id":"u","thread_id":"t","role":"%s","content":"c","payload":{"frontend_message_id":"q","backend_message_id":"%s"}}`
	of := func(role, id string) string { return *draftsOf(t, fmt.Sprintf(answer, role, id), "")[0].IdempotencyKey }
	if of("assistant", "1") == of("assistant", "2") || of("user", "1") != of("user", "2") || !strings.HasSuffix(of("system", "1"), ":b:1") {
		t.Error("two answers to what a user said are one, or that is two")
	}
	if EventThread("a", "b", "c") == EventThread("a", "b c", "") || EventThread("a\n1 b", "c", "d") == EventThread("a", "b", "c") {
		t.Error("two threads are one")
	}
}

func TestEventsAreRefused(t *testing.T) {
	t.Parallel()
	with := func(name, value string) string {
		event := map[string]string{"source": `"s"`, "agent": `"a"`, "user_id": `"u"`, "thread_id": `"t"`, "role": `"user"`, "content": `"c"`}
		if event[name] = value; value == "" {
			delete(event, name)
		}
		var parts []string
		for k, v := range event {
			parts = append(parts, fmt.Sprintf("%q:%s", k, v))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for name, bad := range map[string][]string{
		"source": {"", `""`, `"` + strings.Repeat("x", 201) + `"`}, "agent": {"", `"\u0000"`}, "user_id": {"", "null", `""`, `"client:42"`, `"admin:1"`}, "thread_id": {"", `""`},
		"role": {"", `"admin"`, "null"}, "content": {"", `""`, `"` + strings.Repeat("x", chain.MaxContentBytes+1) + `"`},
		"event_type": {`"erasure"`, `"note"`}, "importance": {"3", "-1", "1.5", `"high"`}, "payload": {"[]", "1", `{"a":"\u0000"}`, `{"frontend_message_id":"\u0000"}`, `{"frontend_message_id":"` + strings.Repeat("x", 257) + `"}`, `{"a":"` + strings.Repeat("x", chain.MaxContentBytes) + `"}`},
		"channel": {`"` + strings.Repeat("x", 257) + `"`, "1"}, "created_at": {`"ayer"`, `"0000-01-01T00:00:00Z"`, "1"}, "unknown": {"1"}, "tags": {`"a"`, "[" + strings.Repeat(`"x",`, 256) + `"x"]`},
	} {
		for _, value := range bad {
			events, err := ReadEvents([]byte("[" + with("x", "") + "," + with(name, value) + "]"))
			if err == nil {
				_, err = Drafts(events, nil, nil, "")
			}
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.BadUserInput || f.Field != "events[1]."+name {
				t.Errorf("%s = %.40s: %v, want BAD_USER_INPUT of events[1].%s", name, value, err, name)
			}
		}
	}
	for body, field := range map[string]string{
		"1": "events[0]", "[[]]": "events[0]", "null": "events[0].source", with("user_id", "[]"): "events[0].user_id", with("unknown", "1"): "events[0].unknown",
		with("importance", `"high"`): "events[0].importance", with("tags", `["a",1]`): "events[0].tags[1]", with("tags", `["a",""]`): "events[0].tags[1]",
	} {
		_, err := ReadEvents([]byte(body))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Field != field {
			t.Errorf("%s: %v, want it to name %s", body, err, field)
		}
	}
	for _, body := range []string{"", "[]", "null", "1", `"a"`, "{", "[{}", with("user_id", "[]"), with("unknown", "1"), with("importance", `"high"`), "[" + strings.Repeat("{},", MaxEvents) + "{}]"} {
		if _, err := ReadEvents([]byte(body)); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("%.60s: %v", body, err)
		}
	}
}
