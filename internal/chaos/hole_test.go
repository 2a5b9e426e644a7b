package chaos

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// What was connected while nothing came through stays silent, and is not closed, though the far side has given it up; what
// connects later works.
func TestHole(t *testing.T) {
	t.Parallel()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	left := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn); left <- struct{}{} }()
		}
	}()
	h, err := newHole(echo.Addr().String(), 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	connect := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", h.addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	works := func(conn net.Conn, limit time.Duration) error {
		t.Helper()
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(limit))
		_, err := io.ReadFull(conn, make([]byte, 1))
		return err
	}
	old := connect()
	if err := works(old, startLimit); err != nil {
		t.Fatalf("at first: %v", err)
	}
	h.fall()
	meanwhile := connect()
	for name, conn := range map[string]net.Conn{"old": old, "new": meanwhile} {
		if err := works(conn, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection that is %s, in the hole: %v, want silence", name, err)
		}
	}
	select {
	case <-left:
	case <-time.After(startLimit):
		t.Fatal("the far side waits for ever")
	}
	h.rise()
	if err := works(connect(), startLimit); err != nil {
		t.Errorf("a new connection afterwards: %v", err)
	}
	for name, conn := range map[string]net.Conn{"older": old, "of the hole": meanwhile} {
		if err := works(conn, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection that is %s, afterwards: %v, want silence", name, err)
		}
	}
}
