package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
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
	for _, name := range []string{"take", "leaves", "tiles", "tree", "commit", "sign", "keep", "publish", "cosign"} {
		for _, persisted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, persisted %t", name, persisted), func(t *testing.T) {
				t.Parallel()
				_, url := open(t)
				s := newSealed(t, url)
				fault := newStepFault(name, persisted)
				config := s.config().WithStep(fault.step)
				witness := startWitness(t, s)
				config.Witnesses = []db.Witness{{Name: witness.Name, URL: witness.URL, Cosigner: faultyCosigner{witness, fault}}}
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
