package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// sample is what a process holds at a moment, while it rests.
type sample struct {
	at                                    time.Duration // since the first
	heap, memory, goroutines, descriptors float64       // both of the first in MB: what is in use, and what the system gave
}

// sample looks at the server. collections is how often it has freed what nobody uses.
func (v *server) sample(ctx context.Context) (x sample, collections float64, err error) {
	status, text := v.get(ctx, "/metrics", 10*time.Second)
	for name, value := range map[string]*float64{"go_gc_heap_live_bytes": &x.heap, "go_goroutines": &x.goroutines,
		"go_gc_duration_seconds_count": &collections} {
		if *value, err = metricOf(text, name); err != nil {
			return x, 0, fmt.Errorf("/metrics answers %d: %w", status, err)
		}
	}
	x.heap /= 1 << 20
	x.descriptors = float64(files(v.process.pid()))
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", v.process.pid()))
	if err != nil {
		return x, 0, err
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(statm))[1], 64)
	x.memory = pages * float64(os.Getpagesize()) / (1 << 20)
	return x, collections, err
}

// resting looks at the server once nobody asks anything, and it has freed twice what nobody uses: what is freed by the first
// time may keep something until the second. The heap is what the second left: by then the server has begun to use more,
// for its own work and for this look, which will be garbage.
func (s *scene) resting(ctx context.Context) (x sample, err error) {
	resume := s.crew.rest()
	defer resume()
	s.crew.client.http.CloseIdleConnections()
	_, before, err := s.server.sample(ctx)
	if err != nil {
		return x, err
	}
	_, late := until(ctx, restLimit, "memory is freed", func() bool { // each look uses some
		var now float64
		x, now, err = s.server.sample(ctx)
		return err != nil || now >= before+2
	})
	return x, errors.Join(err, late)
}

// restLimit is how long that may take. Go frees every two minutes, however little is used.
const restLimit = 5 * time.Minute

// leastSamples are enough for a line, also on a busy machine.
const leastSamples = 10

// growth is how much something grows from the first sample to the last by the line of least squares through them:
//
//	growth = (t_last − t_first) × Σ (t − mean t)(x − mean x) / Σ (t − mean t)²
func growth(list []sample, of func(sample) float64) float64 {
	var meanT, meanX, both, square float64
	n := float64(len(list))
	for _, x := range list {
		meanT += x.at.Seconds() / n
		meanX += of(x) / n
	}
	for _, x := range list {
		t := x.at.Seconds() - meanT
		both += t * (of(x) - meanX)
		square += t * t
	}
	if square == 0 {
		return 0
	}
	return (list[len(list)-1].at - list[0].at).Seconds() * both / square
}

// warmed leaves out the first fifth, while pools and caches fill.
func warmed(list []sample) []sample { return list[len(list)/5:] }

// level is how much each may grow: half of what one a minute would be in an hour.
var levels = []struct {
	name, unit string
	of         func(sample) float64
	most       float64
	timed      bool // grows at first, which a short soak takes for all
}{
	{"memory in use", " MB", func(x sample) float64 { return x.heap }, 16, true},
	{"memory", " MB", func(x sample) float64 { return x.memory }, 48, true},
	{"goroutines", "", func(x sample) float64 { return x.goroutines }, 24, false},
	{"descriptors", "", func(x sample) float64 { return x.descriptors }, 24, false},
}

// soak lets a server work for long, with clients that come and go, and looks whether it holds more and more.
func soak(ctx context.Context, s *stage) error {
	length := s.cfg.Soak
	if length == 0 {
		length = size(s, 6*time.Second, time.Hour)
	}
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	steady := usual
	steady.think = size(s, 4*time.Millisecond, 20*time.Millisecond)
	scene, err := s.scene(ctx, c.url(database), steady)
	if err != nil {
		return err
	}
	began := time.Now()
	others := &mix{scene: scene, every: size(s, 20*time.Millisecond, 100*time.Millisecond)}
	var samples []sample
	for time.Since(began) < length || len(samples) < leastSamples {
		if err := others.turn(ctx, max(length/300, 200*time.Millisecond)); err != nil {
			return err
		}
		now, err := scene.resting(ctx)
		if err != nil {
			return err
		}
		now.at = time.Since(began)
		samples = append(samples, now)
	}
	done := fmt.Sprintf("work for %s: 8 writers, 2 readers, %d subscribers by events and %d by WebSocket that come and go, context asked for, requests aborted",
		length, soakEvents, soakSockets)
	s.level(done, samples)
	list := append(append(scene.crew.writes.since(began), scene.crew.reads.since(began)...), others.asked.since(began)...)
	measured, ok := scene.crew.served(list)
	s.found(done, len(samples), "everything is answered, and whoever listens is told",
		fmt.Sprintf("%s; %d of them context; %d WebSockets were told, %d requests aborted", measured, len(others.asked.since(began)), others.listened.Load(),
			others.aborted.Load()),
		ok && others.listened.Load() == int64(len(samples)*soakSockets) && others.aborted.Load() > 0, nil)
	var sum verdict
	if err := scene.crew.check(ctx, scene.observer, c.url(database), &sum); err != nil {
		return err
	}
	s.nothingLost(done, 1, &sum, scene.observer)
	return nil
}

// level adds the rows about what grows.
func (s *stage) level(done string, all []sample) {
	samples := warmed(all)
	for _, l := range levels {
		first, last := l.of(samples[0]), l.of(samples[len(samples)-1])
		grown := growth(samples, l.of)
		s.found(done, len(samples), fmt.Sprintf("%s level: grows by %.0f%s at most", l.name, l.most, l.unit),
			fmt.Sprintf("by %.1f%s in %s at rest, from %.0f to %.0f", grown, l.unit, (samples[len(samples)-1].at-samples[0].at).Round(time.Second), first, last),
			grown <= l.most, map[string]float64{"first": first, "last": last, "growth": grown})
		row := &s.rows[len(s.rows)-1]
		row.Timed = l.timed
		for _, x := range all {
			row.Series = append(row.Series, [2]float64{x.at.Seconds(), l.of(x)})
		}
	}
}
