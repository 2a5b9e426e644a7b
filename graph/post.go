package graph

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// jsonPost answers requests by POST. The front has looked at them; gqlgen's own transport would decode a body again, and scan
// each answer again.
type jsonPost struct{ transport.POST }

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
		writeResponse(w, status, exec.DispatchError(graphql.WithOperationContext(ctx, op), refused), x.began)
		return
	}
	answer, ctx := exec.DispatchOperation(ctx, op)
	response := answer(ctx)
	if response == nil { // the client went away before anything was done
		response = exec.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{gqlerror.Wrap(ctx.Err())})
	}
	writeResponse(w, http.StatusOK, response, x.began)
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
// again. Its length is told, so that it needs no chunks. Where nothing was executed, the specification wants no data.
func writeResponse(w http.ResponseWriter, status int, response *graphql.Response, executed bool) {
	text := make([]byte, 0, min(len(response.Data), smallBody)+512)
	begin := byte('{')
	name := func(name string) {
		text = append(append(append(text, begin, '"'), name...), '"', ':')
		begin = ','
	}
	add := func(called string, value any) {
		b, err := json.Marshal(value)
		if err != nil {
			panic(err) // of text and numbers, there is none that cannot be written
		}
		name(called)
		text = append(text, b...)
	}
	if len(response.Errors) > 0 {
		add("errors", response.Errors)
	}
	large, before := []byte(nil), 0 // what is not copied, and where it stands
	switch {
	case len(response.Data) > smallBody:
		name("data")
		large, before = response.Data, len(text)
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
	text = append(text, '}')
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+len(large)))
	w.WriteHeader(status)
	if large != nil {
		_, _ = w.Write(text[:before])
		_, _ = w.Write(large)
		text = text[before:]
	}
	_, _ = w.Write(text)
}
