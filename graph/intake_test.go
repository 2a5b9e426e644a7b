package graph

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/overload"
)

// Room grows with what arrives, whatever the length was said to be, and is counted beyond a little.
func TestIntake(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sent, limit int
		most        int64 // that may be counted
	}{{0, 100, 0}, {100, 100, 0}, {100, MaxAppendBody, 0}, {smallBody - 1, MaxAppendBody, 0}, {smallBody + 1, MaxAppendBody, 2*smallBody + 1}, {MaxBody, MaxAppendBody, 4 * MaxBody}, {300_000, 300_000, 300_000}} {
		in := &intake{from: iotest.HalfReader(strings.NewReader(strings.Repeat("x", test.sent))), all: overload.NewRoom(mostBody)}
		err := in.read(test.limit)
		if err != nil || len(in.body) != test.sent || in.taken > test.most || cap(in.body) > max(smallBody, int(in.taken)) {
			t.Errorf("%d bytes of %d: %v, %d bytes in a room of %d, %d counted; want at most %d", test.sent, test.limit, err, len(in.body), cap(in.body), in.taken, test.most)
		}
		in.release()
		if !in.all.Take("", mostBody) {
			t.Errorf("%d bytes of %d: what was taken was not given back", test.sent, test.limit)
		}
	}
	in := &intake{from: strings.NewReader(letters(MaxBody)), all: overload.NewRoom(MaxBody / 2)}
	if err := in.read(MaxBody); !errors.Is(err, overload.ErrFull) {
		t.Errorf("without room: %v, want ErrFull", err)
	}
}

func letters(n int) string { return strings.Repeat("x", n) }

// While there is no room for large bodies they are refused, and others are not; nothing is kept of any.
func TestRoomForBodies(t *testing.T) {
	t.Parallel()
	h := NewHandler(&Resolver{}, Config{Log: slog.New(slog.DiscardHandler)})
	bodies := h.(front).bodies
	ask := func(body io.Reader, length int64) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(auth.WithCaller(t.Context(), auth.Administrator()), http.MethodPost, "/graphql", body)
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = length
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	small := `{"query":"{__typename}"}`
	large := `{"query":"{__typename}","variables":{"a":"` + letters(200_000) + `"}}`
	if w := ask(strings.NewReader(large), int64(len(large))); w.Code != http.StatusOK {
		t.Errorf("a large body: %d %s", w.Code, w.Body)
	}
	if !bodies.Take("", mostBody) {
		t.Fatal("a large body keeps its room")
	}
	for name, length := range map[string]int64{"of known length": int64(len(large)), "of unknown length": -1} {
		w := ask(strings.NewReader(large), length)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"UNAVAILABLE"`) {
			t.Errorf("a large body %s without room: %d %v %s; want 503 UNAVAILABLE with Retry-After", name, w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(strings.NewReader(small), int64(len(small))); w.Code != http.StatusOK {
		t.Errorf("a small body without room for large ones: %d %s", w.Code, w.Body)
	}
	bodies.Give("", mostBody)
	if w := ask(io.MultiReader(strings.NewReader(large), iotest.ErrReader(io.ErrUnexpectedEOF)), MaxAppendBody); w.Code != http.StatusBadRequest {
		t.Errorf("a body that breaks off: %d %s, want 400", w.Code, w.Body)
	}
	if !bodies.Take("", mostBody) {
		t.Error("a body that broke off keeps its room")
	}
}
