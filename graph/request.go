package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// front stands before gqlgen's transports: it lets in whoever may call, and requests that are what the GraphQL over
// HTTP specification wants. What comes through is JSON of the right shape, so that the transports' own words for what
// is wrong, which repeat the body, are never needed.
type front struct {
	transports http.Handler
}

// envelope is a request by POST. Variables and extensions are left for the transport to read.
type envelope struct {
	Query         *string                    `json:"query"`
	OperationName *string                    `json:"operationName,omitempty"`
	Variables     map[string]json.RawMessage `json:"variables,omitempty"`
	Extensions    map[string]json.RawMessage `json:"extensions,omitempty"`
}

// ServeHTTP answers one request, or one WebSocket for as long as it lives.
func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		f.transports.ServeHTTP(w, r) // says who it is in its first message
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept")
	if _, err := auth.From(r.Context()); err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		writeError(w, r, http.StatusUnauthorized, err)
		return
	}
	x := &exchange{method: r.Method}
	switch r.Method {
	case http.MethodGet:
		f.get(w, r, x)
	case http.MethodPost:
		f.post(w, r, x)
	default:
		w.Header().Set("Allow", "GET, POST")
		writeError(w, r, http.StatusMethodNotAllowed, fault.New(fault.BadUserInput, "the method is not GET or POST"))
	}
}

func (f front) post(w http.ResponseWriter, r *http.Request, x *exchange) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		writeError(w, r, http.StatusUnsupportedMediaType,
			fault.New(fault.BadUserInput, "the Content-Type is not application/json in UTF-8"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxAppendBody))
	if err != nil {
		status, err := readError(err)
		writeError(w, r, status, err)
		return
	}
	if err := checkEnvelope(body); err != nil {
		writeError(w, r, http.StatusBadRequest, err)
		return
	}
	x.size, x.stream = len(body), wantsStream(r, body)
	f.pass(w, r, x, body)
}

const eventStream = "text/event-stream"

// wantsStream tells whether to answer with events. Clients that can read both list both for whatever they ask: then
// a stream is for subscriptions, and everything else is answered with JSON.
func wantsStream(r *http.Request, body []byte) bool {
	accept := r.Header.Get("Accept")
	if !strings.Contains(accept, eventStream) {
		return false
	}
	if !strings.Contains(accept, "json") || bytes.Contains(body, []byte("subscription")) {
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
	if x.stream = wantsStream(r, body); !x.stream {
		f.pass(w, r, x, nil)
		return
	}
	r = r.Clone(r.Context())
	r.Method = http.MethodPost // gqlgen's stream takes no other
	r.Header.Set("Content-Type", "application/json")
	f.pass(w, r, x, body)
}

// pass hands the request on, with the body anew.
func (f front) pass(w http.ResponseWriter, r *http.Request, x *exchange, body []byte) {
	r = r.WithContext(withExchange(r.Context(), x))
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.transports.ServeHTTP(&reply{ResponseWriter: w, exchange: x}, r)
}

func readError(err error) (int, error) {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, fault.New(fault.BadUserInput,
			"the request has more than %d bytes, which is the limit for any", MaxAppendBody)
	}
	return http.StatusBadRequest, fault.Wrap(err, fault.BadUserInput, "the request ended before its body did")
}

// checkEnvelope tells whether a body is a request.
func checkEnvelope(body []byte) error {
	var e envelope
	err := json.Unmarshal(body, &e)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fault.New(fault.BadUserInput, "the body is not a JSON object with one request; batches are not served")
		}
		kind := "a string"
		if wrong.Field == "variables" || wrong.Field == "extensions" {
			kind = "an object"
		}
		return fault.Input(wrong.Field, "is not %s", kind)
	}
	if err != nil {
		return fault.New(fault.BadUserInput, "the body is not JSON: %s", err)
	}
	if e.Query == nil || *e.Query == "" {
		return fault.Input("query", "is missing")
	}
	return nil
}

// envelopeOf gives the body that a request by GET would have by POST.
func envelopeOf(values url.Values) ([]byte, error) {
	e := envelope{}
	if q := values.Get("query"); q != "" {
		e.Query = &q
	} else {
		return nil, fault.Input("query", "is missing")
	}
	if name := values.Get("operationName"); name != "" {
		e.OperationName = &name
	}
	for name, target := range map[string]*map[string]json.RawMessage{"variables": &e.Variables, "extensions": &e.Extensions} {
		if text := values.Get(name); text != "" {
			if err := json.Unmarshal([]byte(text), target); err != nil {
				return nil, fault.Input(name, "is not a JSON object")
			}
		}
	}
	return json.Marshal(e)
}
