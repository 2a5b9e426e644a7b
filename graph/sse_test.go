package graph

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// An event is one line, whatever its data are.
func TestEventOf(t *testing.T) {
	t.Parallel()
	yes := true
	for name, c := range map[string]struct {
		response graphql.Response
		want     string
	}{
		"data":       {graphql.Response{Data: json.RawMessage(`{"a":"<b>"}`)}, `{"data":{"a":"<b>"}}`},
		"lines":      {graphql.Response{Data: json.RawMessage("{\"a\":\n\r1}")}, `{"data":{"a":1}}`},
		"error":      {graphql.Response{Errors: gqlerror.List{{Message: "no"}}}, `{"errors":[{"message":"no"}],"data":null}`},
		"with error": {graphql.Response{Data: json.RawMessage(`{}`), Errors: gqlerror.List{{Message: "no"}}}, `{"errors":[{"message":"no"}],"data":{}}`},
		"extensions": {graphql.Response{Data: json.RawMessage(`{}`), Extensions: map[string]any{"a": 1}}, `{"data":{},"extensions":{"a":1}}`},
		"next":       {graphql.Response{Data: json.RawMessage(`{}`), HasNext: &yes}, `{"data":{},"hasNext":true}`},
	} {
		if got, want := string(eventOf(&c.response)), "event: next\ndata: "+c.want+"\n\n"; got != want {
			t.Errorf("%s: the event is %q, want %q", name, got, want)
		}
	}
}

// What more follows goes out with that; pings come while nothing else does, and none after the end.
func TestEventSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to := httptest.NewRecorder()
		s := newEventSender(to)
		sent := func(want string) {
			t.Helper()
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := to.Body.String(); !to.Flushed || got != want {
				t.Errorf("sent is %q, and flushed %t; want %q", got, to.Flushed, want)
			}
			to.Flushed = false
			to.Body.Reset()
		}
		s.begin()
		sent(":\n\n")
		s.send([]byte("one"), true)
		if to.Flushed {
			t.Error("what more follows is sent by itself")
		}
		s.send([]byte(" two"), false)
		sent("one two")
		time.Sleep(2*pingInterval + time.Second)
		sent(strings.Repeat(": ping\n\n", 2))
		s.end()
		s.send([]byte("late"), false)
		time.Sleep(2 * pingInterval)
		if to.Body.Len() > 0 {
			t.Errorf("%q is sent after the end", to.Body)
		}
	})
}
