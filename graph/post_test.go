package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

// Every answer is JSON and tells its length, so that it comes in one piece: also one that is not copied, and one of errors.
func TestWriteResponseTellsItsLength(t *testing.T) {
	t.Parallel()
	large := json.RawMessage(`{"text":"` + strings.Repeat("x", 2*smallBody) + `"}`)
	for name, of := range map[string]struct {
		response graphql.Response
		executed bool
		status   int
		want     string
	}{
		"small":          {graphql.Response{Data: json.RawMessage(`{"a":1}`)}, true, http.StatusOK, `{"data":{"a":1}}`},
		"large":          {graphql.Response{Data: large, Extensions: map[string]any{"b": 2}}, true, http.StatusOK, `{"data":` + string(large) + `,"extensions":{"b":2}}`},
		"no data":        {graphql.Response{}, true, http.StatusOK, `{"data":null}`},
		"not executed":   {graphql.Response{Errors: gqlerror.List{gqlerror.Errorf("why")}}, false, http.StatusBadRequest, `{"errors":[{"message":"why"}]}`},
		"large and more": {graphql.Response{Data: large, Errors: gqlerror.List{gqlerror.Errorf("why")}}, true, http.StatusOK, `{"errors":[{"message":"why"}],"data":` + string(large) + `}`},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			writeResponse(w, of.status, &of.response, of.executed)
		}))
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(answer.Body)
		answer.Body.Close()
		server.Close()
		if err != nil || body.String() != of.want || answer.StatusCode != of.status || answer.ContentLength != int64(len(of.want)) || answer.TransferEncoding != nil {
			t.Errorf("%s: %s, %d bytes told, in %q: %.100s, %v", name, answer.Status, answer.ContentLength, answer.TransferEncoding, body.String(), err)
		}
	}
}

// A client that goes away before anything was done for it is no error of the server's.
func TestPostOfWhoWentAway(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(requestBody(t, "{ __typename }", nil)))
	r.Header.Set("Content-Type", "application/json")
	ctx, cancel := context.WithCancel(auth.WithCaller(r.Context(), auth.Caller{}))
	cancel()
	w := httptest.NewRecorder()
	quiet().ServeHTTP(w, r.WithContext(ctx))
	if a := read(t, w.Result()); a.code() != fault.Unavailable || a.message() != "the request was ended before it was answered" {
		t.Errorf("the answer is %d %+v, not that the request was ended", w.Code, a)
	}
}
