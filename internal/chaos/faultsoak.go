package chaos

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what a process holds at a moment.
type sample struct{ memory, goroutines, descriptors float64 }

var goroutines = regexp.MustCompile(`(?m)^go_goroutines ([0-9.e+]+)$`)

// sample looks at the server.
func (v *server) sample(ctx context.Context) (sample, error) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", v.process.pid()))
	if err != nil {
		return sample{}, err
	}
	fields := strings.Fields(string(statm))
	pages, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return sample{}, err
	}
	status, text := v.get(ctx, "/metrics", 10*time.Second)
	m := goroutines.FindStringSubmatch(text)
	if m == nil {
		return sample{}, fmt.Errorf("/metrics answers %d, without go_goroutines", status)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return sample{pages * float64(os.Getpagesize()) / (1 << 20), n, float64(files(v.process.pid()))}, err
}

// leastSamples are enough for a beginning and an end to be told apart, also on a busy machine.
const leastSamples = 9

// soak lets a server work for long, with clients and subscribers that come and go, and looks whether it holds more and
// more.
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
	var samples []sample
	for time.Since(began) < length || len(samples) < leastSamples {
		// Listeners come and go; each stays for a part of the time.
		crowd, err := scene.server.subscribe(ctx, 20, 1)
		if err != nil {
			return err
		}
		if err := pause(ctx, max(length/300, 100*time.Millisecond)); err != nil {
			return err
		}
		crowd.close()
		if _, err := until(ctx, 10*time.Second, "subscriptions have ended", func() bool { return crowd.gone() }); err != nil {
			return err
		}
		now, err := scene.server.sample(ctx)
		if err != nil {
			return err
		}
		samples = append(samples, now)
	}
	done := fmt.Sprintf("work for %s: 8 writers, 2 readers, 20 subscribers that come and go", length)
	third := len(samples) / 3
	middle, last := samples[third:2*third], samples[len(samples)-third:]
	for _, f := range []struct {
		name, unit  string
		of          func(sample) float64
		ratio, room float64 // room: of the subscribers, some may be about to end
		timed       bool    // grows at first, which a short soak takes for all
	}{
		{"memory", " MB", func(x sample) float64 { return x.memory }, 1.1, 16, true},
		{"goroutines", "", func(x sample) float64 { return x.goroutines }, 1.1, 60, false},
		{"descriptors", "", func(x sample) float64 { return x.descriptors }, 1.1, 30, false},
	} {
		a, b := median(middle, f.of), median(last, f.of)
		s.found(done, len(samples), fmt.Sprintf("%s level: the last third's median ≤ %.1f × the middle third's + %.0f%s", f.name, f.ratio, f.room, f.unit),
			fmt.Sprintf("%.0f%s at first, %.0f%s in the middle, %.0f%s in the end", f.of(samples[0]), f.unit, a, f.unit, b, f.unit), b <= f.ratio*a+f.room,
			map[string]float64{"first": f.of(samples[0]), "middle": a, "last": b})
		s.rows[len(s.rows)-1].Timed = f.timed
	}
	list := append(scene.crew.writes.since(began), scene.crew.reads.since(began)...)
	s.found(done, 1, "everything is answered", tally(list), count(list, answered) == len(list) && len(list) > 0, nil)
	var sum verdict
	if err := scene.crew.check(ctx, scene.observer, c.url(database), &sum); err != nil {
		return err
	}
	s.nothingLost(done, 1, &sum, scene.observer)
	return nil
}

func median(list []sample, of func(sample) float64) float64 {
	values := make([]float64, len(list))
	for i, x := range list {
		values[i] = of(x)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
