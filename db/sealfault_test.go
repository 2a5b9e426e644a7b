package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

var errInjected = errors.New("injected")

// stepFault makes the next step of a name fail, once: without having been done, or after it was. Whoever waits for it
// looks at what is stored by then, before the sealer hears of it.
type stepFault struct {
	name      string
	persisted bool
	armed     chan struct{} // holds one while it is to fail
	failed    chan struct{}
	looked    chan struct{}
}

func newStepFault(name string, persisted bool) *stepFault {
	return &stepFault{name: name, persisted: persisted, armed: make(chan struct{}, 1), failed: make(chan struct{}), looked: make(chan struct{})}
}

func (f *stepFault) step(name string, do func() error) error {
	if name != f.name {
		return do()
	}
	select {
	case <-f.armed:
	default:
		return do()
	}
	if f.persisted {
		if err := do(); err != nil {
			return err
		}
	}
	f.failed <- struct{}{}
	<-f.looked
	return errInjected
}

// faultyCosigner is a witness whose answers may be lost.
type faultyCosigner struct {
	db.Cosigner
	fault *stepFault
}

func (c faultyCosigner) Cosign(ctx context.Context, old int64, proof []chain.Hash, checkpoint string) (out seal.Cosignature, err error) {
	err = c.fault.step("cosign", func() (err error) {
		out, err = c.Cosigner.Cosign(ctx, old, proof, checkpoint)
		return err
	})
	return out, err
}

// Whatever step of a round fails, having been done or not, nothing is lost, nothing forks, no two checkpoints of a size
// differ, and the next rounds go on by themselves.
func TestSealFaults(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"take", "leaves", "tiles", "tree", "commit", "sign", "publish", "keep", "cosign"} {
		for _, persisted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, persisted %t", name, persisted), func(t *testing.T) {
				t.Parallel()
				_, url := open(t)
				s := newSealed(t, url)
				fault := newStepFault(name, persisted)
				config := s.config().WithStep(fault.step)
				witness := startWitness(t, s)
				config.Witnesses = []db.Witness{{Name: witness.Name, Key: witness.Key, URL: witness.URL, Cosigner: faultyCosigner{witness, fault}}}
				store, sealer, _ := s.start(t, config)
				for i := range 3 {
					if i > 0 {
						fault.armed <- struct{}{}
					}
					drafts := make([]chain.Draft, 300)
					for j := range drafts {
						drafts[j] = draft(fmt.Sprint(j%3), fmt.Sprint(i, j))
					}
					mustAppend(t, store, drafts...)
					if i > 0 {
						<-fault.failed
						s.check(t, sealer.Policy())
						mustAppend(t, store, draft("0", fmt.Sprint("meanwhile ", i)))
						fault.looked <- struct{}{}
					}
					s.untilSealed(t, sealer)
					s.untilWitnessed(t, store, sealer)
				}
				s.proves(t, store, sealer.Policy(), checkChains(t, store))
			})
		}
	}
}

// While the file cannot be written, nobody is given what it does not know: no checkpoint is kept, and the tree does not
// go on. Once it can be, sealing does.
func TestSealUnwritableFile(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, stop := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	lock := s.config().Checkpoint + ".lock"
	if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)); err != nil {
		t.Fatal(err)
	}
	failing := func() {
		t.Helper()
		if state := s.untilCondition(t, sealer, db.Failing); !contains(state.Problem, s.config().Checkpoint+": is a directory") {
			t.Errorf("problem = %q, want the file and the cause", state.Problem)
		}
		newest, _, err := store.NewestCheckpoint(t.Context())
		if err != nil || newest.Size != 10 {
			t.Errorf("NewestCheckpoint() = %d, %v, want 10, as in the file", newest.Size, err)
		}
		if _, err := store.ConsistencyProof(t.Context(), 1, 11); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("ConsistencyProof(1, 11) = %v, want that 10 are sealed", err)
		}
		s.check(t, sealer.Policy())
	}
	mustAppend(t, store, draft("s", "b"))
	failing()
	mustAppend(t, store, draft("s", "c"))
	stop()
	store, sealer, _ = s.start(t, s.config())
	failing()
	if n := value[int64](t, s.admin, "SELECT max(size) FROM seal.trees"); n != 11 {
		t.Errorf("the tree grew to %d, want 11: the batch after which the file could not be written", n)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	s.untilSealed(t, sealer)
}

// A checkpoint that was published and not kept binds: a database that loses its tree then is refused; one that does not
// keeps it.
func TestSealKilledBeforeKeep(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{true, false} {
		t.Run(fmt.Sprintf("tree lost %t", lost), func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			var kill atomic.Bool
			killed := make(chan struct{}, 1)
			store, sealer, stop := s.start(t, s.config().WithStep(func(name string, do func() error) error {
				if name != "keep" || !kill.Load() {
					return do()
				}
				select {
				case killed <- struct{}{}:
				default:
				}
				return errInjected
			}))
			s.fill(t, store, sealer, "a")
			s.remember(t)
			kill.Store(true)
			mustAppend(t, store, draft("s", "b"))
			<-killed
			stop()
			if lost {
				s.restore(t)
			}
			store, sealer, _ = s.start(t, s.config())
			mustAppend(t, store, draft("s", "another"))
			if !lost {
				s.untilSealed(t, sealer)
				if n := value[int64](t, s.admin, "SELECT count(*) FROM seal.checkpoints WHERE size = 11"); n != 1 {
					t.Errorf("what was in the file is kept %d times, want once", n)
				}
				return
			}
			if state := s.untilCondition(t, sealer, db.Refused); !contains(state.Problem, "the tree has 10 messages", "/checkpoint has 11") {
				t.Errorf("problem = %q", state.Problem)
			}
			if n := value[int64](t, s.admin, "SELECT max(size) FROM seal.checkpoints"); n != 10 {
				t.Errorf("a checkpoint of %d is served, want none beyond 10", n)
			}
		})
	}
}
