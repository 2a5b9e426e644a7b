package witness

import (
	"errors"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// racers is how many requests come at once.
const racers = 64

// Of many that go on from one size, one wins, and the others hear of its size.
func TestOneOfManyWins(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(10 + racers)
	w := run(t, setup(t, log))
	w.add(log, 0, 10)
	won, told := race(t, func(i int) (int, error) {
		size := 11 + i
		_, err := w.Cosign(t.Context(), 10, log.Consistency(10, size), log.Checkpoint(size))
		return size, err
	})
	if len(won) != 1 || len(told) != racers-1 {
		t.Fatalf("%v win, and %d hear of a size", won, len(told))
	}
	for _, size := range told {
		if size != int64(won[0]) {
			t.Errorf("a loser hears of size %d, want %d", size, won[0])
		}
	}
	if got := w.size(log); got != int64(won[0]) {
		t.Errorf("the witness has size %d, want %d", got, won[0])
	}
}

// race runs requests at once; each gives the size that it asked for. It gives those that were cosigned, and the sizes that
// the others were told.
func race(t *testing.T, ask func(i int) (int, error)) (won []int, told []int64) {
	t.Helper()
	var mu sync.Mutex
	var wait sync.WaitGroup
	start := make(chan struct{})
	for i := range racers {
		wait.Go(func() {
			<-start
			size, err := ask(i)
			mu.Lock()
			defer mu.Unlock()
			other, ok := errors.AsType[*SizeError](err)
			switch {
			case err == nil:
				won = append(won, size)
			case ok:
				told = append(told, other.Size)
			default:
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	close(start)
	wait.Wait()
	return won, told
}

// Of two histories that race, one is cosigned, whole and never backwards, on disk and in answers.
func TestForksRace(t *testing.T) {
	t.Parallel()
	main := sealtest.New(t, "log.example.org").Grow(200)
	fork := main.Fork(10, "fork").Grow(200)
	w := run(t, setup(t, main))
	w.add(main, 0, 10)
	written := recordWrites(w)
	var mu sync.Mutex
	cosigned := map[seal.Head]int64{} // and what was said to be the size before
	var wait sync.WaitGroup
	for i := range racers {
		log := main
		if i%2 == 1 {
			log = fork
		}
		wait.Go(func() {
			for old, size := int64(10), 11+i; ; {
				_, err := w.Cosign(t.Context(), old, log.Consistency(int(old), size), log.Checkpoint(size))
				if other, ok := errors.AsType[*SizeError](err); ok && other.Size < int64(size) {
					old = other.Size
					continue
				}
				if err == nil {
					mu.Lock()
					cosigned[log.Head(size)] = old
					mu.Unlock()
				}
				return
			}
		})
	}
	wait.Wait()
	history := main
	for head := range cosigned {
		if head == fork.Head(int(head.Size)) {
			history = fork
		}
	}
	for head := range cosigned {
		if head != history.Head(int(head.Size)) {
			t.Errorf("both histories are cosigned: %+v", cosigned)
		}
	}
	size := int64(10)
	for _, text := range *written {
		c, err := seal.Open(text, seal.Policy{Origin: "log.example.org", Log: main.Verifier()})
		if err != nil || c.Size <= size || c.Head != history.Head(int(c.Size)) {
			t.Errorf("after %d, the state on disk is %+v (%v)", size, c, err)
		}
		size = c.Size
	}
	if len(cosigned) != len(*written) || len(cosigned) == 0 {
		t.Errorf("%d checkpoints are cosigned, %d written", len(cosigned), len(*written))
	}
}

// recordWrites keeps the checkpoints that are written from now on. The witness writes one at a time.
func recordWrites(w *running) *[]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	written, write := &[]string{}, w.state.write
	w.state.write = func(path, content string) error {
		var file stateFile
		if err := json.Unmarshal([]byte(content), &file); err != nil {
			return err
		}
		*written = append(*written, file.Checkpoints["log.example.org"])
		return write(path, content)
	}
	return written
}
