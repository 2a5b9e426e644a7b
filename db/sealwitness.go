package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/witness"
)

// Cosigner asks a witness for its signature on a checkpoint that extends the tree of the old size; package witness has
// one. A *witness.SizeError says that the witness goes on from another size; a *witness.ForkError, that it has cosigned
// another tree. What it cosigned last of a log, Latest gives as a note that is to be checked.
type Cosigner interface {
	Latest(ctx context.Context, origin string) (string, error)
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
	consultLimit    = 3 * time.Second
)

// WitnessedSizes gives the newest that each configured witness verifiably cosigned of the log under a name, by the names of
// their keys.
func (d *DB) WitnessedSizes(ctx context.Context, origin string) (map[string]WitnessedSize, error) {
	sizes, err := d.cosigned(ctx, d.queries(), origin)
	if err != nil {
		return nil, mapError(err)
	}
	if s := d.Sealer(); s != nil {
		s.recall(origin, sizes)
	}
	return sizes, nil
}

// recall adds what the witnesses cosigned for this server, whatever has become of it in the database.
func (s *Sealer) recall(origin string, sizes map[string]WitnessedSize) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.asked {
		if origin == s.policy.Origin && w.cosigned.Size > sizes[w.witness.Name].Size {
			sizes[w.witness.Name] = w.cosigned
		}
	}
}

// witnessLoop asks one witness for each newest checkpoint of a leader. That it cannot be reached, or does not cosign, is
// its problem alone, and keeps nobody from sealing. That it has cosigned what the tree does not extend is kept outside
// of the database as the file is, and refuses the tree, until the witness cosigns it after all or the log goes on under
// another name.
type witnessLoop struct {
	*Sealer
	witness Witness
	awake   chan struct{}
	asking  chan struct{} // holds one while it is asked

	// Under the sealer's lock.
	state   WitnessState
	finding *refusal
	// cosigned is the newest that it cosigned for this server. Rows of the database may hide it, and say more than is so;
	// neither may keep the witness from being asked.
	cosigned WitnessedSize
}

func newWitnessLoop(s *Sealer, w Witness) *witnessLoop {
	return &witnessLoop{Sealer: s, witness: w, awake: make(chan struct{}, 1), asking: make(chan struct{}, 1), state: WitnessState{Name: w.Name, URL: w.URL}}
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

// ask has the newest checkpoint cosigned, if this server is the one that seals, and that is to be done.
func (w *witnessLoop) ask(ctx context.Context) error {
	w.mu.Lock()
	newest, leading := w.newest, w.Sealer.state.Leading
	w.mu.Unlock()
	if newest == nil || !leading {
		return nil
	}
	return w.request(ctx, *newest, false)
}

// consult asks all witnesses whether they know of more than is kept here, and waits for the answers, for a while.
func (l *leader) consult(ctx context.Context) error {
	if len(l.asked) == 0 {
		return nil
	}
	newest := seal.Checkpoint{Head: l.signed, Origin: l.key.Name(), Note: l.note}
	if newest.Size == 0 { // every tree begins so: that may be signed whatever was signed before
		newest.Root = chain.Sum(nil)
		var err error
		if newest.Note, err = seal.Sign(l.key, newest.Head); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, consultLimit)
	defer cancel()
	var wait sync.WaitGroup
	for _, w := range l.asked {
		wait.Go(func() { w.tell(ctx, w.request(ctx, newest, true)) })
	}
	wait.Wait()
	return nil
}

// heard gives a *refusal if a witness knows of what the tree does not extend.
func (s *Sealer) heard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.asked {
		if w.finding != nil {
			return w.finding
		}
	}
	return nil
}

// request has a checkpoint cosigned, and keeps the cosignature; one that the witness has cosigned, as far as is known
// here, only if again says so.
func (w *witnessLoop) request(ctx context.Context, newest seal.Checkpoint, again bool) error {
	select {
	case w.asking <- struct{}{}:
		defer func() { <-w.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	sizes, err := w.store.WitnessedSizes(ctx, newest.Origin)
	if err != nil {
		return err
	}
	old := min(sizes[w.witness.Name].Size, newest.Size)
	if old == newest.Size && !again {
		return nil
	}
	cosignature, err := w.cosign(ctx, old, newest)
	if other, ok := errors.AsType[*witness.SizeError](err); ok && other.Size <= newest.Size {
		cosignature, err = w.cosign(ctx, other.Size, newest)
	}
	if err := w.find(ctx, newest, err); err != nil {
		return err
	}
	if newest.Size == 0 {
		return nil
	}
	w.keep(newest, cosignature)
	return mapError(w.store.queries().AddCosignature(ctx, dbgen.AddCosignatureParams{
		Origin: newest.Origin, Size: newest.Size, Witness: w.witness.Name, Line: cosignature.Line, SignedAt: cosignature.At,
	}))
}

// keep remembers a cosignature, which was checked.
func (w *witnessLoop) keep(c seal.Checkpoint, cosignature seal.Cosignature) {
	c.Note, c.Cosignatures = seal.WithCosignatures(c.Note, cosignature.Line), []seal.Cosignature{cosignature}
	if w.witness.Key != nil {
		w.store.trust.remember(w.store.signers(), c)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.Origin == w.policy.Origin && c.Size >= w.cosigned.Size {
		w.cosigned = WitnessedSize{c.Size, cosignature.At}
	}
}

func (w *witnessLoop) cosign(ctx context.Context, old int64, newest seal.Checkpoint) (seal.Cosignature, error) {
	var proof []chain.Hash // none is needed from nothing, or to the same
	if old > 0 && old < newest.Size {
		var err error
		if proof, err = w.store.ConsistencyProof(ctx, old, newest.Size); err != nil {
			return seal.Cosignature{}, err
		}
	}
	return w.witness.Cosign(ctx, old, proof, newest.Note)
}

// find keeps what an answer says of the tree: that the witness has cosigned another one or a larger one, or that it
// cosigns this one. It gives the answer's error in words. That nothing may be signed any more is believed only by what the
// witness itself signed: an answer alone may be anybody's who stands in between.
func (w *witnessLoop) find(ctx context.Context, newest seal.Checkpoint, answer error) error {
	fork, forked := errors.AsType[*witness.ForkError](answer)
	other, ahead := errors.AsType[*witness.SizeError](answer)
	if answer != nil && !forked && !ahead {
		return answer
	}
	var finding *refusal
	if ahead {
		kept, _, err := w.store.NewestCheckpoint(ctx)
		switch {
		case err != nil:
			return err
		case other.Size <= newest.Size || kept.Origin == newest.Origin && other.Size <= kept.Size: // another server asked meanwhile
			return fault.New(fault.Unavailable, "the witness %s has gone on to %d messages", w.witness.Name, other.Size)
		}
	}
	if answer != nil {
		shown, err := w.evidence(ctx, newest)
		switch {
		case err != nil:
			return fault.Wrap(err, fault.Conflict, "%s; that is not believed, since nothing that the witness signed shows it: %s", answer, mapError(err))
		case shown.Size > newest.Size:
			finding = &refusal{unseen: true, checkpoint: shown.Note, reason: fmt.Sprintf(
				"the witness %s has cosigned a tree of %d messages of this log, and %d are signed here: what is here was rolled back, or another log is signed with its key",
				w.witness.Name, shown.Size, newest.Size)}
		case forked:
			fork.Size = shown.Size
			finding = &refusal{unseen: true, checkpoint: shown.Note, reason: fork.Error()}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if newest.Origin == w.policy.Origin {
		w.finding = finding
	}
	if finding != nil {
		return fault.Wrap(finding, fault.Conflict, "%s", finding)
	}
	return nil
}

// evidence gives what the witness cosigned last, as its signature shows, if the tree of a checkpoint does not extend that.
func (w *witnessLoop) evidence(ctx context.Context, newest seal.Checkpoint) (seal.Checkpoint, error) {
	text, err := w.witness.Latest(ctx, newest.Origin)
	if err != nil {
		return seal.Checkpoint{}, err
	}
	policy := w.Policy()
	if policy.Log == nil || policy.Origin != newest.Origin || w.witness.Key == nil {
		return seal.Checkpoint{}, fault.New(fault.Conflict, "no key is known that could show it")
	}
	policy.Witnesses, policy.Quorum = []note.Verifier{w.witness.Key}, 1
	shown, err := seal.Open(text, policy)
	if err != nil {
		return shown, fault.Wrap(err, fault.Conflict, "%s", err)
	}
	if shown.Size > newest.Size {
		return shown, nil
	}
	root, err := rootAt(ctx, w.store.queries(), newest.Head, shown.Size)
	if err == nil && root == shown.Root {
		err = fault.New(fault.Conflict, "what it cosigned last, of %d messages, is the beginning of this tree", shown.Size)
	}
	return shown, mapDamage(err)
}

// tell keeps what came of asking.
func (w *witnessLoop) tell(ctx context.Context, err error) {
	problem := ""
	if err != nil {
		problem = mapError(err).Error()
	}
	w.mu.Lock()
	changed := w.state.Problem != problem
	w.state.Problem = problem
	w.mu.Unlock()
	if changed && problem != "" {
		w.store.log.WarnContext(ctx, "a witness does not cosign", "witness", w.witness.Name, "reason", problem)
	}
}
