package verifier

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// listed is a page of sessions as a server may show it: count sessions that no other page has, each of a length.
func listed(page, count int, length int64, cursor string, more bool) string {
	edges := make([]object, count)
	for i := range edges {
		hash := chain.Sum(fmt.Appendf(nil, "session %d of page %d", i, page))
		edges[i] = object{"node": object{"hash": hash, "length": length, "head": hash}}
	}
	text, _ := json.Marshal(object{"data": object{"sessions": object{
		"edges": edges, "pageInfo": object{"hasNextPage": more, "endCursor": cursor},
	}}})
	return string(text)
}

const wellDone = "data: {\"data\":{\"verificationProgress\":{\"checked\":9,\"total\":9,\"done\":true,\"breaks\":[]}}}\n\n"

// liar serves a checkpoint, a check of its own that finds nothing, and sessions page by page.
type liar struct {
	checkpoint func() string
	progress   func(io.Writer, *http.Request)
	sessions   func(w io.Writer, r *http.Request, page int)
	pages      atomic.Int64
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.URL.Path == "/checkpoint":
		_, _ = io.WriteString(w, l.checkpoint())
	case r.URL.Path == "/graphql" && strings.Contains(string(body), "verificationProgress"):
		l.progress(w, r)
	case r.URL.Path == "/graphql":
		l.sessions(w, r, int(l.pages.Add(1)))
	default:
		http.NotFound(w, r)
	}
}

// newLiar starts a server whose checkpoint is the sample's, of nine messages.
func newLiar(t *testing.T) (l *liar, url string) {
	_, head := grow(t, newSample(t).leaves())
	text := newSample(t).checkpoint(head)
	l = &liar{
		checkpoint: func() string { return text },
		progress:   func(w io.Writer, _ *http.Request) { _, _ = io.WriteString(w, wellDone) },
	}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	return l, server.URL
}

// forever writes a text until nobody reads on.
func forever(w io.Writer, text string) {
	text = strings.Repeat(text, 1<<16/len(text))
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// hang says nothing until nobody waits any more.
func hang(w io.Writer, r *http.Request) {
	_ = http.NewResponseController(w.(http.ResponseWriter)).Flush()
	<-r.Context().Done()
}

// Whatever a hostile server sends, a check of it ends: with a break where the server contradicts what it has signed,
// with an error where it sends what no server sends.
func TestLiar(t *testing.T) {
	t.Parallel()
	page := func(text func(page int) string) func(io.Writer, *http.Request, int) {
		return func(w io.Writer, _ *http.Request, n int) { _, _ = io.WriteString(w, text(n)) }
	}
	for _, c := range []struct {
		name     string
		sessions func(io.Writer, *http.Request, int)
		progress func(io.Writer, *http.Request)
		want     string // the break; or the error
		pages    int64  // at most
	}{
		{"sessions without end", page(func(n int) string { return listed(n, pageLength, 1, fmt.Sprint(n), true) }), nil,
			"LEAF_MISMATCH: the server shows at least 100200 messages, and its newest checkpoint covers 9", 501},
		{"the same sessions without end", page(func(n int) string { return listed(0, pageLength, 1, fmt.Sprint(n), true) }), nil,
			"LEAF_MISMATCH: the server shows at least 100200 messages", 501},
		{"sessions of more messages than there can be", page(func(n int) string { return listed(n, pageLength, 1<<62, fmt.Sprint(n), true) }), nil,
			"LEAF_MISMATCH: the server shows more messages than any tree", 1},
		{"sessions of no message", page(func(n int) string { return listed(n, pageLength, 0, fmt.Sprint(n), true) }), nil, "with a length of 0", 1},
		{"sessions of less than none", page(func(n int) string { return listed(n, pageLength, -5, fmt.Sprint(n), true) }), nil, "with a length of -5", 1},
		{"the same cursor again", page(func(n int) string { return listed(n, pageLength, 1, "same", true) }), nil, "does not go on", 2},
		{"cursors that go round", page(func(n int) string { return listed(n, pageLength, 1, fmt.Sprint(n%3), true) }), nil, "does not go on", 4},
		{"a cursor as long as a page", page(func(n int) string {
			return listed(n, pageLength, 1, strings.Repeat("x", maxCursor+1), true)
		}), nil, "does not go on", 1},
		{"short pages", page(func(n int) string { return listed(n, 1, 1, fmt.Sprint(n), true) }), nil, "does not go on", 1},
		{"empty pages", page(func(n int) string { return listed(n, 0, 1, fmt.Sprint(n), true) }), nil, "does not go on", 1},
		{"an answer without end", func(w io.Writer, _ *http.Request, _ int) { forever(w, " ") }, nil, "cannot be read", 1},
		{"no answer", func(w io.Writer, r *http.Request, _ int) { hang(w, r) }, nil, "cannot be read", 1},
		{"an answer that drips", func(w io.Writer, r *http.Request, _ int) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w.(http.ResponseWriter)).Flush()
			}
		}, nil, "cannot be read", 1},
		{"no check", nil, hang, "broken off", 0},
		{"an event without end", nil, func(w io.Writer, _ *http.Request) { forever(w, "data: ") }, "broken off", 0},
		{"more breaks than are listed", nil, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(wellDone, "[]", "["+strings.Repeat("{},", MaxBreaks)+"{}]", 1))
		}, "lists 1001 breaks", 0},
		{"a check that ends in between", nil, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(wellDone, "true", "false", 1))
		}, "before it was done", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, url := newLiar(t)
			l.sessions = c.sessions
			if c.progress != nil {
				l.progress = c.progress
			}
			s := Server{URL: url, Policy: policyOf(t, pins(t)), Wait: time.Millisecond}
			if strings.HasPrefix(c.name, "no ") || strings.Contains(c.name, "drips") {
				s.Patience = 200 * time.Millisecond
			}
			report, err := CheckServer(t.Context(), s)
			if strings.HasPrefix(c.want, "LEAF") {
				if err != nil || report.Valid || len(report.Breaks) != 1 || !strings.HasPrefix(report.Breaks[0].String(), c.want) {
					t.Errorf("CheckServer = %+v, %v, want %s", report, err, c.want)
				}
			} else if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), c.want) {
				t.Errorf("CheckServer = %+v, %v, want %s", report, err, c.want)
			}
			if n := l.pages.Load(); n > c.pages {
				t.Errorf("it read %d pages of sessions, want at most %d", n, c.pages)
			}
		})
	}
}

// A log that grows while it is listed is read on: as many messages wait as may, and no more.
func TestListOfGrowingLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes []int64 // of the checkpoints, one after the other
		ok    bool
	}{
		{[]int64{9}, false},
		{[]int64{9, 10, 299}, false},
		{[]int64{9, 10, 299, 300}, true},
		{[]int64{9, 400}, true},
	} {
		l, url := newLiar(t)
		s, asked := newSample(t), 0
		l.checkpoint = func() string {
			size := c.sizes[min(asked, len(c.sizes)-1)]
			asked++
			return s.checkpoint(seal.Head{Size: size, Root: other})
		}
		l.sessions = func(w io.Writer, _ *http.Request, n int) {
			text := listed(n, 1, maxWaiting/2+100, "", false)
			if n == 1 {
				text = listed(n, pageLength, maxWaiting/400+1, "1", true)
			}
			_, _ = io.WriteString(w, text)
		}
		total, broken, ok, err := list(t.Context(), t, Server{URL: url, Policy: policyOf(t, pins(t)), Wait: time.Second})
		if err != nil || ok != c.ok || ok != (len(broken) == 0) || total != maxWaiting+300 {
			t.Errorf("checkpoints of %v: list = %d, %t, %v, %v, want %d, %t", c.sizes, total, ok, broken, err, maxWaiting+300, c.ok)
		}
	}
}

// list lists the sessions of a server whose checkpoint was read before.
func list(ctx context.Context, t *testing.T, s Server) (total int64, broken []Break, ok bool, err error) {
	t.Helper()
	c, err := newServerChecker(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err = c.open(ctx, &c.before); !ok || err != nil {
		return 0, c.broken.list, ok, err
	}
	total, ok, err = c.list(ctx)
	return total, slices.Clone(c.broken.list), ok, err
}
