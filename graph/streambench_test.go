package graph_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkEvents tells 1,000 subscribers to a session, by server-sent events, of one message after the other. It gives what
// an event takes, appending left out of none: at 1,000 events a message that is little.
func BenchmarkEvents(b *testing.B) {
	const readers = 1000
	l := newLive(b)
	var told atomic.Int64
	for range readers {
		conn, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		body := fmt.Sprintf(`{"query":"subscription($s: [Hash!]) { messageAppended(sessions: $s) { hash } }","variables":{"s":[%q]}}`, hashOf("s"))
		if _, err := fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
			l.token, len(body), body); err != nil {
			b.Fatal(err)
		}
		go func() {
			for in := bufio.NewReaderSize(conn, 1<<10); ; {
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				if bytes.HasPrefix(line, []byte("event: next")) {
					told.Add(1)
				}
			}
		}()
	}
	wait := func(n int64) {
		for limit := time.Now().Add(20 * time.Second); told.Load() < n; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				b.Fatalf("%d events of %d", told.Load(), n)
			}
		}
	}
	for told.Load() < readers { // until all listen
		l.append(message("s", "begin"))
		time.Sleep(300 * time.Millisecond)
	}
	began := told.Load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		l.append(message("s", "content"))
		began += readers
		wait(began)
	}
	runtime.ReadMemStats(&after)
	events := float64(b.N) * readers
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/events, "B/event")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/events, "allocs/event")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/events, "µs/event")
}
