package chaos

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Outcomes of a request, besides the codes of the API's errors.
const (
	answered    = "ok"
	transport   = "no connection" // refused, reset or cut off: the server is gone, or says no in HTTP alone
	silent      = "silent"        // no answer for as long as the client waited
	internal    = "INTERNAL"
	unavailable = "UNAVAILABLE"
	limited     = "RATE_LIMITED"
	incomplete  = "incomplete" // a page without what was acknowledged before it was asked for
)

// answer is how a request went.
type answer struct {
	who  int       // which client
	at   time.Time // when it came
	took time.Duration
	code string
}

// answers notes how requests went. Safe for concurrent use.
type answers struct {
	mu   sync.Mutex
	all  []answer
	said map[string]string // by code: the first message
}

func (a *answers) add(who int, began time.Time, code, message string) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, answer{who, now, now.Sub(began), code})
	if a.said == nil {
		a.said = map[string]string{}
	}
	if a.said[code] == "" {
		a.said[code] = message
	}
}

// since gives those that came at or after a time.
func (a *answers) since(t time.Time) []answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, _ := slices.BinarySearchFunc(a.all, t, func(x answer, t time.Time) int { return x.at.Compare(t) })
	return slices.Clone(a.all[i:])
}

// between gives those that came in a span of time.
func (a *answers) between(from, to time.Time) []answer {
	list := a.since(from)
	i, _ := slices.BinarySearchFunc(list, to, func(x answer, t time.Time) int { return x.at.Compare(t) })
	return list[:i]
}

// allOK gives how long after a time the slowest of so many clients was first answered well, once all of them were. Requests
// that were begun before do not count.
func (a *answers) allOK(t time.Time, clients int) (slowest time.Duration, ok bool) {
	well := map[int]bool{}
	for _, x := range a.since(t) {
		if x.code == answered && !well[x.who] && !x.at.Add(-x.took).Before(t) {
			well[x.who], slowest = true, x.at.Sub(t)
		}
	}
	return slowest, len(well) >= clients
}

// message gives what the first answer of a code said.
func (a *answers) message(code string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said[code]
}

func count(list []answer, codes ...string) (n int) {
	for _, x := range list {
		if slices.Contains(codes, x.code) {
			n++
		}
	}
	return n
}

func durations(list []answer, codes ...string) (d []time.Duration) {
	for _, x := range list {
		if len(codes) == 0 || slices.Contains(codes, x.code) {
			d = append(d, x.took)
		}
	}
	return d
}

// tally puts the numbers of each outcome into words.
func tally(list []answer) string {
	counts := map[string]int{}
	for _, x := range list {
		counts[x.code]++
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = fmt.Sprintf("%d %s", counts[k], k)
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// percentile gives the nearest rank; 0 of nothing.
func percentile(list []time.Duration, p float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	rank := int(p*float64(len(sorted)) + 0.999999)
	return sorted[min(max(rank, 1), len(sorted))-1]
}
