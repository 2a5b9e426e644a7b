package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/seal"
)

const (
	maxTrusted  = 4096 // checkpoints and cosignatures that are remembered to verify
	soundRows   = 100  // rows of a page in search of one that verifies
	soundPages  = 10
	soundSought = soundRows * soundPages
)

// trust is what of the rows of the seal was found to be signed. Whoever may write to the database may write anything
// into them: nothing is served, counted or gone by that does not open with the log's own key, and no cosignature that
// does not verify with the key of a witness that is configured.
type trust struct {
	mu        sync.Mutex
	opened    map[string]seal.Checkpoint  // by key and note
	cosigned  map[string]seal.Cosignature // by key, note and line
	newest    seal.Checkpoint             // the largest that was seen to be signed, of the name of signer
	witnessed seal.Checkpoint             // and that a witness cosigned
}

// signers are those whose signatures count.
type signers struct {
	policy    seal.Policy // without witnesses; without a name, the database says which key is the log's
	public    string
	witnesses map[string]note.Verifier
}

// signers gives those of this server. One that does not seal has no key but the database's, and no witness.
func (d *shared) signers() signers {
	s := d.sealer.Load()
	if s == nil {
		return signers{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return signers{policy: s.policy, public: s.key.Public, witnesses: s.cosigners}
}

func (s signers) names() []string {
	names := make([]string, 0, len(s.witnesses))
	for name := range s.witnesses {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// of gives the signers of a name's checkpoints: for one that is not signed under now, with the key on record.
func (s signers) of(origin, public string) (signers, error) {
	if s.policy.Log != nil && s.policy.Origin == origin {
		return s, nil
	}
	verifier, err := note.NewVerifier(public)
	if err == nil && verifier.Name() != origin {
		err = fmt.Errorf("the key on record is of %q", verifier.Name())
	}
	s.policy, s.public = seal.Policy{Origin: origin, Log: verifier}, public
	return s, err
}

// signedRow is a row of checkpoints with its cosignatures. Its values are believed to be nothing yet.
type signedRow dbgen.NewestCheckpointsRow

// errRow says that a row is another checkpoint than its note.
var errRow = errors.New("its size or root is another than was signed")

// open gives a row as a checkpoint, with those of its cosignatures that verify. unsound says what is wrong with one that a
// configured witness is said to have made, empty if nothing is.
func (d *shared) open(by signers, r signedRow) (c seal.Checkpoint, unsound string, err error) {
	if by, err = by.of(r.Origin, r.PublicKey); err != nil {
		return c, "", err
	}
	if c, err = d.trust.open(by, r.Note); err != nil {
		return c, "", err
	}
	if c.Head != (seal.Head{Size: r.Size, Root: r.Root}) {
		return c, "", errRow
	}
	for i, name := range r.Witnesses {
		key := by.witnesses[name]
		if key == nil {
			continue
		}
		cosignature, err := d.trust.cosignature(key, r.Note, r.Lines[i])
		if err != nil {
			unsound = fmt.Sprintf("the cosignature of %s on the checkpoint of %d messages in the database is none: %s", name, r.Size, err)
			continue
		}
		c.Cosignatures = append(c.Cosignatures, cosignature)
		c.Note += cosignature.Line
	}
	c.SignedAt = r.SignedAt.UTC()
	return c, unsound, nil
}

// open opens a note that the log's key alone signed.
func (t *trust) open(by signers, text string) (seal.Checkpoint, error) {
	key := by.public + "\n" + text
	t.mu.Lock()
	c, known := t.opened[key]
	t.mu.Unlock()
	if known {
		return c, nil
	}
	c, err := seal.OpenOwn(text, by.policy)
	if err != nil {
		return c, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.opened == nil || len(t.opened) >= maxTrusted {
		t.opened = map[string]seal.Checkpoint{}
	}
	t.opened[key] = c
	return c, nil
}

// cosignature checks a witness's line, which must be one line.
func (t *trust) cosignature(witness note.Verifier, text, line string) (seal.Cosignature, error) {
	key := witness.Name() + "\n" + text + "\n" + line
	t.mu.Lock()
	c, known := t.cosigned[key]
	t.mu.Unlock()
	if known {
		return c, nil
	}
	c, err := seal.OpenCosignature(text, line, witness)
	if err == nil && c.Line != line {
		err = errors.New("it is not one line, written the one way that it is")
	}
	if err != nil {
		return c, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cosigned == nil || len(t.cosigned) >= maxTrusted {
		t.cosigned = map[string]seal.Cosignature{}
	}
	t.cosigned[key] = c
	return c, nil
}

// remember keeps a checkpoint that verifies, if it is the largest of the name that is signed under.
func (t *trust) remember(by signers, c seal.Checkpoint) {
	if by.policy.Origin != c.Origin {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest.Origin != c.Origin {
		t.newest, t.witnessed = seal.Checkpoint{}, seal.Checkpoint{}
	}
	if c.Size > t.newest.Size {
		t.newest = c
	}
	if len(c.Cosignatures) > 0 && c.Size > t.witnessed.Size {
		t.witnessed = c
	}
}

// newestCheckpoints gives the newest one that verifies and the newest that a witness cosigned: in one statement, unless
// the database holds rows in front of them that do not verify. Either may be nil.
func (d *shared) newestCheckpoints(ctx context.Context, q *dbgen.Queries) (newest, witnessed *seal.Checkpoint, err error) {
	by := d.signers()
	rows, err := q.NewestCheckpoints(ctx, by.policy.Origin, by.names())
	if err != nil {
		return nil, nil, err
	}
	broken := false
	for _, r := range rows {
		c, unsound, err := d.open(by, signedRow(r))
		if err != nil {
			broken = true
			continue
		}
		broken = broken || unsound != "" && len(c.Cosignatures) == 0
		newest, witnessed = larger(newest, witnessed, c)
		d.trust.remember(by, c)
	}
	if broken {
		return d.soundCheckpoints(ctx, q, by, rows[0].Size)
	}
	return newest, witnessed, nil
}

// larger takes a checkpoint in, where it is the first that is found.
func larger(newest, witnessed *seal.Checkpoint, c seal.Checkpoint) (*seal.Checkpoint, *seal.Checkpoint) {
	if newest == nil {
		newest = &c
	}
	if witnessed == nil && len(c.Cosignatures) > 0 {
		witnessed = &c
	}
	return newest, witnessed
}

// soundCheckpoints looks for the checkpoints that verify among the largest rows, and knows those that were seen before.
func (d *shared) soundCheckpoints(ctx context.Context, q *dbgen.Queries, by signers, size int64) (newest, witnessed *seal.Checkpoint, err error) {
	below := min(size, seal.MaxSize) + 1
	for page := 0; page < soundPages && (newest == nil || witnessed == nil && len(by.witnesses) > 0); page++ {
		rows, err := q.CheckpointsBelow(ctx, by.policy.Origin, below, soundRows)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range rows {
			below = r.Size
			if c, _, err := d.open(by, signedRow(r)); err == nil {
				newest, witnessed = larger(newest, witnessed, c)
			}
		}
		if len(rows) < soundRows {
			break
		}
	}
	d.trust.mu.Lock()
	defer d.trust.mu.Unlock()
	if c := d.trust.newest; newest == nil && c.Size > 0 && c.Origin == by.policy.Origin {
		newest = &c
	}
	if c := d.trust.witnessed; c.Size > 0 && c.Origin == by.policy.Origin && newest != nil && c.Size <= newest.Size &&
		(witnessed == nil || c.Size > witnessed.Size) { // a row in the place of what it says
		witnessed = &c
	}
	return newest, witnessed, nil
}

// cosigned gives the newest that each witness verifiably cosigned of the log under a name, by the names of their keys.
func (d *shared) cosigned(ctx context.Context, q *dbgen.Queries, origin string) (map[string]WitnessedSize, error) {
	by := d.signers()
	sizes := map[string]WitnessedSize{}
	if by.policy.Log == nil || by.policy.Origin != origin {
		return sizes, nil
	}
	for _, most := range []int32{1, soundSought} {
		rows, err := q.Cosigned(ctx, by.names(), origin, most)
		if err != nil {
			return nil, err
		}
		unsound := false
		for _, r := range rows {
			if _, known := sizes[r.Witness]; known {
				continue
			}
			c, _, err := d.open(by, signedRow{
				Origin: origin, Size: r.Size, Root: r.Root, Note: r.Note, Witnesses: []string{r.Witness}, Lines: []string{r.Line},
			})
			if err != nil || len(c.Cosignatures) == 0 {
				unsound = true
				continue
			}
			sizes[r.Witness] = WitnessedSize{r.Size, c.Cosignatures[0].At}
		}
		if !unsound {
			break
		}
	}
	return sizes, nil
}
