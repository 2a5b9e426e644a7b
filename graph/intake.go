package graph

import (
	"errors"
	"io"

	"github.com/tzzr/context-manager/internal/overload"
)

// Bytes of bodies.
const (
	smallBody = 64 << 10  // of which nobody keeps count
	mostBody  = 256 << 20 // of all others together that are being received or worked on
)

// intake receives a body. Its memory grows with what arrives, and beyond smallBody is counted: who sends much and never
// comes to an end takes memory from nobody but others who send much.
type intake struct {
	from  io.Reader
	all   *overload.Room
	who   string // sends it
	taken int64
	body  []byte
}

// read reads on until there are so many bytes, or the body ends. The error is overload.ErrFull if there is no room.
func (n *intake) read(limit int) error {
	for len(n.body) < limit {
		if len(n.body) == cap(n.body) && !n.grow(limit) {
			return overload.ErrFull
		}
		got, err := n.from.Read(n.body[len(n.body):min(cap(n.body), limit)])
		n.body = n.body[:len(n.body)+got]
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// grow doubles the room, up to the limit; what is large grows faster, since it has to be copied.
func (n *intake) grow(limit int) bool {
	room := min(limit, max(2*cap(n.body), smallBody/16))
	if cap(n.body) >= MaxBody {
		room = min(limit, 4*cap(n.body))
	}
	if more := int64(room) - max(n.taken, smallBody); more > 0 {
		if n.taken == 0 {
			more = int64(room)
		}
		if !n.all.Take(n.who, more) {
			return false
		}
		n.taken += more
	}
	n.body = append(make([]byte, 0, room), n.body...)
	return true
}

// release gives the room back.
func (n *intake) release() { n.all.Give(n.who, n.taken) }
