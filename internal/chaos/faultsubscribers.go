package chaos

import (
	"context"
	"fmt"
	"time"
)

// heraldEvery is the time between messages of the writer whom every tenth subscriber listens to.
const heraldEvery = 100 * time.Millisecond

// audience are the subscribers who listen to the crew's herald, with the token of its player.
type audience struct {
	*scene
	by      *client
	session string
	list    []*subscriber
	began   time.Time
	base    []int64 // how many messages each was told before
	head    int     // how many the session had then
}

// hears tells whether the n-th subscriber is one of the audience.
func hears(n int) bool { return n%10 == 0 }

// manySubscribers listen, each to a session of its own but for every tenth, who listen to a writer of the crew, and hold
// nobody up.
func manySubscribers(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	heard := polite
	heard.writers, heard.herald = heard.writers+1, heraldEvery
	scene, err := s.scene(ctx, c.url(database), heard)
	if err != nil {
		return err
	}
	crew := scene.crew
	a := &audience{scene: scene, by: crew.agents[len(crew.agents)-1], session: crew.load.session(crew.load.writers - 1)}
	n, span := size(s, 500, 10_000), size(s, time.Second, 30*time.Second)
	done := fmt.Sprintf("%d subscribers by server-sent events", n)
	return scene.bother(ctx, done, span, func(ctx context.Context) (func() error, error) {
		crowd, err := scene.server.subscribe(ctx, n, 32, func(n int) (token, session string) {
			if hears(n) {
				return a.by.token, a.session
			}
			return scene.server.apart(n)
		})
		if err == nil {
			err = a.begin(ctx, crowd)
		}
		return func() error {
			defer crowd.close()
			if err := a.end(ctx, done); err != nil {
				return err
			}
			return scene.hear(ctx, done, crowd)
		}, err
	})
}

// begin sends the audience one message while the crew rests, and counts from there on.
func (a *audience) begin(ctx context.Context, crowd *subscribers) error {
	resume := a.crew.rest()
	defer resume()
	m := message{a.session, ownerOf(a.crew.load.writers - 1), "listen", "listen"}
	hash, head, err := a.by.append(ctx, m)
	if err == nil {
		err = a.crew.journal.add(entry{hash, m.Session, m.Content})
	}
	if err != nil {
		return err
	}
	a.head, a.list = head, nil
	for i, one := range crowd.list {
		if hears(i) {
			a.list = append(a.list, one)
		}
	}
	if _, err := until(ctx, startLimit, "all have heard", func() bool {
		for _, one := range a.list {
			if last := one.last.Load(); last == nil || *last != hash {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	a.base = make([]int64, len(a.list))
	for i, one := range a.list {
		a.base[i] = one.events.Load()
	}
	a.began = time.Now()
	return nil
}

// end adds a row: the audience was told all that was written since it began.
func (a *audience) end(ctx context.Context, done string) error {
	resume := a.crew.rest()
	defer resume()
	took := time.Since(a.began)
	written := int64(a.crew.head(a.session) - a.head)
	told, all := int64(0), 0
	_, err := until(ctx, toldLimit, "the audience is told", func() bool {
		told, all = 0, 0
		for i, one := range a.list {
			n := one.events.Load() - a.base[i]
			told += n
			if n == written {
				all++
			}
		}
		return all == len(a.list)
	})
	a.found(done, len(a.list), "every tenth is told what is written meanwhile, once",
		fmt.Sprintf("%d messages to %d subscribers: %d told, %.0f a second; %d were told all", written, len(a.list), told, float64(told)/took.Seconds(), all),
		err == nil && written > 0, map[string]float64{"written": float64(written), "told": float64(told)})
	return ctx.Err()
}

// toldLimit is how long the last that was written may take to its listeners.
const toldLimit = 10 * time.Second

// hear sends a message to some of the others, who must all be told.
func (s *scene) hear(ctx context.Context, done string, crowd *subscribers) error {
	resume := s.crew.rest()
	defer resume()
	var chosen []*subscriber
	for i := 1; i < len(crowd.list); i += max(1, len(crowd.list)/100) {
		if hears(i) {
			continue
		}
		_, session := s.server.apart(i)
		m := message{session, hashOf("speaker"), fmt.Sprintf("to %d", i), fmt.Sprintf("to %d", i)}
		hash, _, err := s.crew.client.append(ctx, m)
		if err != nil {
			return err
		}
		if err := s.crew.journal.add(entry{hash, m.Session, m.Content}); err != nil {
			return err
		}
		chosen = append(chosen, crowd.list[i])
	}
	heard := func() (n int) {
		for _, one := range chosen {
			if one.events.Load() == 1 {
				n++
			}
		}
		return n
	}
	_, err := until(ctx, toldLimit, "all are told", func() bool { return heard() == len(chosen) })
	open := int(crowd.open.Load())
	s.found(done, len(chosen), "all stay; whoever is written to is told, once",
		fmt.Sprintf("%d of %d stay, %d of %d are told", open, len(crowd.list), heard(), len(chosen)), err == nil && open == len(crowd.list), nil)
	return ctx.Err()
}
