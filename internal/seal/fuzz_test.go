package seal_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// Whatever opens was signed: its text is that of the checkpoint that the log signed, or the log's key is lost.
func FuzzOpen(f *testing.F) {
	s := newSealed(f)
	seeds := []string{s.checkpoint, s.log.Checkpoint(21), s.log.Checkpoint(1), s.log.Checkpoint(0), "", "\n\n", "log.example.org\n21\n"}
	signed := map[string]seal.Head{}
	for _, size := range []int{0, 1, 21} {
		text, _, _ := strings.Cut(s.log.Checkpoint(size), "\n\n")
		signed[text+"\n"] = s.log.Head(size)
	}
	for _, text := range seeds {
		f.Add(text, 0)
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, quorum int) {
		policy := s.policy
		policy.Quorum = quorum
		c, err := seal.Open(text, policy)
		if err != nil {
			return
		}
		body, _, _ := strings.Cut(text, "\n\n")
		if head, ok := signed[body+"\n"]; !ok || c.Head != head || c.Origin != policy.Origin || len(c.Cosignatures) < quorum || c.Note != text {
			t.Errorf("Open(%q) = %+v, which nobody has signed", text, c)
		}
	})
}

// Whatever passes is the one proof of the leaf, but for signatures of strangers.
func FuzzCheckInclusion(f *testing.F) {
	s := newSealed(f)
	f.Add(s.proof)
	f.Add(s.log.Proof(s.checkpoint, 21, 12))
	f.Add(s.log.Proof(s.log.Checkpoint(14), 14, 13))
	f.Add(strings.Replace(s.proof, "\nindex", "\nextra AAAA\nindex", 1))
	f.Add("c2sp.org/tlog-proof@v1\nindex 0\n\n")
	f.Add("c2sp.org/tlog-proof@v1\nindex 18446744073709551615\n\n" + s.checkpoint)
	want, _, _ := strings.Cut(s.proof, "\n\n")
	head := s.log.Head(21)
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := seal.ParseProof(text); err == nil && (p.Index < 0 || !strings.HasSuffix(text, "\n\n"+p.Checkpoint)) {
			t.Errorf("ParseProof(%q) = %+v", text, p)
		}
		i, err := seal.CheckInclusion(text, s.leaf, s.policy)
		if err != nil {
			return
		}
		if got, _, _ := strings.Cut(text, "\n\n"); got != want || i.Index != 13 || i.Checkpoint.Head != head {
			t.Errorf("CheckInclusion(%q) = %+v, want only %q", text, i, want)
		}
	})
}

// No hashes but the one proof lead from one head to another.
func FuzzCheckConsistency(f *testing.F) {
	log := newSealed(f).log
	f.Add(int64(13), int64(21), join(log.Consistency(13, 21)))
	f.Add(int64(16), int64(21), join(log.Consistency(16, 21)))
	f.Add(int64(0), int64(21), []byte{})
	f.Add(int64(21), int64(21), []byte{})
	f.Add(int64(-1), int64(math.MaxInt64), make([]byte, 64*32))
	f.Add(int64(57), int64(math.MaxInt64), make([]byte, 62*32))
	f.Add(int64(57), int64(seal.MaxSize), make([]byte, 62*32))
	f.Add(int64(57), int64(seal.MaxSize+1), make([]byte, 2*32))
	type pair struct{ from, to int64 }
	heads, paths := map[int64]seal.Head{}, map[pair][]byte{}
	for to := range 22 {
		heads[int64(to)] = log.Head(to)
		for from := range to + 1 {
			paths[pair{int64(from), int64(to)}] = join(log.Consistency(from, to))
		}
	}
	f.Fuzz(func(t *testing.T, from, to int64, path []byte) {
		hashes := make([]chain.Hash, len(path)/32)
		for i := range hashes {
			hashes[i] = chain.Hash(path[32*i:])
		}
		want, known := paths[pair{from, to}]
		if known {
			if err := seal.CheckConsistency(hashes, heads[from], heads[to]); (err == nil) != bytes.Equal(join(hashes), want) {
				t.Errorf("CheckConsistency(%x) of trees of %d and %d: %v", path, from, to, err)
			}
			return
		}
		root := chain.Sum(append([]byte("made up"), path...)) // and not that of the empty tree
		err := seal.CheckConsistency(hashes, seal.Head{Size: from, Root: root}, seal.Head{Size: to, Root: root})
		if err == nil && (from != to || from < 0) {
			t.Errorf("CheckConsistency(%x) of made up trees of %d and %d passes", path, from, to)
		}
	})
}

func join(hashes []chain.Hash) []byte { return bytes.Join(bytesOf(hashes), nil) }

// What is read as a leaf is written the same.
func FuzzParseLeaf(f *testing.F) {
	s := newSealed(f)
	f.Add(s.leaf.Bytes())
	f.Add([]byte(seal.Label))
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, seal.LeafBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		leaf, err := seal.ParseLeaf(b)
		if err == nil && (!bytes.Equal(leaf.Bytes(), b) || leaf.Sequence < 1 || leaf.Hash() != tlog.RecordHash(b)) {
			t.Errorf("ParseLeaf(%x) = %+v", b, leaf)
		}
	})
}

// A witness's answer never gives what the witness has not signed.
func FuzzOpenCosignature(f *testing.F) {
	s := newSealed(f)
	text, lines, _ := strings.Cut(s.checkpoint, "\n\n")
	plain := s.log.Checkpoint(21)
	f.Add(lines)
	f.Add("")
	f.Add("\n\nmore\n\n" + lines)
	f.Add(strings.Repeat(lines, 60))
	f.Fuzz(func(t *testing.T, answer string) {
		c, err := seal.OpenCosignature(text+"\n\n", answer, s.policy.Witnesses[0])
		if err != nil {
			return
		}
		if _, err := seal.Open(plain+c.Line, seal.Policy{
			Origin: s.policy.Origin, Log: s.policy.Log, Witnesses: s.policy.Witnesses[:1], Quorum: 1,
		}); err != nil || !strings.Contains(answer, c.Line) {
			t.Errorf("OpenCosignature(%q) = %+v: %v", answer, c, err)
		}
	})
}
