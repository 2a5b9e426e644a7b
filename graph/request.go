package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/limit"
	"github.com/tzzr/context-manager/internal/overload"
)

// front stands before gqlgen's transports: it lets in whoever may call, and requests that are what the GraphQL over
// HTTP specification wants. What comes through is JSON of the right shape, so that the transports' own words for what
// is wrong, which repeat the body, are never needed.
//
// It works in the order of what a step costs: what the headers tell, the token, the rate, the body's outline, the
// document; variables are decoded only once the document has passed.
type front struct {
	transports http.Handler
	guard      guard
	limits     *limit.Limiter // nil: none
	streams    *streams
	bodies     *overload.Room // bytes of those being received or worked on
	hosts      []string       // of origins besides the server's own whose pages may open WebSockets
}

// ServeHTTP answers one request, or one WebSocket for as long as it lives.
func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		f.socket(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept")
	switch r.Method {
	case http.MethodGet:
	case http.MethodPost:
		if status, err := checkHeader(r); err != nil {
			writeError(w, r, status, err)
			return
		}
	default:
		w.Header().Set("Allow", "GET, POST")
		writeError(w, r, http.StatusMethodNotAllowed, fault.New(fault.BadUserInput, "the method is not GET or POST"))
		return
	}
	_, nobody := auth.From(r.Context())
	if err := cmp.Or(f.limits.Take(r.Context()), nobody); err != nil {
		writeError(w, r, statusOf(w, err), err)
		return
	}
	x := &exchange{method: r.Method}
	if r.Method == http.MethodGet {
		f.get(w, r, x)
	} else {
		f.post(w, r, x)
	}
}

// checkHeader refuses what need not be read to be refused.
func checkHeader(r *http.Request) (int, error) {
	if r.ContentLength > MaxAppendBody {
		return http.StatusRequestEntityTooLarge, errTooLarge()
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return http.StatusUnsupportedMediaType, fault.New(fault.BadUserInput, "the Content-Type is not application/json in UTF-8")
	}
	return 0, nil
}

func errTooLarge() error {
	return fault.New(fault.BadUserInput, "the request has more than %d bytes, which is the limit for any", MaxAppendBody)
}

// statusOf gives the status for a caller who is refused, and sets the headers that go with it.
func statusOf(w http.ResponseWriter, err error) int {
	switch fault.CodeOf(err) {
	case fault.RateLimited:
		limit.SetRetryAfter(w, err)
		return http.StatusTooManyRequests
	case fault.Unauthenticated:
		w.Header().Set("WWW-Authenticate", "Bearer")
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	default:
		return http.StatusServiceUnavailable
	}
}

func (f front) post(w http.ResponseWriter, r *http.Request, x *exchange) {
	in := &intake{from: http.MaxBytesReader(w, r.Body, MaxAppendBody), all: f.bodies, who: whoAsks(r.Context())}
	defer in.release()
	err := in.read(bodyLimit(r.ContentLength, MaxBody))
	if err == nil && len(in.body) > MaxBody {
		switch refused, err := f.mayBeLarge(r, in.body); {
		case err != nil:
			writeError(w, r, http.StatusRequestEntityTooLarge, err)
			return
		case refused != nil:
			x.refused = refused
			f.pass(w, r, x, stub)
			return
		}
		err = in.read(bodyLimit(r.ContentLength, MaxAppendBody))
	}
	switch {
	case errors.Is(err, overload.ErrFull):
		writeFull(w, r, err)
		return
	case err != nil:
		status, err := readError(err)
		writeError(w, r, status, err)
		return
	}
	x.size = len(in.body)
	f.admit(w, r, x, in.body)
}

// bodyLimit is how much of a body to read: most, and a byte that tells that there are more, unless its length is known to
// be less.
func bodyLimit(length int64, most int) int {
	if length >= 0 && length <= int64(most) {
		return int(length)
	}
	return most + 1
}

// mayBeLarge tells, by the beginning of a body, whether the rest is worth reading: only mutations that only add to the
// log may have more than MaxBody bytes. What is refused is refused as if it were smaller.
func (f front) mayBeLarge(r *http.Request, beginning []byte) (refused *gqlerror.Error, err error) {
	parts, err := openEnvelope(beginning, MaxValues)
	if err != nil && !errors.Is(err, errCut) {
		return nil, err
	}
	query, ok, err := text("query", parts.query)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.BadUserInput, "the request has more than %d bytes, and no query among the first of them: put it before the variables", MaxBody)
	}
	of, refused := f.guard.examine(r.Context(), query)
	if refused != nil {
		return refused, nil
	}
	caller, _ := auth.From(r.Context())
	for _, op := range of.doc.Operations {
		if !onlyAdds(op) || !mayAsk(caller, op) {
			return nil, errNotLarge()
		}
	}
	return nil, nil
}

func errNotLarge() error {
	return fault.New(fault.BadUserInput, "the request has more than %d bytes, which only mutations may have that append messages or add records or components, by a token that may, up to %d", MaxBody, MaxAppendBody)
}

// stub is what transports get to see of a request that is refused: they only give the refusal its form.
var stub = []byte(`{"query":"{__typename}"}`)

// admit hands a request on once its document has passed.
func (f front) admit(w http.ResponseWriter, r *http.Request, x *exchange, body []byte) {
	parts, err := openEnvelope(body, mostValues(len(body)))
	if errors.Is(err, errCut) {
		err = errNoJSON
	}
	var query, name string
	if err == nil {
		query, _, err = text("query", parts.query)
	}
	if err == nil {
		name, _, err = text("operationName", parts.operationName)
	}
	if err == nil && query == "" {
		err = fault.Input("query", "is missing")
	}
	if err != nil {
		writeError(w, r, http.StatusBadRequest, err)
		return
	}
	x.query, x.stream = query, wantsStream(r, query)
	x.refused = f.guard.admit(withExchange(r.Context(), x), query, name)
	defer f.guard.places.end(r.Context(), x)
	if x.full != nil {
		writeFull(w, r, x.full)
		return
	}
	switch {
	case x.refused != nil:
		body = stub
	case x.stream || r.Method == http.MethodGet:
		body, err = parts.body(body)
	default:
		x.params, err = decode(body)
	}
	if err != nil {
		writeError(w, r, http.StatusBadRequest, err)
		return
	}
	f.pass(w, r, x, body)
}

const eventStream = "text/event-stream"

// wantsStream tells whether to answer with events. Clients that can read both list both for whatever they ask: then
// a stream is for subscriptions, and everything else is answered with JSON.
func wantsStream(r *http.Request, query string) bool {
	accept := r.Header.Get("Accept")
	if !strings.Contains(accept, eventStream) {
		return false
	}
	if !strings.Contains(accept, "json") || strings.Contains(query, "subscription") {
		return true
	}
	r.Header.Set("Accept", strings.ReplaceAll(accept, eventStream, "application/json"))
	return false
}

// get serves queries; with `Accept: text/event-stream` subscriptions too, as browsers' EventSource asks for them.
func (f front) get(w http.ResponseWriter, r *http.Request, x *exchange) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, http.StatusBadRequest, fault.New(fault.BadUserInput, "the address cannot be read"))
		return
	}
	body, err := envelopeOf(values)
	if err != nil {
		writeError(w, r, http.StatusBadRequest, err)
		return
	}
	f.admit(w, r, x, body)
}

// pass hands the request on, with the body anew.
func (f front) pass(w http.ResponseWriter, r *http.Request, x *exchange, body []byte) {
	r = r.WithContext(withExchange(r.Context(), x))
	if x.stream && r.Method == http.MethodGet {
		r = r.Clone(r.Context())
		r.Method = http.MethodPost // gqlgen's stream takes no other
		r.Header.Set("Content-Type", "application/json")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.transports.ServeHTTP(&reply{ResponseWriter: w, exchange: x}, r)
}

func readError(err error) (int, error) {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, errTooLarge()
	}
	return http.StatusBadRequest, fault.Wrap(err, fault.BadUserInput, "the request ended before its body did")
}

// envelopeOf gives the body that a request by GET would have by POST.
func envelopeOf(values url.Values) ([]byte, error) {
	parts := map[string]any{}
	for _, name := range []string{"query", "operationName"} {
		if text := values.Get(name); text != "" {
			parts[name] = text
		}
	}
	for _, name := range []string{"variables", "extensions"} {
		if text := values.Get(name); text != "" {
			if !json.Valid([]byte(text)) || !strings.HasPrefix(strings.TrimSpace(text), "{") {
				return nil, fault.Input(name, "is not a JSON object")
			}
			parts[name] = json.RawMessage(text)
		}
	}
	return json.Marshal(parts)
}
