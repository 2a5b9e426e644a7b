package httpd

import (
	"net"
	"net/netip"
	"sync"

	"github.com/tzzr/context-manager/internal/limit"
)

// openBeside is what a process may open beside connections, files and connections to the database: or a quarter of what it may
// open at all, if that is less.
const openBeside = 1000

// mostConnections gives how many connections a process holds that may have so many files open; 0: as many as come.
func mostConnections(files int) int { return files - min(openBeside, files/4) }

// connections is a listener that holds so many connections, three quarters of them of one address, unless that is a proxy's or this
// machine's: who opens all that they can must not leave the process without files, nor others without a connection. What is beyond is
// closed at once.
type connections struct {
	net.Listener
	most    int                        // 0: as many as come
	proxies func(from netip.Addr) bool // tells whether an address may stand for many
	counted func(change int)
	refused func()

	mu   sync.Mutex
	open int
	of   map[netip.Addr]int // by address, none with 0
}

// Accept waits for a connection for which there is room.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at := addressOf(conn)
		from := limit.Network(at)
		if c.enter(from, c.proxies(at)) {
			return &placedConn{Conn: conn, leave: sync.OnceFunc(func() { c.leave(from) })}, nil
		}
		_ = conn.Close()
		c.refused()
	}
}

func (c *connections) enter(from netip.Addr, proxy bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most > 0 && (c.open >= c.most || c.of[from] >= max(1, c.most*3/4) && !proxy) {
		return false
	}
	c.open++
	c.counted(1)
	c.of[from]++
	return true
}

func (c *connections) leave(from netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	c.counted(-1)
	if c.of[from]--; c.of[from] == 0 {
		delete(c.of, from)
	}
}

// addressOf gives who has connected.
func addressOf(conn net.Conn) netip.Addr {
	tcp, _ := conn.RemoteAddr().(*net.TCPAddr)
	return tcp.AddrPort().Addr().Unmap().WithZone("") // none of nil
}

// placedConn gives its place back when it is closed.
type placedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (c *placedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite tells the other side that nothing more comes, where that can be told: it may be reading an answer still.
func (c *placedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
