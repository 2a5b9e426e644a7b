package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// operationLimit is how long the server may take for a request, and answerSlack how much later its answer may be here.
const (
	operationLimit = 30 * time.Second
	answerSlack    = 500 * time.Millisecond
)

// recoveryLimit is how long after a disruption's end the harness waits for what it measures.
const recoveryLimit = 90 * time.Second

// disruption is a fault that comes and goes under load, while one server process serves.
type disruption struct {
	done  string
	times int
	hold  time.Duration // between begin and end

	begin func(ctx context.Context) error
	end   func(ctx context.Context) error // takes the cause away; its end is when clocks start
	again time.Duration                   // within which messages are acknowledged, and reads answered, after that

	reads    bool // go on meanwhile
	database func() string
}

// scene is what a disruption happens to.
type scene struct {
	*stage
	server   *server
	crew     *crew
	observer *observer
}

// scene starts a server of a database, a crew and an observer.
func (s *stage) scene(ctx context.Context, database string, l load, settings ...string) (*scene, error) {
	v, err := s.serve(ctx, database, settings...)
	if err != nil {
		return nil, err
	}
	o, err := s.observe(ctx, v)
	if err != nil {
		return nil, err
	}
	c, err := s.work(ctx, v, l)
	if err != nil {
		return nil, err
	}
	return &scene{s, v, c, o}, nil
}

// disrupt makes a disruption so many times, checks after each, and adds the rows.
func (s *scene) disrupt(ctx context.Context, d disruption) error {
	var sum verdict
	var writing, reading []time.Duration
	var meanwhile, readMeanwhile []answer
	health := s.server.watchHealth(ctx)
	defer health.stop()
	first := s.server.process
	for range d.times {
		before := time.Now()
		if _, err := s.crew.writing(ctx, before, recoveryLimit); err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		if err := pause(ctx, time.Duration(rand.Int64N(int64(size(s.stage, 100*time.Millisecond, time.Second))))); err != nil {
			return err
		}
		began := time.Now()
		if err := d.begin(ctx); err != nil {
			return err
		}
		if err := pause(ctx, d.hold); err != nil {
			return err
		}
		held := time.Now()
		if err := d.end(ctx); err != nil {
			return err
		}
		gone := time.Now()
		took, err := s.crew.writing(ctx, gone, recoveryLimit)
		if err != nil {
			return fmt.Errorf("after the fault: %w; meanwhile %s; %s", err, tally(s.crew.writes.since(began)), s.crew.writes.message(unavailable))
		}
		writing = append(writing, took)
		if took, err = s.crew.reading(ctx, gone, recoveryLimit); err != nil {
			return fmt.Errorf("after the fault: %w", err)
		}
		reading = append(reading, took)
		if s.server.process != first || first.ended() {
			return fmt.Errorf("the server ended: %s", first.output.last(5))
		}
		database, err := s.server.databaseURL()
		if err != nil {
			return err
		}
		if d.database != nil {
			database = d.database()
		}
		if err := s.crew.check(ctx, s.observer, database, &sum); err != nil {
			return err
		}
		meanwhile = append(append(meanwhile, s.crew.writes.since(began)...), s.crew.reads.since(began)...)
		readMeanwhile = append(readMeanwhile, s.crew.reads.between(began, held)...)
	}
	s.nothingLost(d.done, d.times, &sum, s.observer)
	s.timed(d.done, "every writer writing again", writing, d.again)
	s.timed(d.done, "every reader reading again", reading, d.again)
	s.codes(d, meanwhile)
	if d.reads {
		measured, ok := s.crew.served(readMeanwhile)
		s.found(d.done, d.times, "reads go on meanwhile", measured, ok, nil)
	}
	failed, asked := health.stop()
	s.found(d.done, d.times, "/healthz answers 200 within 1 s", fmt.Sprintf("%d of %d times", asked-failed, asked), failed == 0 && asked > 0, nil)
	return nil
}

// codes adds the rows about what was answered, and how fast.
func (s *scene) codes(d disruption, list []answer) {
	bad := len(list) - count(list, answered, unavailable)
	measured := tally(list)
	for _, code := range []string{internal, incomplete, transport, silent} {
		if n := count(list, code); n > 0 {
			measured += fmt.Sprintf("; %s: %q", code, s.crew.writes.message(code)+s.crew.reads.message(code))
		}
	}
	if count(list, internal) > 0 {
		measured += "; the server's log: " + s.server.process.output.internal()
	}
	s.found(d.done, d.times, "refused with UNAVAILABLE and nothing else", measured, bad == 0, nil)
	s.timedAt(d.done, d.times, "answered within the deadline + 0.5 s", percentile(durations(list), 1), operationLimit+answerSlack)
}

// health asks /healthz all the time.
type health struct {
	cancel context.CancelFunc
	wait   sync.WaitGroup
	failed int
	asked  int
}

func (v *server) watchHealth(ctx context.Context) *health {
	ctx, cancel := context.WithCancel(ctx)
	h := &health{cancel: cancel}
	h.wait.Go(func() {
		for pause(ctx, 50*time.Millisecond) == nil {
			status, _ := v.get(ctx, "/healthz", v.s.limit(time.Second))
			if ctx.Err() != nil {
				return
			}
			h.asked++
			if status != http.StatusOK {
				h.failed++
			}
		}
	})
	return h
}

// stop ends asking, and gives how often it failed.
func (h *health) stop() (failed, asked int) {
	h.cancel()
	h.wait.Wait()
	return h.failed, h.asked
}
