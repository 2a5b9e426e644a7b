package seal_test

import (
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/merkle/testonly"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// exhaustive is the size of the trees of which every proof is made and checked.
const exhaustive = 100

// second makes the same log with an independent implementation of RFC 6962.
func second(log *sealtest.Log) *testonly.Tree {
	tree := testonly.New(rfc6962.DefaultHasher)
	for _, leaf := range log.Leaves {
		tree.AppendData(leaf.Bytes())
	}
	return tree
}

func TestInclusionOfEveryLeafInEveryTree(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(exhaustive)
	other := second(log)
	for size := 1; size <= exhaustive; size++ {
		head, checkpoint := log.Head(size), log.Checkpoint(size)
		if string(head.Root[:]) != string(other.HashAt(uint64(size))) {
			t.Fatalf("roots of %d leaves differ", size)
		}
		for index := range size {
			leaf := log.Leaves[index]
			inclusion, err := seal.CheckInclusion(log.Proof(checkpoint, size, index), leaf, log.Policy())
			if err != nil || inclusion.Index != int64(index) || inclusion.Checkpoint.Head != head {
				t.Fatalf("CheckInclusion of %d in %d = %+v, %v", index, size, inclusion, err)
			}
			checkBySecond(t, log, other, head, index)
			checkOfSecond(t, log, other, head, checkpoint, index)
		}
	}
}

// checkBySecond has our proof checked by the second implementation.
func checkBySecond(t *testing.T, log *sealtest.Log, other *testonly.Tree, head seal.Head, index int) {
	t.Helper()
	hashes := proofHashes(t, log.Proof(log.Checkpoint(int(head.Size)), int(head.Size), index))
	if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(head.Size), other.LeafHash(uint64(index)), hashes, head.Root[:]); err != nil {
		t.Fatalf("our proof of %d in %d: %v", index, head.Size, err)
	}
}

// checkOfSecond checks the second implementation's proof.
func checkOfSecond(t *testing.T, log *sealtest.Log, other *testonly.Tree, head seal.Head, checkpoint string, index int) {
	t.Helper()
	path, err := other.InclusionProof(uint64(index), uint64(head.Size))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seal.CheckInclusion(formatProof(index, path, checkpoint), log.Leaves[index], log.Policy()); err != nil {
		t.Fatalf("the second's proof of %d in %d: %v", index, head.Size, err)
	}
}

func TestConsistencyOfEveryTreeWithEveryOther(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(exhaustive)
	other := second(log)
	heads := make([]seal.Head, exhaustive+1)
	for size := range heads {
		heads[size] = log.Head(size)
	}
	for from, older := range heads {
		for to := from; to <= exhaustive; to++ {
			newer, path := heads[to], log.Consistency(from, to)
			if err := seal.CheckConsistency(path, older, newer); err != nil {
				t.Fatalf("CheckConsistency %d to %d: %v", from, to, err)
			}
			err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(from), uint64(to), bytesOf(path), older.Root[:], newer.Root[:])
			if err != nil {
				t.Fatalf("our proof of %d to %d: %v", from, to, err)
			}
			theirs, err := other.ConsistencyProof(uint64(from), uint64(to))
			if err != nil {
				t.Fatal(err)
			}
			if err := seal.CheckConsistency(hashesFrom(theirs), older, newer); err != nil {
				t.Fatalf("the second's proof of %d to %d: %v", from, to, err)
			}
		}
	}
}

func TestProofsOfSomethingElse(t *testing.T) {
	t.Parallel()
	const most = 20
	log := sealtest.New(t, "log.example.org").Grow(most)
	checkpoints := make([]string, most+1)
	for size := 1; size <= most; size++ {
		checkpoints[size] = log.Checkpoint(size)
	}
	for size := 1; size <= most; size++ {
		for index := range size {
			hashes := proofHashes(t, log.Proof(checkpoints[size], size, index))
			for claimed := range size + 2 {
				text := formatProof(claimed, hashes, checkpoints[size])
				if _, err := seal.CheckInclusion(text, log.Leaves[index], log.Policy()); (err == nil) != (claimed == index) {
					t.Fatalf("the proof of leaf %d of %d as that of %d: %v", index, size, claimed, err)
				}
				if claimed != index && claimed < size {
					if _, err := seal.CheckInclusion(formatProof(index, hashes, checkpoints[size]), log.Leaves[claimed], log.Policy()); err == nil {
						t.Fatalf("the proof of leaf %d of %d passes for leaf %d", index, size, claimed)
					}
				}
			}
			for other := 1; other <= most; other++ {
				if _, err := seal.CheckInclusion(formatProof(index, hashes, checkpoints[other]), log.Leaves[index], log.Policy()); (err == nil) != (other == size) {
					t.Fatalf("the proof of leaf %d of %d in the tree of %d: %v", index, size, other, err)
				}
			}
		}
	}
}

func TestConsistencyOfSomethingElse(t *testing.T) {
	t.Parallel()
	const most = 40
	log := sealtest.New(t, "log.example.org").Grow(most + 1)
	fork := log.Fork(10, "fork").Grow(most)
	for from := 1; from < most; from++ {
		for to := from; to <= most; to++ {
			path, older, newer := log.Consistency(from, to), log.Head(from), log.Head(to)
			refused := map[string]error{
				"a leaf more":  seal.CheckConsistency(path, older, log.Head(to+1)),
				"longer":       seal.CheckConsistency(append([]chain.Hash{{}}, path...), older, newer),
				"longer after": seal.CheckConsistency(append(path[:len(path):len(path)], chain.Hash{}), older, newer),
				"other root":   seal.CheckConsistency(path, older, seal.Head{Size: newer.Size, Root: chain.Sum([]byte("x"))}),
				"from nothing": seal.CheckConsistency(path, seal.Head{Root: chain.Sum([]byte("x"))}, newer),
			}
			if from < to {
				refused["backwards"] = seal.CheckConsistency(path, newer, older)
				refused["empty"] = seal.CheckConsistency(nil, older, newer)
				refused["shorter"] = seal.CheckConsistency(path[1:], older, newer)
			}
			if from > 10 { // the fork extends what was before it
				refused["to the fork"] = seal.CheckConsistency(fork.Consistency(from, to), older, fork.Head(to))
			}
			if from > 1 { // from nothing, no hash is needed
				refused["a leaf less"] = seal.CheckConsistency(path, log.Head(from-1), newer)
			}
			for name, err := range refused {
				if err == nil {
					t.Errorf("CheckConsistency %d to %d, %s: passes", from, to, name)
				}
			}
		}
	}
}

func TestConsistencyHashFlipped(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(exhaustive)
	for _, from := range []int{1, 2, 3, 31, 32, 33, 64, 77, 99} {
		path := log.Consistency(from, exhaustive)
		for i := range path {
			for bit := range 256 {
				path[i][bit/8] ^= 1 << (bit % 8)
				if err := seal.CheckConsistency(path, log.Head(from), log.Head(exhaustive)); err == nil {
					t.Fatalf("%d to %d with bit %d of hash %d flipped passes", from, exhaustive, bit, i)
				}
				path[i][bit/8] ^= 1 << (bit % 8)
			}
		}
	}
}

func TestProofsOutOfReach(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(5)
	for _, at := range [][2]int64{{5, 5}, {5, -1}, {0, 0}, {seal.MaxSize + 1, 0}, {1<<63 - 1, 0}} {
		if text, err := seal.Prove(log.Checkpoint(5), seal.Head{Size: at[0]}, at[1], log); err == nil {
			t.Errorf("Prove leaf %d of %d = %q, want an error", at[1], at[0], text)
		}
	}
	for _, at := range [][2]int64{{3, 2}, {-1, 3}, {3, 6}, {3, seal.MaxSize + 1}} {
		if path, err := seal.ProveConsistency(at[0], at[1], log); err == nil {
			t.Errorf("ProveConsistency %d to %d = %v, want an error", at[0], at[1], path)
		}
	}
	p, err := seal.ParseProof(log.Proof(log.Checkpoint(5), 5, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{seal.MaxSize, seal.MaxSize + 1, 1<<63 - 1} { // beyond the first, tlog would never end
		head := seal.Head{Size: size, Root: log.Head(5).Root}
		if err := p.Check(log.Leaves[3], head); err == nil {
			t.Errorf("a proof in a tree of %d leaves passes", size)
		}
		if err := seal.CheckConsistency(log.Consistency(3, 5), log.Head(3), head); err == nil {
			t.Errorf("a tree of %d leaves extends one of 3", size)
		}
	}
	if err := seal.CheckConsistency(make([]chain.Hash, 64), log.Head(3), log.Head(5)); err == nil {
		t.Error("a proof of 64 hashes passes")
	}
}
