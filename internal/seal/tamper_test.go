package seal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// sealed is a log of some leaves with a proof under a checkpoint that two witnesses have signed.
type sealed struct {
	log        *sealtest.Log
	policy     seal.Policy
	checkpoint string
	proof      string
	leaf       seal.Leaf
}

func newSealed(t testing.TB) sealed {
	log := sealtest.New(t, "log.example.org").Grow(21)
	one, two := sealtest.NewWitness(t, "witness.example.org/1"), sealtest.NewWitness(t, "witness.example.org/2")
	checkpoint := log.Checkpoint(21)
	checkpoint = seal.WithCosignatures(checkpoint, one.Cosign(checkpoint), two.Cosign(checkpoint))
	return sealed{log, log.Policy(one, two), checkpoint, log.Proof(checkpoint, 21, 13), log.Leaves[13]}
}

// damaged calls f with a text in which each byte in turn is another, is missing, or has another before it; with each
// beginning and each end of it; and with each line missing or twice.
func damaged(text string, f func(name, text string)) {
	for i := range len(text) {
		for bit := range 8 {
			b := []byte(text)
			b[i] ^= 1 << bit
			f(fmt.Sprintf("bit %d of byte %d flipped", bit, i), string(b))
		}
		for _, c := range "\x00\n\r =+-A0é" {
			f(fmt.Sprintf("%q before byte %d", c, i), text[:i]+string(c)+text[i:])
			if text[i:i+1] != string(c) {
				f(fmt.Sprintf("%q for byte %d", c, i), text[:i]+string(c)+text[i+1:])
			}
		}
		f(fmt.Sprintf("byte %d missing", i), text[:i]+text[i+1:])
		f(fmt.Sprintf("the first %d bytes", i), text[:i])
		if i > 0 {
			f(fmt.Sprintf("from byte %d on", i), text[i:])
		}
	}
	lines := strings.SplitAfter(text, "\n")
	for i := range lines[:len(lines)-1] {
		f(fmt.Sprintf("line %d missing", i), strings.Join(lines[:i], "")+strings.Join(lines[i+1:], ""))
	}
	for _, more := range []string{"\n", " ", "x", "x\n", "\n\n", "\x00", "\xff"} {
		f(fmt.Sprintf("%q after the end", more), text+more)
	}
	f("twice", text+text)
	f("as Windows writes it", strings.ReplaceAll(text, "\n", "\r\n"))
}

func TestCheckpointDamaged(t *testing.T) {
	t.Parallel()
	s := newSealed(t)
	if c, err := seal.Open(s.checkpoint, s.policy); err != nil || c.Head != s.log.Head(21) || len(c.Cosignatures) != 2 || c.Note != s.checkpoint {
		t.Fatalf("Open = %+v, %v", c, err)
	}
	damaged(s.checkpoint, func(name, text string) {
		if c, err := seal.Open(text, s.policy); err == nil {
			t.Errorf("Open with %s = %+v, want an error", name, c)
		}
	})
}

func TestProofDamaged(t *testing.T) {
	t.Parallel()
	s := newSealed(t)
	if _, err := seal.CheckInclusion(s.proof, s.leaf, s.policy); err != nil {
		t.Fatal(err)
	}
	damaged(s.proof, func(name, text string) {
		if i, err := seal.CheckInclusion(text, s.leaf, s.policy); err == nil {
			t.Errorf("CheckInclusion with %s = %+v, want an error", name, i)
		}
	})
}

// Without a quorum, damage to a witness's line may leave the checkpoint as it is, and never makes another of it.
func TestCheckpointDamagedWithoutQuorum(t *testing.T) {
	t.Parallel()
	s := newSealed(t)
	head := s.log.Head(21)
	for name, policy := range map[string]seal.Policy{
		"no witnesses": s.log.Policy(),
		"one of two":   {Origin: s.policy.Origin, Log: s.policy.Log, Witnesses: s.policy.Witnesses, Quorum: 1},
	} {
		passed := 0
		damaged(s.checkpoint, func(damage, text string) {
			c, err := seal.Open(text, policy)
			if err != nil {
				return
			}
			if passed++; c.Head != head || len(c.Cosignatures) < policy.Quorum {
				t.Errorf("Open, %s, with %s = %+v, want the head that was signed", name, damage, c)
			}
		})
		if passed == 0 {
			t.Errorf("Open, %s: no damage to the lines of others is overlooked", name)
		}
	}
}

func TestLeafDamaged(t *testing.T) {
	t.Parallel()
	s := newSealed(t)
	whole := string(s.leaf.Bytes())
	if leaf, err := seal.ParseLeaf([]byte(whole)); err != nil || leaf != s.leaf {
		t.Fatalf("ParseLeaf = %+v, %v, want %+v", leaf, err, s.leaf)
	}
	damaged(whole, func(name, text string) {
		leaf, err := seal.ParseLeaf([]byte(text))
		if err != nil {
			return
		}
		if string(leaf.Bytes()) != text {
			t.Errorf("ParseLeaf with %s = %+v, whose bytes are others", name, leaf)
		}
		if _, err := seal.CheckInclusion(s.proof, leaf, s.policy); err == nil {
			t.Errorf("CheckInclusion of the leaf with %s passes", name)
		}
	})
}

func TestParseLeafRefuses(t *testing.T) {
	t.Parallel()
	for name, sequence := range map[string]int64{"0": 0, "-1": -1, "the least": -1 << 63} {
		if leaf, err := seal.ParseLeaf(seal.Leaf{Sequence: sequence}.Bytes()); err == nil {
			t.Errorf("ParseLeaf with sequence %s = %+v, want an error", name, leaf)
		}
	}
	if _, err := seal.ParseLeaf(nil); err == nil {
		t.Error("ParseLeaf of nothing passes")
	}
}
