package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/config"
	"github.com/tzzr/context-manager/internal/ingest"
)

// The flow of the specification of the web chat: what the user says, what the assistant answers, and an error, each told by
// the backend as it happens.
var webchat = []string{
	`{"source":"webchat_backend","agent":"jarvis_webchat","user_id":"user_42","channel":"webchat","thread_id":"thread_20251203_01","event_type":"message","role":"user","importance":0,
	  "tags":["jarvis","webchat"],"content":"Jarvis, ¿puedes bajar la calefacción del salón a 20 grados?","payload":{"frontend_message_id":"msg-usr-0001","session_id":"sess-123","language":"es-ES"}}`,
	`{"source":"webchat_backend","agent":"jarvis_webchat","user_id":"user_42","channel":"webchat","thread_id":"thread_20251203_01","event_type":"message","role":"assistant","importance":0,
	  "tags":["jarvis","webchat"],"content":"He bajado la calefacción del salón a 20 grados. ¿Quieres que guarde esta preferencia para futuras noches?",
	  "payload":{"backend_message_id":"msg-assistant-0001","model":"mistral-7b-instruct-v0.2","latency_ms":812,"tokens_prompt":210,"tokens_completion":45}}`,
	`{"source":"webchat_backend","agent":"jarvis_webchat","user_id":"user_42","channel":"webchat","thread_id":"thread_20251203_01","event_type":"error","role":"system","importance":1,
	  "tags":["error","model_timeout"],"content":"No se ha podido obtener respuesta del modelo de IA (timeout).","payload":{"error_code":"MODEL_TIMEOUT","timeout_ms":30000}}`,
}

// deliver posts events, and gives the hashes of the messages that they became.
func (s *site) deliver(t *testing.T, status int, token, body string, header ...string) []string {
	t.Helper()
	a := s.send(http.MethodPost, "/hooks/events", token, []byte(body), append(header, "Content-Type: application/json")...)
	if a.status != status {
		t.Fatalf("%.80s: %d %s, want %d", body, a.status, a.body, status)
	}
	var out struct{ Hashes []string }
	if err := json.Unmarshal(a.body, &out); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return out.Hashes
}

// seen gives what the view of older tools shows of a thread, oldest first.
func (s *site) seen(t *testing.T, thread string) (rows []string) {
	t.Helper()
	conn := connect(t, s.database)
	result, err := conn.Query(t.Context(), `SELECT format('%s %s %s %s %s %s %s %s %s', source, agent, user_id, channel, event_type, role, importance, tags, content)
		FROM ia_nest_events WHERE thread_id = $1 ORDER BY id`, thread)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for result.Next() {
		var row string
		if err := result.Scan(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	const secret = "a secret of a test"
	s := newSite(t, true, config.Server{HookSecrets: "webchat_backend=" + secret})
	hook := s.token(auth.Hook, component.DefaultHash("ply", "n8n"), 0)
	var hashes []string
	for _, event := range webchat {
		hashes = append(hashes, s.deliver(t, 200, hook, event)...)
	}
	rows := s.seen(t, "thread_20251203_01")
	want := []string{
		"webchat_backend jarvis_webchat user_42 webchat message user 0 {jarvis,webchat} Jarvis, ¿puedes bajar la calefacción del salón a 20 grados?",
		"webchat_backend jarvis_webchat user_42 webchat message assistant 0 {jarvis,webchat} He bajado la calefacción del salón a 20 grados. ¿Quieres que guarde esta preferencia para futuras noches?",
		"webchat_backend jarvis_webchat user_42 webchat error system 1 {error,model_timeout} No se ha podido obtener respuesta del modelo de IA (timeout).",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the view shows %q", rows)
	}

	// The same event again is the same message; with another text it is a conflict.
	if again := s.deliver(t, 200, hook, "["+webchat[1]+","+webchat[0]+"]"); !slices.Equal(again, []string{hashes[1], hashes[0]}) {
		t.Errorf("again: %v, want those of the first time, %v", again, hashes)
	}
	s.deliver(t, 409, hook, strings.Replace(webchat[0], "20 grados", "30 grados", 1))
	list := "[" + webchat[2] + "," + webchat[2] + "]"
	twice := s.deliver(t, 200, hook, list, "Idempotency-Key: k1")
	if again := s.deliver(t, 200, hook, list, "Idempotency-Key: k1"); !slices.Equal(again, twice) || twice[0] == twice[1] {
		t.Errorf("a list by its key: %v and %v", twice, again)
	}

	// The key is the call's: with anything else, whoever says it, it is a conflict.
	asUser := strings.NewReplacer(`"event_type":"error","role":"system"`, `"role":"user"`).Replace(webchat[2])
	for name, other := range map[string]string{
		"another role": asUser, "less": webchat[2], "more": "[" + webchat[2] + "," + webchat[2] + "," + webchat[2] + "]", "an event with an id before": "[" + webchat[0] + "," + asUser + "]",
	} {
		a := s.send(http.MethodPost, "/hooks/events", hook, []byte(other), "Content-Type: application/json", "Idempotency-Key: k1")
		if a.status != 409 || !strings.Contains(string(a.body), "Idempotency-Key: ") {
			t.Errorf("the same key with %s: %d %s", name, a.status, a.body)
		}
	}
	if again := s.deliver(t, 200, hook, list, "Idempotency-Key: k1"); !slices.Equal(again, twice) {
		t.Errorf("a list by its key, later: %v, want %v", again, twice)
	}
	a := s.send(http.MethodPost, "/hooks/events", hook, []byte("["+webchat[1]+","+strings.Replace(webchat[0], "20 grados", "30 grados", 1)+"]"), "Content-Type: application/json")
	if a.status != 409 || !strings.Contains(string(a.body), "events[1].payload: ") {
		t.Errorf("an id for something else: %d %s", a.status, a.body)
	}

	// All of a list or nothing, and the field is named.
	before := len(s.seen(t, "thread_20251203_01"))
	a = s.send(http.MethodPost, "/hooks/events", hook, []byte("["+webchat[2]+`,{"source":"s","agent":"a","user_id":"u","thread_id":"t","role":"king","content":"c"}]`), "Content-Type: application/json")
	if a.status != 400 || !strings.Contains(string(a.body), "events[1].role") || len(s.seen(t, "thread_20251203_01")) != before {
		t.Errorf("a list with a wrong event: %d %s", a.status, a.body)
	}

	// What a refused list would have named is not there either.
	names := func() (n int) {
		if err := connect(t, s.database).QueryRow(t.Context(), "SELECT count(*) FROM core.all_components").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	known := names()
	stranger := `{"source":"s","agent":"nobody","user_id":"unknown","thread_id":"t","role":"user","content":"c","tags":["never"],%s}`
	for _, bad := range []string{`"payload":{"frontend_message_id":"` + strings.Repeat("x", 300) + `"}`, `"channel":"` + strings.Repeat("x", 257) + `"`, `"created_at":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"`} {
		if s.deliver(t, 400, hook, fmt.Sprintf("["+stranger+"]", bad)); names() != known {
			t.Errorf("refused for %.40s: %d components, want %d", bad, names(), known)
		}
	}

	// The hook stands in what it delivered, and the chain holds.
	thread := ingest.EventThread("jarvis_webchat", "user_42", "thread_20251203_01")
	r := s.ask(s.admin, `query($h: Hash!) { session(hash: $h) { messages { edges { node { ambient } } } } verifySession(hash: $h) { valid } }`, object{"h": thread}).reply(t)
	if fmt.Sprint(r.Data["verifySession"]) != "map[valid:true]" || strings.Count(fmt.Sprint(r.Data), component.DefaultHash("ply", "n8n").String()) != before {
		t.Errorf("the session is %v", r)
	}

	// To deliver an event lets nobody read the thread.
	reader := s.token(auth.Agent, component.DefaultHash("ply", "n8n"), auth.EventsIngest|auth.LogRead)
	s.deliver(t, 200, reader, strings.Replace(webchat[2], `"importance":1`, `"importance":2`, 1))
	if r := s.ask(reader, `query($h: Hash!) { session(hash: $h) { length } }`, object{"h": thread}).reply(t); r.Data["session"] != nil {
		t.Errorf("whoever delivered sees %v", r.Data)
	}
	s.deliver(t, 400, hook, "["+strings.Repeat("{},", 5_000_000)+"{}]")

	// Signed, without a token.
	sign := func(at time.Time, secret, body string) []string {
		stamp := fmt.Sprint(at.Unix())
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%s.%s", stamp, body)
		return []string{"X-Signature-Timestamp: " + stamp, "X-Signature-256: sha256=" + hex.EncodeToString(mac.Sum(nil))}
	}
	now := time.Now()
	signed := sign(now, secret, webchat[2])
	first := s.deliver(t, 200, "", webchat[2], signed...)
	if again := s.deliver(t, 200, "", webchat[2], signed...); !slices.Equal(again, first) {
		t.Errorf("heard and sent again: %v, want %v and no other message", again, first)
	}
	for name, header := range map[string][]string{
		"another key": append(slices.Clone(signed), "Idempotency-Key: 2"), "capitals": {signed[0], "X-Signature-256: sha256=" + strings.ToUpper(strings.TrimPrefix(signed[1], "X-Signature-256: sha256="))},
	} {
		if again := s.deliver(t, 200, "", webchat[2], header...); !slices.Equal(again, first) {
			t.Errorf("heard and sent again with %s: %v, want %v and no other message", name, again, first)
		}
	}
	s.deliver(t, 401, "", webchat[2])
	s.deliver(t, 401, "", webchat[1], signed...)
	s.deliver(t, 401, "", webchat[2], sign(now, "another secret of a test", webchat[2])...)
	s.deliver(t, 401, "", webchat[2], sign(now.Add(-6*time.Minute), secret, webchat[2])...)
	s.deliver(t, 401, "", webchat[2], sign(now.Add(6*time.Minute), secret, webchat[2])...)
	s.deliver(t, 401, "cmhook_wrong", webchat[2], signed...)
	other := strings.Replace(webchat[2], `"source":"webchat_backend"`, `"source":"another"`, 1)
	s.deliver(t, 403, "", other, sign(now, secret, other)...)
}
