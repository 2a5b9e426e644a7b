package graph

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
)

// sentEvents answers with server-sent events. gqlgen's own transport would scan each event again that was made for many, send
// each by itself, and keep a goroutine for the pings of each stream.
type sentEvents struct{ transport.SSE }

// Do answers until the stream ends. The front has looked at the request.
func (sentEvents) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	ctx, x := r.Context(), exchangeFrom(r.Context())
	body, err := io.ReadAll(r.Body)
	var params *graphql.RawParams
	if err == nil {
		params, err = decode(body)
	}
	if err != nil {
		writeError(w, r, http.StatusBadRequest, err)
		return
	}
	params.Headers = r.Header
	op, refused := exec.CreateOperationContext(ctx, params)
	ctx = graphql.WithOperationContext(ctx, op)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Connection", "keep-alive")
	w.Header().Set("Content-Type", eventStream)
	s := newEventSender(w)
	s.begin()
	defer s.end()
	if refused != nil {
		s.send(eventOf(exec.DispatchError(ctx, refused)), true)
	} else {
		respond, ctx := exec.DispatchOperation(ctx, op)
		for response := respond(ctx); response != nil; response = respond(ctx) {
			s.send(eventOf(response), x.more != nil && x.more())
			s.pings.Reset(pingInterval)
		}
	}
	s.send([]byte("event: complete\n\n"), false)
}

// eventSender sends what a stream is told by its request, and its pings.
type eventSender struct {
	mu      sync.Mutex
	to      io.Writer
	control *http.ResponseController
	pings   *time.Timer
	ended   bool
}

func newEventSender(to http.ResponseWriter) *eventSender {
	return &eventSender{to: to, control: http.NewResponseController(to)}
}

func (s *eventSender) begin() {
	s.send([]byte(":\n\n"), false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pings = time.AfterFunc(pingInterval, s.ping)
}

// send sends something, unless more follows at once that it can go out with.
func (s *eventSender) send(text []byte, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	_, _ = s.to.Write(text) // to one who is gone ends the request's context
	if !more {
		_ = s.control.Flush()
	}
}

// ping shows whoever stands between, and the client, that the stream is alive.
func (s *eventSender) ping() {
	s.send([]byte(": ping\n\n"), false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.pings.Reset(pingInterval)
	}
}

func (s *eventSender) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.pings.Stop()
}

// eventOf gives the event of a response. Data are JSON already, and an event is a line.
func eventOf(response *graphql.Response) []byte {
	const begins, ends = "event: next\ndata: ", "\n\n"
	if len(response.Data) > 0 && len(response.Errors) == 0 && len(response.Extensions) == 0 && response.HasNext == nil && len(response.Path) == 0 && response.Label == "" &&
		!bytes.ContainsAny(response.Data, "\n\r") {
		text := make([]byte, 0, len(begins)+len(`{"data":}`)+len(response.Data)+len(ends))
		text = append(append(append(text, begins...), `{"data":`...), response.Data...)
		return append(append(text, '}'), ends...)
	}
	text, err := json.Marshal(response)
	if err != nil {
		panic(err) // of text and numbers, there is none that cannot be written
	}
	return append(append([]byte(begins), text...), ends...)
}
