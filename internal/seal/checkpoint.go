package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
)

// MaxNote is how long a checkpoint may be that is looked at.
const MaxNote = 64 << 10

// Policy says whose checkpoints are believed. It is the caller's, and never taken from what is checked.
type Policy struct {
	Origin    string
	Log       note.Verifier   // the log's key
	Witnesses []note.Verifier // keys of cosignatures (cosignature/v1)
	Quorum    int             // how many of the witnesses must have signed
}

// Checkpoint is a signed head of a log's tree.
type Checkpoint struct {
	Head
	Origin       string
	Note         string        // as it was signed, every signature included
	Cosignatures []Cosignature // those of the policy's witnesses
	SignedAt     time.Time     // by the log's clock, where it is known: no signature covers it
}

// Sign gives the checkpoint of a head as a signed note. The signer's name is the log's origin.
func Sign(signer note.Signer, head Head) (string, error) {
	body := log.Checkpoint{Origin: signer.Name(), Size: uint64(head.Size), Hash: head.Root[:]}.Marshal()
	signed, err := note.Sign(&note.Note{Text: string(body)}, signer)
	return string(signed), err
}

// Open reads a checkpoint and checks its signatures. Whatever the policy does not ask for is refused: another origin
// or key, too few witnesses, extension lines, signatures that are not written the one way that base64 writes them.
// Signatures of unknown keys are ignored.
func Open(text string, policy Policy) (Checkpoint, error) {
	if len(text) > MaxNote {
		return Checkpoint{}, fmt.Errorf("the checkpoint has %d bytes; at most %d are read", len(text), MaxNote)
	}
	parsed, rest, signed, err := log.ParseCheckpoint([]byte(text), policy.Origin, policy.Log, policy.Witnesses...)
	if err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{Origin: parsed.Origin, Note: text}
	switch {
	case len(rest) > 0:
		return Checkpoint{}, errors.New("the checkpoint has extension lines")
	case len(parsed.Hash) != len(c.Root):
		return Checkpoint{}, fmt.Errorf("the checkpoint's root has %d bytes and not %d", len(parsed.Hash), len(c.Root))
	case parsed.Size > MaxSize:
		return Checkpoint{}, errors.New("the checkpoint's size is out of reach")
	case parsed.Size == 0 && chain.Hash(parsed.Hash) != chain.Sum(nil):
		return Checkpoint{}, errors.New("the empty tree's root is another")
	}
	c.Head = Head{Size: int64(parsed.Size), Root: chain.Hash(parsed.Hash)}
	if string(log.Checkpoint{Origin: c.Origin, Size: parsed.Size, Hash: parsed.Hash}.Marshal()) != signed.Text {
		return Checkpoint{}, errors.New("the checkpoint is not written the one way that it is")
	}
	return c, c.addCosignatures(signed, policy)
}

// OpenOwn is Open of a checkpoint as Sign gives it: with the log's own signature and no other.
func OpenOwn(text string, policy Policy) (Checkpoint, error) {
	c, err := Open(text, policy)
	if _, signatures, _ := strings.Cut(text, "\n\n"); err == nil && strings.Count(signatures, "\n") != 1 {
		err = errors.New("the checkpoint has more signatures than the log's")
	}
	return c, err
}

func (c *Checkpoint) addCosignatures(signed *note.Note, policy Policy) error {
	for _, s := range signed.Sigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return fmt.Errorf("the signature of %s is not written the one way that base64 writes it", s.Name)
		}
		if s.Name == policy.Log.Name() && s.Hash == policy.Log.KeyHash() {
			continue
		}
		cosignature, err := newCosignature(s)
		if err != nil {
			return err
		}
		c.Cosignatures = append(c.Cosignatures, cosignature)
	}
	if len(c.Cosignatures) < policy.Quorum {
		return fmt.Errorf("%d witnesses have signed the checkpoint; %d are asked for", len(c.Cosignatures), policy.Quorum)
	}
	return nil
}

// WithCosignatures gives a checkpoint's note with lines of witnesses added.
func WithCosignatures(note string, lines ...string) string { return note + strings.Join(lines, "") }
