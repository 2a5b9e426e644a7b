package limit

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// mostBuckets is how many buckets of a kind are kept. The one that was not asked for the longest goes first; by then it
// has most likely filled up again, and is as good as a new one.
const mostBuckets = 1 << 16

// Buckets are token buckets by key, each of which fills at the same rate. Memory is bounded. Safe for concurrent use.
type Buckets struct {
	perSecond rate.Limit
	burst     int
	now       func() time.Time

	mu   sync.Mutex
	each *simplelru.LRU[string, *rate.Limiter]
}

// newBuckets makes buckets of perSecond, which hold burst at most; 0 a second means no limit.
func newBuckets(perSecond float64, burst, most int, now func() time.Time) *Buckets {
	each, err := simplelru.NewLRU[string, *rate.Limiter](most, nil)
	if err != nil {
		panic(err) // the size is a constant above 0
	}
	return &Buckets{perSecond: rate.Limit(perSecond), burst: burst, now: now, each: each}
}

// take takes one out of a key's bucket. If there is none, it gives the time until there is one, which is never 0.
func (b *Buckets) take(key string) (wait time.Duration) { return b.ask(key, 1) }

// look is take that takes nothing.
func (b *Buckets) look(key string) (wait time.Duration) { return b.ask(key, 0) }

func (b *Buckets) ask(key string, n int) time.Duration {
	if b.perSecond <= 0 {
		return 0
	}
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket, ok := b.each.Get(key)
	if !ok {
		if n == 0 {
			return 0 // full
		}
		bucket = rate.NewLimiter(b.perSecond, b.burst)
		b.each.Add(key, bucket)
	}
	there := bucket.TokensAt(now)
	if there >= 1 {
		bucket.AllowN(now, n)
		return 0
	}
	return max(1, time.Duration((1-there)/float64(b.perSecond)*float64(time.Second)))
}
