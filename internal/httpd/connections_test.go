package httpd

import (
	"errors"
	"io"
	"net"
	"net/http"
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

func TestNetwork(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "2001:db8::1": "2001:db8::", "2001:db8::1:2:3:4": "2001:db8::", "2001:db8:0:1::1": "2001:db8:0:1::",
	} {
		if got := network(&net.TCPAddr{IP: net.ParseIP(text), Port: 1}).String(); got != want {
			t.Errorf("network(%s) = %s, want %s", text, got, want)
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
	refused := make(chan struct{}, 100)
	b := newConnections(inner, 8, func() { refused <- struct{}{} })
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })}
	go func() { _ = server.Serve(b) }()
	t.Cleanup(func() { _ = server.Close() })

	dial := func(from string) net.Conn {
		t.Helper()
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
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
	var mine []net.Conn
	for range 6 {
		conn := dial("127.0.0.1")
		if !answers(conn) {
			t.Fatalf("connection %d is refused", len(mine)+1)
		}
		mine = append(mine, conn)
	}
	if answers(dial("127.0.0.1")) {
		t.Error("one address has more than three quarters of the connections")
	}
	<-refused
	others := dial("127.0.0.2")
	if !answers(others) || !answers(dial("127.0.0.3")) {
		t.Error("others have no connection")
	}
	if answers(dial("127.0.0.4")) {
		t.Error("there are more connections than there may be")
	}
	<-refused
	_ = mine[0].Close()
	_ = others.Close()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		open := b.open
		b.mu.Unlock()
		if open == 6 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections count, want 6", open)
		}
	}
	if !answers(dial("127.0.0.1")) {
		t.Error("a connection that was closed makes no room")
	}
}
