package witness

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// Config says what a witness is.
type Config struct {
	StateFile string   // what it has cosigned; made at the first start
	KeyFile   string   // its key, mode 0600; made at the first start
	Name      string   // of its key; needed at the first start only
	Logs      []string // verifier keys of the logs that it cosigns for, name+id+key
}

// Witness cosigns. Make it with Open. Safe for concurrent use.
type Witness struct {
	vkey   string
	signer *cosign.Signer
	logs   map[string]note.Verifier // by origin
	diary  *slog.Logger

	mu    sync.Mutex // held from the look at the state until what is cosigned is on disk
	state *state
}

// Open opens a witness, and makes its key and its state at the first start: when there is neither. Close it when done.
//
// Faults: BAD_USER_INPUT if a setting, the key or the state is wrong, or only one of the files is there; CONFLICT if
// another process has the state; UNAVAILABLE if a file cannot be read or written.
func Open(cfg Config, diary *slog.Logger) (*Witness, error) {
	logs, err := parseLogs(cfg.Logs)
	if err != nil {
		return nil, err
	}
	key, first, err := loadKey(cfg.KeyFile, cfg.Name)
	if err != nil {
		return nil, err
	}
	// The state comes before the key: a key that is there says that the state has to be.
	state, err := openState(cfg.StateFile, first)
	if err != nil {
		return nil, err
	}
	w := &Witness{vkey: key.public, signer: key.signer, logs: logs, diary: diary, state: state}
	err = w.checkState()
	if err == nil && first {
		err = key.write(cfg.KeyFile)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close lets go of the state.
func (w *Witness) Close() { w.state.close() }

// PublicKey gives the verifier key of the witness's cosignatures.
func (w *Witness) PublicKey() string { return w.vkey }

func parseLogs(vkeys []string) (map[string]note.Verifier, error) {
	logs := map[string]note.Verifier{}
	for _, vkey := range vkeys {
		verifier, err := note.NewVerifier(vkey)
		if err != nil {
			return nil, fault.Input("--log", "%q is no log's key: it is what the log's server has at /log.pub", vkey)
		}
		if logs[verifier.Name()] != nil {
			return nil, fault.Input("--log", "names %s twice", verifier.Name())
		}
		logs[verifier.Name()] = verifier
	}
	if len(logs) == 0 {
		return nil, fault.Input("--log", "names no log: it is what the log's server has at /log.pub, and may be given several times")
	}
	return logs, nil
}

// checkState refuses a state that this witness has not written. Logs that it no longer knows keep their place.
func (w *Witness) checkState() error {
	for origin, text := range w.state.notes {
		signed, err := note.Open([]byte(text), note.VerifierList(w.signer.Verifier()))
		if err != nil {
			return fault.Wrap(err, fault.BadUserInput, "%s: the checkpoint of %s is not cosigned by %s: %v; the state is damaged, or another witness's",
				w.state.path, origin, w.signer.Name(), err)
		}
		if named, _, _ := strings.Cut(signed.Text, "\n"); named != origin {
			return fault.Input(w.state.path, "has a checkpoint of %s in the place of %s", named, origin)
		}
		if log := w.logs[origin]; log != nil {
			own := []note.Verifier{w.signer.Verifier()}
			if _, err := seal.Open(text, seal.Policy{Origin: origin, Log: log, Witnesses: own, Quorum: 1}); err != nil {
				return fault.Wrap(err, fault.BadUserInput, "%s: the last checkpoint of %s is not signed by the key that --log gives: %v", w.state.path, origin, err)
			}
		}
	}
	return nil
}

// verdict is why a checkpoint is not cosigned. Its values are those of the protocol.
type verdict int

const (
	malformed   verdict = 400
	unsigned    verdict = 403
	unknownLog  verdict = 404
	otherSize   verdict = 409
	otherTree   verdict = 422
	cannotWrite verdict = 503
)

// refusal is a verdict with its reason; size is what the witness has, for otherSize.
type refusal struct {
	verdict verdict
	reason  string
	size    int64
}

func refuse(v verdict, format string, args ...any) *refusal {
	return &refusal{verdict: v, reason: fmt.Sprintf(format, args...)}
}

// cosign gives the line of the witness's signature on a checkpoint that extends, as the proof shows, the tree of the old
// size, which must be that of the last one it has cosigned. When it returns, that is on disk.
func (w *Witness) cosign(old int64, proof []chain.Hash, text string) (string, *refusal) {
	checkpoint, signed, refused := w.openCheckpoint(text)
	if refused != nil {
		return "", refused
	}
	if old > checkpoint.Size {
		return "", refuse(malformed, "the old size, %d, is larger than the checkpoint's, %d", old, checkpoint.Size)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.last(checkpoint.Origin)
	if err != nil {
		return "", refuse(cannotWrite, "the witness cannot read its state")
	}
	if refused := extends(last, old, proof, checkpoint.Head); refused != nil {
		w.tell(refused, last, checkpoint)
		return "", refused
	}
	return w.sign(signed, checkpoint, last)
}

// tell writes down what speaks against the log. Two signed trees of one size prove that it shows different histories to
// different people, whoever sent them; a proof that does not fit may be the sender's fault.
func (w *Witness) tell(refused *refusal, last seal.Head, checkpoint seal.Checkpoint) {
	switch {
	case checkpoint.Size == last.Size && checkpoint.Root != last.Root:
		w.diary.Error("the log has signed two trees of one size", "log", checkpoint.Origin, "size", last.Size,
			"cosigned", w.state.notes[checkpoint.Origin], "refused", checkpoint.Note)
	case refused.verdict == otherTree:
		w.diary.Warn("the log's tree does not extend what was cosigned, or the proof is wrong", "log", checkpoint.Origin,
			"has", last.Size, "size", checkpoint.Size, "cause", refused.reason)
	}
}

// openCheckpoint checks the log's signature, and gives the note without all others.
func (w *Witness) openCheckpoint(text string) (seal.Checkpoint, *note.Note, *refusal) {
	origin, _, _ := strings.Cut(text, "\n")
	log := w.logs[origin]
	if log == nil {
		return seal.Checkpoint{}, nil, refuse(unknownLog, "this witness does not know the log")
	}
	signed, err := note.Open([]byte(text), note.VerifierList(log))
	_, stripped := errors.AsType[*note.UnverifiedNoteError](err)
	_, forged := errors.AsType[*note.InvalidSignatureError](err)
	if stripped || forged {
		return seal.Checkpoint{}, nil, refuse(unsigned, "the checkpoint is not signed with the log's key")
	}
	if err != nil {
		return seal.Checkpoint{}, nil, refuse(malformed, "the checkpoint is no signed note")
	}
	checkpoint, err := seal.Open(text, seal.Policy{Origin: origin, Log: log})
	if err != nil {
		return seal.Checkpoint{}, nil, refuse(malformed, "that is no checkpoint: %v", err)
	}
	return checkpoint, &note.Note{Text: signed.Text, Sigs: signed.Sigs}, nil
}

// last gives the head that was cosigned last; the empty tree's if none was.
func (w *Witness) last(origin string) (seal.Head, error) {
	text, ok := w.state.notes[origin]
	if !ok {
		return seal.Head{Root: chain.Sum(nil)}, nil
	}
	checkpoint, err := seal.Open(text, seal.Policy{Origin: origin, Log: w.logs[origin]})
	return checkpoint.Head, err
}

// extends checks that a head may follow the last one.
func extends(last seal.Head, old int64, proof []chain.Hash, head seal.Head) *refusal {
	var refused *refusal
	switch {
	case old != last.Size:
		refused = refuse(otherSize, "the witness has another size")
	case old == head.Size && last.Root != head.Root:
		refused = refuse(otherSize, "the witness has a checkpoint of this size with another root")
	default:
		if err := seal.CheckConsistency(proof, last, head); err != nil {
			return refuse(otherTree, "%v", err)
		}
		return nil
	}
	refused.size = last.Size
	return refused
}

// sign signs and keeps what it signs. A checkpoint that is kept already is signed with the time of now, and its file
// left alone: whoever replays it makes no work for the disk.
func (w *Witness) sign(signed *note.Note, checkpoint seal.Checkpoint, last seal.Head) (string, *refusal) {
	text, err := note.Sign(signed, w.signer)
	if err != nil {
		w.diary.Error("cannot sign", "cause", err)
		return "", refuse(cannotWrite, "the witness cannot sign")
	}
	if _, known := w.state.notes[checkpoint.Origin]; !known || checkpoint.Head != last {
		if err := w.state.keep(checkpoint.Origin, string(text)); err != nil {
			w.diary.Error("cannot keep a checkpoint", "log", checkpoint.Origin, "size", checkpoint.Size, "cause", err)
			return "", refuse(cannotWrite, "the witness cannot write its state")
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	return lines[len(lines)-1] + "\n", nil
}

// latest gives the last checkpoint that was cosigned for the log whose origin has this SHA-256.
func (w *Witness) latest(sum chain.Hash) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for origin, text := range w.state.notes {
		if chain.Sum([]byte(origin)) == sum {
			return text, true
		}
	}
	return "", false
}
