package httpd

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

func TestMostConnections(t *testing.T) {
	t.Parallel()
	for files, want := range map[int]int{0: 0, 256: 192, 1024: 768, 20_000: 19_000} {
		if got := mostConnections(files); got != want {
			t.Errorf("mostConnections(%d) = %d, want %d", files, got, want)
		}
	}
}

func TestProxiesMayHaveMore(t *testing.T) {
	t.Parallel()
	s := New(NewMetrics(), slog.New(slog.DiscardHandler))
	s.Trust([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8::1/128")})
	b := s.connections(nil, 8)
	for text, want := range map[string]bool{"127.0.0.1": true, "::1": true, "10.1.2.3": true, "10.2.0.1": false, "2001:db8::1": true, "2001:db8:1::1": false} {
		if got := b.proxies(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is taken for a proxy: %v, want %v", text, got, want)
		}
	}
}

// One address has three quarters of the connections at most; what is closed makes room, and what is refused leaves others alone.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	inner, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(NewMetrics(), slog.New(slog.DiscardHandler))
	b := s.connections(inner, 8)
	refused, proxy := make(chan struct{}, 100), netip.MustParseAddr("127.0.0.5")
	b.refused = func() {
		select {
		case refused <- struct{}{}:
		default:
		}
	}
	b.proxies = func(from netip.Addr) bool { return from == proxy }
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, _ = io.WriteString(w, "here")
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack() // as WebSockets are opened
		if err == nil {
			_, _ = io.WriteString(conn, "hijacked")
			_ = conn.Close()
		}
	})}
	go func() { _ = server.Serve(b) }()
	t.Cleanup(func() { _ = server.Close() })

	var all []net.Conn
	dial := func(from string) net.Conn {
		t.Helper()
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
		return conn
	}
	answers := func(conn net.Conn) bool {
		t.Helper()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			return false // it was closed already
		}
		first := make([]byte, 8)
		_, err := io.ReadFull(conn, first)
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() {
			t.Fatal("the connection is neither answered nor closed")
		}
		return err == nil
	}
	until := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			b.mu.Lock()
			open := b.open
			b.mu.Unlock()
			if open == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d connections count, want %d", open, want)
			}
		}
	}
	var mine []net.Conn
	for range 6 {
		conn := dial("127.0.0.1")
		if !answers(conn) {
			t.Fatalf("connection %d is refused", len(mine)+1)
		}
		mine = append(mine, conn)
	}
	if answers(dial("127.0.0.1")) {
		t.Fatal("one address has more than three quarters of the connections")
	}
	<-refused
	others := dial("127.0.0.2")
	if !answers(others) || !answers(dial("127.0.0.3")) {
		t.Error("others have no connection")
	}
	if answers(dial("127.0.0.4")) {
		t.Fatal("there are more connections than there may be")
	}
	<-refused
	_ = mine[0].Close()
	_ = others.Close()
	until(6)
	if !answers(dial("127.0.0.1")) {
		t.Error("a connection that was closed makes no room")
	}
	for _, conn := range all {
		_ = conn.Close()
	}
	until(0)
	hijacked := dial("127.0.0.1")
	if _, err := io.WriteString(hijacked, "GET /socket HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(hijacked); string(got) != "hijacked" {
		t.Fatal(string(got), err)
	}
	until(0)
	for i := range 7 {
		if !answers(dial(proxy.String())) {
			t.Fatalf("a proxy's connection %d is refused", i+1)
		}
	}
}
