package httpd

import (
	"net"
	"net/netip"
	"sync"
)

// What a process may open beside connections: files, and connections to the database.
const (
	openBeside  = 1000 // or a quarter of what it may open at all, if that is less
	networkBits = 64   // of an IPv6 address count as one: a customer has at least a /64
)

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
func (b *connections) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		at := addressOf(conn)
		from := network(at)
		if b.enter(from, b.proxies(at)) {
			return &placedConn{Conn: conn, leave: sync.OnceFunc(func() { b.leave(from) })}, nil
		}
		_ = conn.Close()
		b.refused()
	}
}

func (b *connections) enter(from netip.Addr, proxy bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && (b.open >= b.most || b.of[from] >= max(1, b.most*3/4) && !proxy) {
		return false
	}
	b.open++
	b.counted(1)
	b.of[from]++
	return true
}

func (b *connections) leave(from netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	b.counted(-1)
	if b.of[from]--; b.of[from] == 0 {
		delete(b.of, from)
	}
}

// addressOf gives who has connected.
func addressOf(conn net.Conn) netip.Addr {
	tcp, _ := conn.RemoteAddr().(*net.TCPAddr)
	return tcp.AddrPort().Addr().Unmap().WithZone("") // none of nil
}

// network gives the address that stands for those that somebody has.
func network(at netip.Addr) netip.Addr {
	if at.Is6() {
		if prefix, err := at.Prefix(networkBits); err == nil {
			return prefix.Addr()
		}
	}
	return at
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
