package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/witness"
)

// Cosigner asks a witness for its signature on a checkpoint that extends the tree of the old size; package witness has
// one. A *witness.SizeError says that the witness goes on from another size; CONFLICT, that it refuses.
type Cosigner interface {
	Cosign(ctx context.Context, old int64, proof []chain.Hash, checkpoint string) (seal.Cosignature, error)
}

// Witness is somebody who is asked to cosign.
type Witness struct {
	Name string        // of its key
	Key  note.Verifier // of its cosignatures; nil if it is not known
	URL  string
	Cosigner
}

// WitnessState is how a witness stands, as far as this server asked it.
type WitnessState struct {
	Name, URL string
	Problem   string // why it does not cosign, in words; empty while it does
}

// WitnessedSize is the newest that a witness cosigned.
type WitnessedSize struct {
	Size int64
	At   time.Time // by its clock
}

// Pace of asking a witness: a checkpoint in between is not missed, since the next one covers it.
const (
	witnessInterval = time.Second
	witnessRetry    = time.Minute // at most
)

// WitnessedSizes gives the newest that each witness cosigned of the log under a name, by the names of their keys.
func (d *DB) WitnessedSizes(ctx context.Context, origin string) (map[string]WitnessedSize, error) {
	rows, err := d.queries().WitnessedSizes(ctx, origin)
	if err != nil {
		return nil, mapError(err)
	}
	sizes := make(map[string]WitnessedSize, len(rows))
	for _, r := range rows {
		sizes[r.Witness] = WitnessedSize{r.Size, r.SignedAt.UTC()}
	}
	return sizes, nil
}

// witnessLoop asks one witness for each newest checkpoint of a leader.
type witnessLoop struct {
	*Sealer
	witness Witness
	awake   chan struct{}

	// Under the sealer's lock.
	state   WitnessState
	finding string // what only this witness knows, in words
}

func newWitnessLoop(s *Sealer, w Witness) *witnessLoop {
	return &witnessLoop{Sealer: s, witness: w, awake: make(chan struct{}, 1), state: WitnessState{Name: w.Name, URL: w.URL}}
}

// wake lets it look for a new checkpoint.
func (w *witnessLoop) wake() {
	select {
	case w.awake <- struct{}{}:
	default:
	}
}

func (w *witnessLoop) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-w.awake:
		}
		retry := w.config.witnessPace
		for err := w.ask(ctx); err != nil && ctx.Err() == nil; err = w.ask(ctx) {
			w.tell(ctx, err)
			sleep(ctx, retry)
			retry = min(2*retry, witnessRetry)
		}
		w.tell(ctx, nil)
		sleep(ctx, w.config.witnessPace)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// ask has the newest checkpoint cosigned, if this server is the one that seals, and keeps the cosignature.
func (w *witnessLoop) ask(ctx context.Context) error {
	w.mu.Lock()
	newest, leading := w.newest, w.Sealer.state.Leading
	w.mu.Unlock()
	if newest == nil || !leading {
		return nil
	}
	sizes, err := w.store.WitnessedSizes(ctx, newest.Origin)
	if err != nil {
		return err
	}
	old := sizes[w.witness.Name].Size
	if old >= newest.Size {
		return nil
	}
	cosignature, err := w.cosign(ctx, old, *newest)
	if other, ok := errors.AsType[*witness.SizeError](err); ok {
		if other.Size > newest.Size {
			return fault.New(fault.Conflict, "the witness %s has cosigned a tree of %d messages of this log, and the tree has %d: it was rolled back, or another log is signed with its key",
				w.witness.Name, other.Size, newest.Size)
		}
		cosignature, err = w.cosign(ctx, other.Size, *newest)
	}
	if err != nil {
		return err
	}
	return mapError(w.store.queries().AddCosignature(ctx, dbgen.AddCosignatureParams{
		Origin: newest.Origin, Size: newest.Size, Witness: w.witness.Name, Line: cosignature.Line, SignedAt: cosignature.At,
	}))
}

func (w *witnessLoop) cosign(ctx context.Context, old int64, newest seal.Checkpoint) (seal.Cosignature, error) {
	proof, err := w.store.ConsistencyProof(ctx, old, newest.Size)
	if err != nil {
		return seal.Cosignature{}, err
	}
	return w.witness.Cosign(ctx, old, proof, newest.Note)
}

// tell keeps what came of asking. That a witness refuses is a finding: it may be the only one that knows.
func (w *witnessLoop) tell(ctx context.Context, err error) {
	problem, finding := "", ""
	if err != nil {
		problem = mapError(err).Error()
	}
	if err != nil && fault.CodeOf(err) == fault.Conflict {
		finding = fmt.Sprintf("a witness refuses: %s", problem)
	}
	w.mu.Lock()
	changed := w.state.Problem != problem
	w.state.Problem, w.finding = problem, finding
	w.mu.Unlock()
	switch {
	case changed && finding != "":
		w.store.log.ErrorContext(ctx, "a witness refuses to cosign", "witness", w.witness.Name, "reason", problem)
	case changed && problem != "":
		w.store.log.WarnContext(ctx, "a witness was not reached", "witness", w.witness.Name, "reason", problem)
	}
}
