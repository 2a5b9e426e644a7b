package db

import (
	"time"

	"github.com/tzzr/context-manager/db/dbgen"
)

const (
	growthSpan = time.Minute            // over which the pace of appends is told
	growthStep = 250 * time.Millisecond // between the looks that are kept for it
)

// growth is what a sealer's looks at the log tell of its pace. They come several times a second, from the server that
// seals and from those that stand by, and count what all servers append; so nothing has to be asked for.
type growth struct {
	looks  []look // of the last growthSpan and the one before, growthStep apart
	newest look
	sealed time.Time // what was committed by then is in the tree
}

// look is how many messages there were, in the tree and in all.
type look struct {
	at            time.Time
	leaves, total int64
}

// Pace is how the log grows, as one server sees it.
type Pace struct {
	PerSecond float64       // messages appended, over the last minute or since the first look
	Waiting   int64         // that were not in the tree at the last look
	Lag       time.Duration // for how long, at most, the oldest of them had been committed; 0 if there is none
}

// looked notes what was there at a moment.
func (s *Sealer) looked(at time.Time, p dbgen.SealPositionRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.growth.add(look{at: at, leaves: p.Leaves, total: p.Leaves + p.Waiting})
	if p.Unannounced && s.missed == "" {
		s.missed = "messages are neither in the tree nor wait for it, though nobody erased them: who may alter the database keeps the log from being sealed; verifyLog says which"
		s.store.log.Error("messages are committed and were never announced to be sealed")
	}
	if s.late() && !s.told {
		s.store.log.Error("messages wait to be sealed, and nobody seals them", "messages", p.Waiting)
	}
	s.told = s.late()
}

// Pace tells how the log grows.
func (s *Sealer) Pace() Pace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.growth.pace(time.Now())
}

func (g *growth) add(l look) {
	if g.sealed.IsZero() || l.leaves == l.total {
		g.sealed = l.at
	}
	for _, before := range g.looks {
		if before.total <= l.leaves && before.at.After(g.sealed) {
			g.sealed = before.at
		}
	}
	g.newest = l
	if n := len(g.looks); n > 0 && l.at.Sub(g.looks[n-1].at) < growthStep {
		return
	}
	g.looks = append(g.looks, l)
	for len(g.looks) > 1 && l.at.Sub(g.looks[1].at) >= growthSpan {
		g.looks = g.looks[1:]
	}
}

func (g *growth) pace(now time.Time) Pace {
	p := Pace{Waiting: g.newest.total - g.newest.leaves}
	if p.Waiting > 0 {
		p.Lag = now.Sub(g.sealed)
	}
	if len(g.looks) == 0 {
		return p
	}
	first := g.looks[0]
	if span := g.newest.at.Sub(first.at); span > 0 {
		p.PerSecond = float64(max(0, g.newest.total-first.total)) / max(span, time.Second).Seconds()
	}
	return p
}
