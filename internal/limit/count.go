package limit

import "sync"

// Counts bound how much each key may have under way, and all together. Memory grows with what is under way. Safe for
// concurrent use. The zero value is ready.
type Counts struct {
	mu    sync.Mutex
	total int
	each  map[string]int
}

// Enter counts one more of a key, unless there are so many already; 0 means no limit. Leave, which may be called more
// than once, takes it back.
func (c *Counts) Enter(key string, most, mostInAll int) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most > 0 && c.each[key] >= most || mostInAll > 0 && c.total >= mostInAll {
		return nil, false
	}
	if c.each == nil {
		c.each = map[string]int{}
	}
	c.each[key]++
	c.total++
	return sync.OnceFunc(func() { c.leave(key) }), true
}

func (c *Counts) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.each[key]--; c.each[key] == 0 {
		delete(c.each, key)
	}
}
