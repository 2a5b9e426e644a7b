package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

//go:embed page
var page embed.FS

// Limits of what visitors send. The page repeats the second.
const (
	maxBody = 64 << 10 // bytes
	maxText = 4000     // characters
	maxID   = 64       // bytes
)

// chat answers the page. It keeps nothing itself: what it is asked again is told by what the context manager has.
type chat struct {
	memory  *memory
	model   model
	log     *slog.Logger
	answers singleflight.Group // by conversation and message: sent twice at once, the model is asked once
	reports errgroup.Group     // of failures that are still to be told
	ending  <-chan struct{}    // closed when the program ends
}

// limit is how long an exchange may take: the model, and three calls to the context manager.
func (c *chat) limit() time.Duration { return c.model.timeout + 3*memoryTimeout }

func (c *chat) handler() http.Handler {
	files, _ := fs.Sub(page, "page") // it is embedded
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/conversation", c.show)
	mux.HandleFunc("POST /api/conversation", c.begin)
	mux.HandleFunc("POST /api/message", c.take)
	own := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if !isLoopback(r.Host) { // another site's name that was made to point here
			http.Error(w, "this server has no such name", http.StatusMisdirectedRequest)
			return
		}
		own.ServeHTTP(w, r)
	})
}

// visitor tells visitors apart by a random cookie, and gives a new one to who has none. The name that they have in the log
// is a digest of it: who reads that can't be them.
func visitor(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie("webchat_visitor")
	if err != nil || len(cookie.Value) != len(rand.Text()) {
		cookie = &http.Cookie{Name: "webchat_visitor", Value: rand.Text(), Path: "/", MaxAge: 30 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode}
		http.SetCookie(w, cookie)
	}
	sum := sha256.Sum256([]byte("webchat visitor\n" + cookie.Value))
	return hex.EncodeToString(sum[:16])
}

// own gives the id of a conversation that the page calls by its last part: whatever that is, it is the visitor's.
func own(visitor, part string) string { return "client:" + visitor + ":" + part }

// show gives a conversation, or the visitor's latest one; without an id if there is none, or none any more.
func (c *chat) show(w http.ResponseWriter, r *http.Request) {
	who, id := visitor(w, r), ""
	var found conversation
	var err error
	if part := r.FormValue("id"); part != "" {
		id = own(who, part)
	} else {
		id, err = c.memory.latest(r.Context(), who)
	}
	if err == nil && id != "" {
		found, err = c.memory.read(r.Context(), id)
	}
	c.reply(w, found, err)
}

// begin starts a conversation.
func (c *chat) begin(w http.ResponseWriter, r *http.Request) {
	started, err := c.memory.start(r.Context(), visitor(w, r))
	c.reply(w, started, err)
}

// take answers a message. Who goes away meanwhile finds the answer later.
func (c *chat) take(w http.ResponseWriter, r *http.Request) {
	var in struct{ Conversation, ID, Text string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in)
	if err != nil || in.Conversation == "" || in.ID == "" || len(in.ID) > maxID || strings.TrimSpace(in.Text) == "" || utf8.RuneCountInString(in.Text) > maxText {
		c.reply(w, conversation{}, &fault{code: "BAD_USER_INPUT"}) // the page sends no such thing
		return
	}
	e := exchange{visitor: visitor(w, r), message: in.ID, text: in.Text, language: "en"}
	e.conversation = own(e.visitor, in.Conversation)
	if strings.HasPrefix(r.Header.Get("Accept-Language"), "es") {
		e.language = "es"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), c.limit())
	defer cancel()
	said, err, _ := c.answers.Do(e.conversation+" "+e.message, func() (any, error) { return c.answer(ctx, e) })
	c.reply(w, said.(conversation), err)
}

// exchange is a visitor's message that is to be answered.
type exchange struct{ visitor, conversation, message, text, language string }

// answer asks the model and records what was said: all of it, once, or nothing.
func (c *chat) answer(ctx context.Context, e exchange) (conversation, error) {
	prompt, err := c.memory.prompt(ctx, e.conversation, e.text, e.language)
	if err != nil {
		if failed := unfit(err); failed != nil {
			c.report(ctx, e, failed)
		}
		return conversation{}, err
	}
	answer, failed := c.model.answer(ctx, prompt)
	if failed != nil {
		c.report(ctx, e, failed)
		return conversation{}, failed
	}
	kept, err := c.memory.record(ctx, e.conversation, e.message, e.text, answer)
	if code(err) == "CONFLICT" { // it was recorded with another answer, of which the page has not heard
		earlier, failed := c.memory.read(ctx, e.conversation)
		if failed == nil && slices.ContainsFunc(earlier.messages(), func(m message) bool { return m.Role == "user" && m.Content == e.text }) {
			return earlier, nil
		}
	}
	if failed := unfit(err); failed != nil {
		c.report(ctx, e, failed)
	}
	return kept, err
}

// The codes of what the context manager does not take, in the events that they become.
const (
	promptTooLong  = "PROMPT_TOO_LONG" // for the budget; the model is not asked
	answerRejected = "ANSWER_REJECTED" // the model's: it is nothing that is said, such as a tool's call
)

// unfit gives the failure that an error of the context manager is: of the prompt, or of the model's answer. Nil: of neither.
// What the visitor wrote is theirs to change.
func unfit(err error) *fault {
	f, _ := errors.AsType[*fault](err)
	switch {
	case f == nil:
		return nil
	case f.code == "CONTEXT_WINDOW_EXCEEDED":
		return &fault{promptTooLong, f.message}
	case (f.code == "CONTENT_REJECTED" || f.code == "BAD_USER_INPUT") && strings.HasPrefix(f.message, "assistant: "):
		return &fault{answerRejected, f.message}
	}
	return nil
}

var failures = map[string]map[string]string{
	modelTimeout:     {"en": "No answer from the AI model (timeout).", "es": "No se ha podido obtener respuesta del modelo de IA (timeout)."},
	modelUnavailable: {"en": "The AI model cannot be reached.", "es": "No se ha podido contactar con el modelo de IA."},
	modelFailed:      {"en": "The AI model answered with an error.", "es": "El modelo de IA ha respondido con un error."},
	answerRejected:   {"en": "The AI model answered something that may not be kept.", "es": "El modelo de IA ha respondido algo que no se puede guardar."},
	promptTooLong:    {"en": "The message does not fit into what the AI model is asked.", "es": "El mensaje no cabe en lo que se pregunta al modelo de IA."},
}

// How a failure is told again, as long as the context manager is away.
const (
	firstWait   = 250 * time.Millisecond // then twice as long each time, and up to half as long more, so that many do not come at once
	longestWait = 30 * time.Second
	tellFor     = 10 * time.Minute
	mostToTell  = 100 // at a time
)

// report writes why there is no answer as an event, in the thread that is called as the conversation: later, if that cannot be now,
// for which the visitor need not wait.
func (c *chat) report(ctx context.Context, e exchange, failed *fault) {
	c.log.WarnContext(ctx, "no answer for the visitor", "cause", failed)
	payload := map[string]any{
		"error_code": failed.code, "reason": failed.message,
		"frontend_message_id": e.message, "backend_message_id": rand.Text(), // each failure is one of its own, however often it is sent
	}
	if failed.code != promptTooLong {
		payload["timeout_ms"], payload["endpoint"] = c.model.timeout.Milliseconds(), c.model.endpoint
	}
	event := map[string]any{
		"source": "webchat_backend", "agent": "webchat", "user_id": e.visitor, "channel": "webchat", "thread_id": e.conversation,
		"event_type": "error", "role": "system", "importance": 1, "tags": []string{"error", strings.ToLower(failed.code)},
		"content": failures[failed.code][e.language],
		"payload": payload,
	}
	err := c.memory.deliver(ctx, event)
	if isPassing(err) && c.reports.TryGo(func() error { return c.tell(context.WithoutCancel(ctx), event) }) {
		return
	}
	if err != nil {
		c.log.ErrorContext(ctx, "the event of it was not written", "cause", err)
	}
}

// tell sends an event until it is written, and once more when the program ends.
func (c *chat) tell(ctx context.Context, event map[string]any) error {
	ctx, cancel := context.WithTimeout(ctx, tellFor)
	defer cancel()
	for wait, last := firstWait, false; ; wait = min(2*wait, longestWait) {
		select {
		case <-time.After(wait + mathrand.N(wait/2)):
		case <-c.ending:
			last = true
		}
		err := c.memory.deliver(ctx, event)
		if err == nil {
			return nil
		}
		if last || ctx.Err() != nil || !isPassing(err) {
			c.log.ErrorContext(ctx, "the event of a failure was not written", "cause", err)
			return nil
		}
	}
}

// reply gives a conversation, or a word for what failed, which the page has sentences for.
func (c *chat) reply(w http.ResponseWriter, found conversation, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err == nil {
		part := found.ID[strings.LastIndex(found.ID, ":")+1:]
		_ = json.NewEncoder(w).Encode(map[string]any{"conversation": part, "messages": found.messages()})
		return
	}
	status, word := http.StatusServiceUnavailable, "server"
	switch code(err) {
	case modelTimeout:
		status, word = http.StatusGatewayTimeout, "timeout"
	case modelFailed, modelUnavailable:
		status, word = http.StatusBadGateway, "model"
	case "NOT_FOUND":
		status, word = http.StatusGone, "expired"
	case "CONTEXT_WINDOW_EXCEEDED":
		status, word = http.StatusRequestEntityTooLarge, "long"
	case "CONTENT_REJECTED", "BAD_USER_INPUT":
		status, word = http.StatusUnprocessableEntity, "refused"
	default:
		c.log.Error("the context manager", "cause", err)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": word})
}
