package graph

import (
	stdjson "encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// jsonPost answers requests by POST. The front has looked at them; gqlgen's own transport would decode a body again, and scan
// each answer again.
type jsonPost struct{ transport.POST }

// decoding is how bodies are read: numbers as they are written, which the API's scalars look at.
var decoding = json.JoinOptions(jsontext.AllowDuplicateNames(true), json.WithUnmarshalers(json.UnmarshalFromFunc(
	func(d *jsontext.Decoder, into *any) error {
		if d.PeekKind() != '0' {
			return json.SkipFunc
		}
		number, err := d.ReadValue()
		*into = stdjson.Number(number)
		return err
	})))

// decode reads a body. The error says if it was not JSON, or if a part is not an object.
func (e envelope) decode(sent []byte) (*graphql.RawParams, error) {
	for _, part := range []struct {
		name string
		text []byte
	}{{"variables", e.variables}, {"extensions", e.extensions}} {
		if part.text != nil && part.text[0] != '{' && string(part.text) != "null" {
			if !jsontext.Value(sent).IsValid() {
				return nil, errNoJSON
			}
			return nil, fault.Input(part.name, "is not an object")
		}
	}
	var body struct {
		Query         string         `json:"query"`
		OperationName string         `json:"operationName"`
		Variables     map[string]any `json:"variables"`
		Extensions    map[string]any `json:"extensions"`
	}
	if err := json.Unmarshal(sent, &body, decoding); err != nil {
		return nil, errNoJSON
	}
	return &graphql.RawParams{Query: body.Query, OperationName: body.OperationName, Variables: body.Variables, Extensions: body.Extensions}, nil
}

// Do answers.
func (jsonPost) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	ctx, x := r.Context(), exchangeFrom(r.Context())
	media := answerType(r.Header.Get("Accept"))
	w.Header().Set("Content-Type", media)
	params := x.params
	if params == nil { // it is refused
		params = &graphql.RawParams{Query: x.query}
	}
	params.Headers = r.Header
	op, refused := exec.CreateOperationContext(ctx, params)
	if refused != nil {
		status := http.StatusOK
		if media == mediaResponse && errcode.GetErrorKind(refused) == errcode.KindProtocol {
			status = http.StatusBadRequest
		}
		if x.status != 0 {
			status = x.status
		}
		w.WriteHeader(status)
		writeResponse(w, exec.DispatchError(graphql.WithOperationContext(ctx, op), refused), x.began)
		return
	}
	answer, ctx := exec.DispatchOperation(ctx, op)
	writeResponse(w, answer(ctx), x.began)
}

// The types of an answer.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"
)

// answerType gives the type that a client accepts first.
func answerType(accept string) string {
	if accept == "" {
		return mediaJSON
	}
	for part := range strings.SplitSeq(accept, ",") {
		media, _, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		switch media {
		case "*/*", "application/*", mediaJSON:
			return mediaJSON
		case mediaResponse:
			return mediaResponse
		}
	}
	return mediaResponse
}

// writeResponse writes an answer, whose data are JSON already: large ones as they are, since a copy would take as much room
// again. Where nothing was executed, the specification wants no data.
func writeResponse(w http.ResponseWriter, response *graphql.Response, executed bool) {
	text := make([]byte, 0, min(len(response.Data), smallBody)+512)
	begin := byte('{')
	name := func(name string) {
		text = append(append(append(text, begin, '"'), name...), '"', ':')
		begin = ','
	}
	add := func(called string, value any) {
		b, err := stdjson.Marshal(value)
		if err != nil {
			panic(err) // of text and numbers, there is none that cannot be written
		}
		name(called)
		text = append(text, b...)
	}
	if len(response.Errors) > 0 {
		add("errors", response.Errors)
	}
	switch {
	case len(response.Data) > smallBody:
		name("data")
		_, _ = w.Write(text)
		_, _ = w.Write(response.Data)
		text = text[:0]
	case response.Data != nil:
		name("data")
		text = append(text, response.Data...)
	case executed:
		name("data")
		text = append(text, "null"...)
	}
	if len(response.Extensions) > 0 {
		add("extensions", response.Extensions)
	}
	_, _ = w.Write(append(text, '}'))
}
