package verifier

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// vectors is the folder of the golden vectors, which docs/seal.md describes.
const vectors = "../../testdata/seal"

var update = flag.Bool("update", false, "write the golden vectors anew")

// tree is tree.json.
type tree struct {
	Key         string              `json:"key"`     // the log's verifier key
	Witness     string              `json:"witness"` // the witness's
	Leaves      []leafVector        `json:"leaves"`
	Checkpoints []checkpointVector  `json:"checkpoints"`
	Proofs      []proofVector       `json:"proofs"`
	Consistency []consistencyVector `json:"consistency"`
	Refused     []refusedVector     `json:"refused"`
}

type leafVector struct {
	Session  chain.Hash `json:"session"`
	Sequence int64      `json:"sequence"`
	Message  chain.Hash `json:"message"`
	Bytes    []byte     `json:"bytes"`
	Hash     []byte     `json:"hash"`
}

type checkpointVector struct {
	Size int64  `json:"size"`
	Root []byte `json:"root"`
	Note string `json:"note"`
}

type proofVector struct {
	Size  int64  `json:"size"` // of the checkpoint
	Index int64  `json:"index"`
	Proof string `json:"proof"`
}

type consistencyVector struct {
	From   int64    `json:"from"`
	To     int64    `json:"to"`
	Hashes []string `json:"hashes"`
}

type refusedVector struct {
	Name  string `json:"name"`
	Leaf  int64  `json:"leaf"` // the one of leaves that the proof is said to be of
	Proof string `json:"proof"`
}

// golden makes the vectors anew.
func golden(t testing.TB) (v tree, export []byte) {
	s := newSample(t)
	_, v.Key = logKey(t, origin)
	v.Witness, _ = witnessKey(witnessName)
	leaves := s.leaves()
	all, _ := grow(t, leaves)
	for _, l := range leaves {
		hash := l.Hash()
		v.Leaves = append(v.Leaves, leafVector{l.Session, l.Sequence, l.Message, l.Bytes(), hash[:]})
	}
	for size := int64(1); size <= int64(len(leaves)); size++ {
		_, head := grow(t, leaves[:size])
		s.witness = ""
		if size%2 == 1 {
			s.witness = witnessName
		}
		note := s.checkpoint(head)
		v.Checkpoints = append(v.Checkpoints, checkpointVector{size, head.Root[:], note})
		for index := range size {
			proof, err := seal.Prove(note, head, index, all)
			if err != nil {
				t.Fatal(err)
			}
			v.Proofs = append(v.Proofs, proofVector{size, index, proof})
		}
		for from := range size + 1 {
			path, err := seal.ProveConsistency(from, size, all)
			if err != nil {
				t.Fatal(err)
			}
			v.Consistency = append(v.Consistency, consistencyVector{from, size, seal.Base64(path)})
		}
	}
	s.witness = witnessName
	s.seal()
	for _, c := range tamperings() {
		if bad, leaf, ok := c.proof(t, s); ok {
			v.Refused = append(v.Refused, refusedVector{c.name, leaf, bad})
		}
	}
	return v, file(t, s.lines(true))
}

// proof gives what a tampering makes of the proof of a message, if it alters one and only that.
func (c *tampering) proof(t testing.TB, sound *sample) (proof string, leaf int64, ok bool) {
	if c.pins != nil || c.change == nil {
		return "", 0, false
	}
	s := newSample(t)
	s.seal()
	lines := c.change(s, s.lines(true))
	for i, m := range sound.order {
		for _, l := range lines {
			text, there := l["proof"].(*string)
			if there && l["hash"] == m.Hash && *text != *m.proof {
				_, err := seal.CheckInclusion(*text, leafOf(m), policyOf(t, Pins{Key: pins(t).Key}))
				return *text, int64(i), err != nil
			}
		}
	}
	return "", 0, false
}

// TestVectors holds the golden vectors against what this code makes, and checks each of them as a verifier would.
func TestVectors(t *testing.T) {
	t.Parallel()
	v, export := golden(t)
	encoded, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"tree.json": append(encoded, '\n'), "export.jsonl": export, "log.pub": []byte(v.Key + "\n")} {
		path := filepath.Join(vectors, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what this code makes (%v); with -update it is written anew", path, err)
		}
	}
	p := Pins{Key: v.Key, Origin: origin, Witnesses: []string{v.Witness}}
	policy := policyOf(t, p)
	for i, l := range v.Leaves {
		leaf, err := seal.ParseLeaf(l.Bytes)
		if hash := tlog.RecordHash(l.Bytes); err != nil || leaf != (seal.Leaf{Session: l.Session, Sequence: l.Sequence, Message: l.Message}) || !bytes.Equal(hash[:], l.Hash) {
			t.Errorf("leaf %d = %+v, %v", i, leaf, err)
		}
	}
	heads := map[int64]seal.Head{0: new(seal.Tree).Head()}
	for _, c := range v.Checkpoints {
		got, err := seal.Open(c.Note, policy)
		if err != nil || got.Size != c.Size || !bytes.Equal(got.Root[:], c.Root) || len(got.Cosignatures) != int(c.Size%2) {
			t.Errorf("checkpoint of %d = %+v, %v", c.Size, got, err)
		}
		heads[c.Size] = got.Head
	}
	for _, c := range v.Proofs {
		l := v.Leaves[c.Index]
		got, err := seal.CheckInclusion(c.Proof, seal.Leaf{Session: l.Session, Sequence: l.Sequence, Message: l.Message}, policy)
		if err != nil || got.Index != c.Index || got.Checkpoint.Size != c.Size {
			t.Errorf("proof of leaf %d in %d = %+v, %v", c.Index, c.Size, got, err)
		}
	}
	for _, c := range v.Consistency {
		path := make([]chain.Hash, len(c.Hashes))
		for i, text := range c.Hashes {
			hash, err := tlog.ParseHash(text)
			if err != nil {
				t.Fatal(err)
			}
			path[i] = chain.Hash(hash)
		}
		if err := seal.CheckConsistency(path, heads[c.From], heads[c.To]); err != nil {
			t.Errorf("consistency of %d and %d: %v", c.From, c.To, err)
		}
	}
	if len(v.Refused) < 5 {
		t.Errorf("%d proofs that are refused, want some", len(v.Refused))
	}
	for _, c := range v.Refused {
		l := v.Leaves[c.Leaf]
		if got, err := seal.CheckInclusion(c.Proof, seal.Leaf{Session: l.Session, Sequence: l.Sequence, Message: l.Message}, policy); err == nil {
			t.Errorf("%s: CheckInclusion = %+v, want it refused", c.Name, got)
		}
	}
}
