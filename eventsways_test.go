package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
)

// insertEvent puts an event, as POST /hooks/events takes it, into the view of older tools, and gives the hash of its message and the
// code of what refused it.
func insertEvent(t *testing.T, conn *pgx.Conn, event string) (hash, code string) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(event), &fields); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	var id int64
	err := conn.QueryRow(t.Context(), fmt.Sprintf("INSERT INTO ia_nest_events (%[1]s) SELECT %[1]s FROM jsonb_populate_record(NULL::ia_nest_events, $1) RETURNING id",
		strings.Join(names, ", ")), event).Scan(&id)
	if pg, ok := err.(*pgconn.PgError); ok {
		return "", pg.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), "SELECT hash FROM log.messages WHERE id = $1", id).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	return hash, ""
}

// The same event is one message, whichever way it comes first and comes again.
func TestEventsBothWays(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, config.Server{})
	hook := s.token(auth.Hook, component.DefaultHash("ply", "n8n"), 0)
	other := s.token(auth.Hook, component.DefaultHash("ply", "other"), 0)
	conn := connect(t, s.database)
	const form = `{"source":"webchat_backend","agent":"jarvis_webchat","user_id":"user_42","thread_id":"t-%d","role":"%s","content":"%s",%s}`
	for i, test := range []struct{ name, role, rest, otherwise string }{
		{"what the user says", "user", `"channel":"webchat","payload":{"frontend_message_id":"f-1","language":"es-ES"}`, `"payload":{"language":"es-ES", "frontend_message_id":"f-1"},"channel":"webchat"`},
		{"what the assistant answers", "assistant", `"importance":1,"event_type":"message","tags":["jarvis","webchat"],"payload":{"backend_message_id":"b-1","latency_ms":8.10}`, ""},
		{"an error of a time of its own", "system", `"event_type":"error","created_at":"2026-01-01T12:00:00.25+01:00","payload":{"backend_message_id":"b-2"}`, `"created_at":"2026-01-01T11:00:00.250000Z","event_type":"error","payload":{"backend_message_id":"b-2"}`},
		{"a time in nanoseconds", "user", `"created_at":"2026-01-01T12:00:00.1234567Z","payload":{"frontend_message_id":"f-2"}`, ""},
		{"an id that is a number", "user", `"payload":{"frontend_message_id":1e2}`, `"payload":{"frontend_message_id":100}`},
		{"tags that are named twice", "tool", `"event_type":"tool","tags":["a","b","a"],"payload":{"backend_message_id":"b-3"}`, ""},
	} {
		said := func(thread int, content string, rest string) string {
			return fmt.Sprintf(form, thread, test.role, content, rest)
		}
		for way, hash := range map[string]func(event string) string{
			"HTTP first": func(event string) string { return s.deliver(t, 200, hook, event)[0] },
			"SQL first": func(event string) string {
				hash, code := insertEvent(t, conn, event)
				if code != "" {
					t.Fatalf("%s: %s", test.name, code)
				}
				return hash
			},
		} {
			thread := 2 * i
			if way == "SQL first" {
				thread++
			}
			event := said(thread, "hola", test.rest)
			first := hash(event)
			for again := range 2 {
				if got := s.deliver(t, 200, hook, event); got[0] != first {
					t.Errorf("%s, %s, by HTTP again: %s, want %s", test.name, way, got, first)
				}
				if got, code := insertEvent(t, conn, event); got != first {
					t.Errorf("%s, %s, by SQL again: %s %s, want %s", test.name, way, got, code, first)
				}
				if event = said(thread, "hola", test.otherwise); again == 1 || test.otherwise == "" {
					break
				}
			}
			s.deliver(t, 409, hook, said(thread, "adiós", test.rest))
			if got, code := insertEvent(t, conn, said(thread, "adiós", test.rest)); code != "23505" {
				t.Errorf("%s, %s: something else by SQL is %s, %q, want 23505", test.name, way, got, code)
			}
			if got := s.deliver(t, 200, other, said(thread, "hola", test.rest)); got[0] != first {
				t.Errorf("%s, %s, by another hook: %s, want %s", test.name, way, got, first)
			}
			for field, value := range map[string]string{
				"source": `"another"`, "channel": `"voice"`, "event_type": `"system"`, "importance": "2", "tags": `["another"]`, "content": `"adiós"`, "created_at": `"2025-01-01T00:00:00Z"`,
			} {
				var changed map[string]json.RawMessage
				if err := json.Unmarshal([]byte(said(thread, "hola", test.rest)), &changed); err != nil {
					t.Fatal(err)
				}
				changed[field] = json.RawMessage(value)
				text, _ := json.Marshal(changed)
				s.deliver(t, 409, other, string(text)) // nobody is told of what they do not know
			}
			if n := len(s.seen(t, fmt.Sprintf("t-%d", thread))); n != 1 {
				t.Errorf("%s, %s: %d messages, want 1", test.name, way, n)
			}
		}
	}
	// Of an event whose message is erased, the id stands for it, whatever comes and whichever way.
	event := fmt.Sprintf(form, 100, "user", "olvídame", `"payload":{"frontend_message_id":"f-9"}`)
	first, _ := insertEvent(t, conn, event)
	s.talk(t, s.admin, "", `mutation($m: Hash!) { eraseMessage(hash: $m, reason: "asked for") { hash } }`, object{"m": first})
	if got := s.deliver(t, 200, hook, event); got[0] != first {
		t.Errorf("after its erasure, by HTTP: %s, want %s", got, first)
	}
	r := s.ask(s.admin, "{ verifyLog { valid } }", nil).reply(t)
	if fmt.Sprint(r.Data["verifyLog"]) != "map[valid:true]" {
		t.Errorf("the log: %v", r)
	}
}
