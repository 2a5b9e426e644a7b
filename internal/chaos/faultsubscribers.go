package chaos

import (
	"context"
	"fmt"
	"time"
)

// The herald is a writer of the crew who writes in one room after the other, a session each, and perRoom listen in each.
const (
	heraldEvery = 100 * time.Millisecond
	perRoom     = 100
)

// toldLimit is how long the last that was written may take to its listeners.
const toldLimit = 10 * time.Second

// audience are the subscribers who listen to the herald: one of ten with the token of the herald's player, the others with
// the administrator's.
type audience struct {
	*scene
	by    *client // the herald
	owner string
	crowd *subscribers
	began time.Time
	base  []int64 // how many messages each was told before
	heads []int   // how many each room had then
}

// manySubscribers listen in rooms, in which messages come all the time, and hold nobody up.
func manySubscribers(ctx context.Context, s *stage) error {
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	n, span := size(s, 500, 10_000), size(s, time.Second, 30*time.Second)
	heard := polite
	heard.writers, heard.rooms = heard.writers+1, n/perRoom
	scene, err := s.scene(ctx, c.url(database), heard)
	if err != nil {
		return err
	}
	crew := scene.crew
	a := &audience{scene: scene, by: crew.agents[len(crew.agents)-1], owner: ownerOf(heard.writers - 1)}
	done := fmt.Sprintf("%d subscribers by server-sent events, in %d sessions", n, heard.rooms)
	return scene.bother(ctx, done, span, func(ctx context.Context) (func() error, error) {
		return func() error { return a.end(ctx, done) }, a.begin(ctx, n)
	})
}

// place says with which token the n-th subscriber listens, and to which session.
func (a *audience) place(n int) (token, session string) {
	rooms := a.crew.load.rooms
	if n/rooms%10 == 0 {
		return a.by.token, room(n % rooms)
	}
	return a.crew.client.token, room(n % rooms)
}

// begin lets all listen. Each is told one message while the crew rests, and from there on is counted.
func (a *audience) begin(ctx context.Context, n int) (err error) {
	rooms := a.crew.load.rooms
	for i := range rooms {
		// So that the administrator and the agent take part in it.
		if err := a.crew.begin(ctx, room(i), fmt.Sprintf("begin %d", i)); err != nil {
			return err
		}
		if _, err := a.say(ctx, i, "begin as well in"); err != nil {
			return err
		}
	}
	if a.crowd, err = a.server.subscribe(ctx, n, 32, a.place); err != nil {
		return err
	}
	defer a.crew.rest()()
	heard := make([]string, rooms)
	a.heads = make([]int, rooms)
	for i := range rooms {
		if heard[i], err = a.say(ctx, i, "listen"); err != nil {
			return err
		}
		a.heads[i] = a.crew.head(room(i))
	}
	if _, err := until(ctx, startLimit, "all have heard", func() bool {
		for i, one := range a.crowd.list {
			if last := one.last.Load(); last == nil || *last != heard[i%rooms] {
				return false
			}
		}
		return true
	}); err != nil {
		return err
	}
	for _, one := range a.crowd.list {
		a.base = append(a.base, one.events.Load())
	}
	a.began = time.Now()
	return nil
}

// say writes a message in a room, beside what the herald writes.
func (a *audience) say(ctx context.Context, n int, content string) (hash string, err error) {
	content = fmt.Sprintf("%s %d", content, n)
	m := message{room(n), a.owner, content, hashOf(content)}
	hash, sequence, err := a.by.append(ctx, m)
	if err == nil {
		err = a.crew.journal.add(entry{hash, m.Session, m.Content})
		a.crew.acknowledged(m.Session, sequence, err)
	}
	return hash, err
}

// end adds a row: each was told all that was written in its room since it began.
func (a *audience) end(ctx context.Context, done string) error {
	defer a.crowd.close()
	defer a.crew.rest()()
	took, rooms := time.Since(a.began), a.crew.load.rooms
	written := make([]int64, rooms)
	total, told, all := int64(0), int64(0), 0
	for i := range rooms {
		written[i] = int64(a.crew.head(room(i)) - a.heads[i])
		total += written[i]
	}
	_, err := until(ctx, toldLimit, "all are told", func() bool {
		told, all = 0, 0
		for i, one := range a.crowd.list {
			n := one.events.Load() - a.base[i]
			told += n
			if n == written[i%rooms] {
				all++
			}
		}
		return all == len(a.crowd.list)
	})
	open := int(a.crowd.open.Load())
	a.found(done, len(a.crowd.list), "all stay; each is told what is written in its session meanwhile, once",
		fmt.Sprintf("%d stay; %d messages, %d told, %.0f a second; %d were told all of theirs", open, total, told, float64(told)/took.Seconds(), all),
		err == nil && total > 0 && open == len(a.crowd.list), map[string]float64{"written": float64(total), "told": float64(told)})
	return ctx.Err()
}
