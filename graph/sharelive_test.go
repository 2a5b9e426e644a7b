package graph_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What many subscribe to alike is read once for each message, not once for each of them.
func TestEventsAreMadeOnce(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	const readers, rounds = 40, 10
	var told [readers]atomic.Int64
	for i := range readers {
		conn, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		body := `{"query":"subscription { messageAppended { content owner { name } refs { target { ... on Message { content } } } } }"}`
		if _, err := fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
			l.token, len(body), body); err != nil {
			t.Fatal(err)
		}
		go func() {
			for in := bufio.NewScanner(conn); in.Scan(); {
				if bytes.HasPrefix(in.Bytes(), []byte("event: next")) {
					told[i].Add(1)
				}
			}
		}()
	}
	all := func(n int64) bool {
		for i := range told {
			if told[i].Load() < n {
				return false
			}
		}
		return true
	}
	wait := func(n int64) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); !all(n); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("not all are told of %d messages", n)
			}
		}
	}
	earlier := l.append(message("earlier", "earlier"))
	say := func() {
		l.append(message("s", "content", object{"refs": []object{{"hash": earlier[0], "type": "CONTEXT"}}}))
	}
	for !all(1) { // until all listen
		say()
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // what was under way is told
	var most int64
	for i := range told {
		most = max(most, told[i].Load())
	}
	for i := range told {
		told[i].Store(most)
	}
	before := l.counter.n.Load()
	for n := range int64(rounds) {
		say()
		wait(most + n + 1)
	}
	if got := l.counter.n.Load() - before; got > rounds*readers {
		t.Errorf("%d messages to %d readers took %d statements, want fewer than one for each event", rounds, readers, got)
	}
}
