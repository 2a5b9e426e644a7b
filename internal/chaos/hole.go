package chaos

import (
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// hole is a proxy that can fall silent as a network does that drops whatever it is given: nothing comes through, and nobody
// is told. What was connected then stays silent for ever, also once the network is well; only new connections work. Make it
// with newHole, and close it.
//
// Whoever is connected to the proxy has a kernel to talk to, which answers keep-alives for those who are gone. For the far
// side, which cannot see to it otherwise, a keep-alive is acted: its ends are closed after a while.
type hole struct {
	listener  net.Listener
	to        string
	keepAlive time.Duration
	closing   chan struct{}
	wait      sync.WaitGroup

	mu     sync.Mutex
	silent bool
	links  []*link
	ended  bool
}

// link is one connection through a hole.
type link struct {
	lost atomic.Bool // silent for ever
	ends []net.Conn  // the near one, and the far one once there is one
}

// keepAliveLimit is how long a far side waits for one who does not answer: the setting of the server's sealer, 5 s and
// three times 2 s.
const keepAliveLimit = 11 * time.Second

// newHole makes a proxy before an address.
func newHole(to string, keepAlive time.Duration) (*hole, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &hole{listener: listener, to: to, keepAlive: keepAlive, closing: make(chan struct{})}
	h.wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			h.wait.Go(func() { h.serve(conn) })
		}
	})
	return h, nil
}

func (h *hole) addr() string { return h.listener.Addr().String() }

// fall lets nothing through from now on.
func (h *hole) fall() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = true
	for _, l := range h.links {
		l.lost.Store(true)
	}
	lost := slices.Clone(h.links)
	h.wait.Go(func() {
		select {
		case <-time.After(h.keepAlive):
		case <-h.closing:
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, l := range lost {
			if len(l.ends) > 1 {
				_ = l.ends[1].Close()
			}
		}
	})
}

// rise lets new connections through.
func (h *hole) rise() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = false
}

func (h *hole) close() {
	_ = h.listener.Close()
	close(h.closing)
	h.mu.Lock()
	h.ended = true
	for _, l := range h.links {
		for _, end := range l.ends {
			_ = end.Close()
		}
	}
	h.mu.Unlock()
	h.wait.Wait()
}

func (h *hole) serve(near net.Conn) {
	l := &link{ends: []net.Conn{near}}
	if !h.join(l) {
		_ = near.Close()
		return
	}
	if l.lost.Load() {
		_, _ = io.Copy(io.Discard, near)
		return
	}
	far, err := net.Dial("tcp", h.to)
	if err != nil {
		_ = near.Close()
		return
	}
	h.mu.Lock()
	l.ends = append(l.ends, far)
	if h.ended {
		_ = far.Close()
	}
	h.mu.Unlock()
	h.wait.Go(func() { l.carry(near, far) })
	l.carry(far, near)
}

// join keeps a link, unless the hole was closed.
func (h *hole) join(l *link) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false
	}
	l.lost.Store(h.silent)
	h.links = append(h.links, l)
	return true
}

// carry passes on what comes, and that no more comes; neither once the link is lost.
func (l *link) carry(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if l.lost.Load() {
			if err != nil {
				return
			}
			continue
		}
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}
