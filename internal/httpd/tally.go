package httpd

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Strangers' requests get lines of their own in the log up to so many: whoever sends them must not fill the disk.
const (
	strangerLines = 1  // a second, beyond
	strangerBurst = 50 // at once
)

// tallyEvery is how often a tally is told, at most.
const tallyEvery = time.Second

// tally counts what gets no line of its own in the log, and tells of all of it together: the first at once, then once a
// second. Safe for concurrent use.
type tally struct {
	tell func(counts []slog.Attr)

	mu     sync.Mutex
	counts map[string]int64 // by kind, since it was told last
	told   time.Time
}

// add counts one of a kind.
func (t *tally) add(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.counts) == 0 { // it is told of within a second
		t.counts = map[string]int64{}
		time.AfterFunc(max(0, tallyEvery-time.Since(t.told)), t.flush)
	}
	t.counts[kind]++
}

// flush tells what was counted.
func (t *tally) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.counts) == 0 {
		return
	}
	var attrs []slog.Attr
	for _, kind := range slices.Sorted(maps.Keys(t.counts)) {
		attrs = append(attrs, slog.Int64(kind, t.counts[kind]))
	}
	t.counts, t.told = nil, time.Now()
	t.tell(attrs)
}
