package seal_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// audited is a tree with all that is stored of it.
type audited struct {
	keys    seal.Keys
	signer  note.Signer
	leaves  []seal.Leaf
	stored  seal.Stored
	outside *seal.Checkpoint
}

// newAudited gives a tree of so many leaves in three sessions, recorded and signed at each of the sizes.
func newAudited(t *testing.T, leaves int64, sizes ...int64) *audited {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "example.org/log")
	if err != nil {
		t.Fatal(err)
	}
	a := &audited{keys: seal.Keys{Logs: []seal.Key{{Origin: "example.org/log", Public: public}}}}
	if a.signer, err = note.NewSigner(secret); err != nil {
		t.Fatal(err)
	}
	var tree seal.Tree
	for i := range leaves {
		leaf := seal.Leaf{
			Session: chain.Sum(fmt.Append(nil, i%3)), Sequence: i/3 + 1, Message: chain.Sum(fmt.Append(nil, "message", i)),
		}
		a.leaves = append(a.leaves, leaf)
		for _, tile := range tree.Add(leaf.Hash()) {
			a.stored.Tiles = append(a.stored.Tiles, seal.StoredTile{Level: tile.Level, N: tile.N, Root: chain.Hash(tile.Root), Hashes: tile.Data()})
		}
		for _, size := range sizes {
			if tree.Size() == size {
				a.sign(t, tree.Head())
			}
		}
	}
	return a
}

func (a *audited) sign(t *testing.T, head seal.Head) {
	t.Helper()
	text, err := seal.Sign(a.signer, head)
	if err != nil {
		t.Fatal(err)
	}
	a.stored.Trees = append(a.stored.Trees, head)
	a.stored.Checkpoints = append(a.stored.Checkpoints, seal.Signed{Head: head, Origin: a.signer.Name(), Note: text})
	a.outside = &seal.Checkpoint{Head: head, Origin: a.signer.Name(), Note: text}
}

// audit gives the auditor that has seen everything; all is handed over at once.
func (a *audited) audit() *seal.Auditor {
	auditor := seal.NewAuditor(a.keys, a.outside, [32]byte{1})
	size := int64(len(a.leaves))
	var within, beyond seal.Stored
	for _, head := range a.stored.Trees {
		if head.Size <= size {
			within.Trees = append(within.Trees, head)
		} else {
			beyond.Trees = append(beyond.Trees, head)
		}
	}
	for _, c := range a.stored.Checkpoints {
		if c.Size <= size {
			within.Checkpoints = append(within.Checkpoints, c)
		} else {
			beyond.Checkpoints = append(beyond.Checkpoints, c)
		}
	}
	within.Tiles = a.stored.Tiles
	auditor.Expect(within)
	for i, leaf := range a.leaves {
		auditor.Leaf(int64(i), leaf)
	}
	auditor.Beyond(beyond)
	auditor.Finish()
	return auditor
}

func TestAuditPasses(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][]int64{{1}, {255, 256}, {256}, {257, 300}, {512, 700}} {
		last := sizes[len(sizes)-1]
		a := newAudited(t, last, sizes...).audit()
		if !a.Valid() || !a.Ordered() || a.Size() != last || a.Newest() == nil || a.Newest().Size != last || a.Tally().Count() != last {
			t.Errorf("audit of %v = %v, size %d, newest %v", sizes, a.Breaks(), a.Size(), a.Newest())
		}
	}
	if a := (&audited{}).audit(); !a.Valid() || a.Size() != 0 || a.Newest() != nil {
		t.Errorf("audit of nothing = %v", a.Breaks())
	}
}

// Every leaf that is altered is seen, and its place told as far as sizes were signed.
func TestAuditNamesEveryLeaf(t *testing.T) {
	t.Parallel()
	a := newAudited(t, 300, 100, 256, 280, 300)
	for i := range a.leaves {
		kept := a.leaves[i]
		a.leaves[i].Message[5] ^= 1
		got := a.audit()
		from, to := 0, 99
		for _, size := range []int{100, 256, 280} {
			if i >= size {
				from = size
			}
		}
		switch {
		case from == 100:
			to = 255
		case from == 256:
			to = 279
		case from == 280:
			to = 299
		}
		place := fmt.Sprintf("a leaf from %d to %d", from, to)
		if from == 0 {
			place = "no smaller size agrees"
		}
		wantBreak(t, got, chain.RootMismatch, "recorded of the tree differ", place)
		wantBreak(t, got, chain.RootMismatch, "what was signed as example.org/log differs", place)
		wantBreak(t, got, chain.RootMismatch, "kept outside of the database differs")
		if i < seal.TileWidth {
			wantBreak(t, got, chain.LeafMismatch, fmt.Sprintf("leaf %d was altered: tile 0/0", i))
		}
		a.leaves[i] = kept
	}
	if got := a.audit(); !got.Valid() {
		t.Errorf("the tree as it was: %v", got.Breaks())
	}
}

func wantBreak(t *testing.T, a *seal.Auditor, reason chain.BreakReason, words ...string) {
	t.Helper()
	for _, b := range a.Breaks() {
		all := b.Reason == reason
		for _, w := range words {
			all = all && strings.Contains(b.Detail, w)
		}
		if all {
			return
		}
	}
	t.Errorf("breaks = %+v, want one %s with %q", a.Breaks(), reason, words)
}

// Each thing that is stored of a tree and altered is named, and nothing besides.
func TestAuditNamesWhatIsStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*audited)
		want   []string // details, each of one break
	}{
		{"a tile's hash", func(a *audited) { a.stored.Tiles[0].Hashes[40]++ }, []string{"leaf 1 was altered: tile 0/0"}},
		{"a tile's root", func(a *audited) { a.stored.Tiles[0].Root[0]++ }, []string{"tile 0/0 is recorded with the root"}},
		{"a tile cut", func(a *audited) { a.stored.Tiles[0].Hashes = a.stored.Tiles[0].Hashes[1:] }, []string{"tile 0/0 has 8191 bytes"}},
		{"another tile", func(a *audited) { clear(a.stored.Tiles[0].Hashes) }, []string{"tile 0/0 has other hashes than its leaves: 256, from that of leaf 0 on"}},
		{"no tile", func(a *audited) { a.stored.Tiles = a.stored.Tiles[1:] }, []string{"tile 0/0 is not stored"}},
		{"a root", func(a *audited) { a.stored.Trees[0].Root[0]++ }, []string{"recorded of the tree differ from it at size 300"}},
		{"no last root", func(a *audited) { a.stored.Trees = a.stored.Trees[:1] }, []string{"the tree has 520 leaves, and the largest that is recorded has 300"}},
		{"a leaf cut off", func(a *audited) { a.leaves = a.leaves[:519] }, []string{"had more", "a checkpoint of 520 was signed", "the database is older"}},
		{"the row of a checkpoint", func(a *audited) { a.stored.Checkpoints[0].Root[0]++ }, []string{"what was signed", "is another one"}},
		{"a stripped signature", func(a *audited) {
			c := &a.stored.Checkpoints[0]
			c.Note, _, _ = strings.Cut(c.Note, "—")
		}, []string{"is not signed with the key"}},
		{"a name without a key", func(a *audited) { a.stored.Checkpoints[0].Origin = "nobody" }, []string{"cannot be checked: no key is known"}},
		{"no checkpoint", func(a *audited) { a.stored.Checkpoints = nil }, []string{"is not among those in it"}},
		{"an older one outside", func(a *audited) {
			c := a.stored.Checkpoints[0]
			a.outside = &seal.Checkpoint{Origin: c.Origin, Note: c.Note}
		}, nil},
	} {
		a := newAudited(t, 520, 300, 520)
		c.change(a)
		got := a.audit()
		if len(got.Breaks()) != len(c.want) {
			t.Errorf("%s: breaks = %+v, want %q", c.name, got.Breaks(), c.want)
		}
		for _, words := range c.want {
			found := false
			for _, b := range got.Breaks() {
				found = found || strings.Contains(b.Detail, words)
			}
			if !found {
				t.Errorf("%s: breaks = %+v, want %q", c.name, got.Breaks(), words)
			}
		}
	}
}

func TestAuditHigherTile(t *testing.T) {
	t.Parallel()
	const full = seal.TileWidth * seal.TileWidth
	a := newAudited(t, full, full)
	tile := &a.stored.Tiles[len(a.stored.Tiles)-1]
	if got := a.audit(); tile.Level != 1 || !got.Valid() {
		t.Fatalf("the last tile is of level %d, and the audit %v", tile.Level, got.Breaks())
	}
	tile.Hashes[33]++
	got := a.audit()
	if len(got.Breaks()) != 1 {
		t.Errorf("breaks = %v, want one", got.Breaks())
	}
	wantBreak(t, got, chain.RootMismatch, "tile 1/0 has other hashes than the tiles below it give: 1, from that of tile 0/1 on")
}

// Cosignatures of witnesses whose keys are known are checked; of others, their form is.
func TestAuditCosignatures(t *testing.T) {
	t.Parallel()
	secret, _, err := note.GenerateKey(rand.Reader, "witness")
	if err != nil {
		t.Fatal(err)
	}
	key, err := cosign.NewSignerForCosignatureV1(secret)
	if err != nil {
		t.Fatal(err)
	}
	a := newAudited(t, 10, 5, 10)
	line := func(of seal.Signed) string {
		signed, err := note.Sign(&note.Note{Text: strings.SplitAfter(of.Note, "\n\n")[0][:strings.Index(of.Note, "\n\n")+1]}, key)
		if err != nil {
			t.Fatal(err)
		}
		return string(signed[strings.Index(string(signed), "— "):])
	}
	first, last := &a.stored.Checkpoints[0], &a.stored.Checkpoints[1]
	for _, c := range []struct {
		name, line     string
		known, unknown bool // whether it passes
	}{
		{"its own", line(*last), true, true},
		{"of another checkpoint", line(*first), false, true},
		{"no line", "nothing", false, false},
		{"of another name", "— other " + strings.TrimPrefix(line(*last), "— witness "), false, false},
		{"too short", "— witness AAAA\n", false, false},
		{"no base64", "— witness ?\n", false, false},
	} {
		last.Cosignatures = []seal.SignedLine{{Witness: "witness", Line: c.line}}
		for _, known := range []bool{true, false} {
			a.keys.Witnesses, a.outside = nil, nil
			want := c.unknown
			if known {
				a.keys.Witnesses, want = []note.Verifier{key.Verifier()}, c.known
			}
			got := a.audit()
			if got.Valid() != want || !want && !strings.Contains(got.Breaks()[0].Detail, "the cosignature of witness on the checkpoint of size 10 is none") {
				t.Errorf("%s, key known %t: breaks = %+v, want it to pass: %t", c.name, known, got.Breaks(), want)
			}
		}
	}
}

// The leaves of a session stand in its order, without a hole.
func TestAuditOrder(t *testing.T) {
	t.Parallel()
	a := newAudited(t, 10, 10)
	a.leaves[0], a.leaves[3] = a.leaves[3], a.leaves[0] // both of one session
	if got := a.audit(); got.Ordered() {
		t.Error("Ordered() = true of a session whose leaves are swapped, want false")
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	leaf := func(i int64) seal.Leaf { return seal.Leaf{Sequence: i, Message: chain.Sum(fmt.Append(nil, i))} }
	of := func(secret byte, list ...int64) *seal.Tally {
		tally := seal.NewTally([32]byte{secret})
		for _, i := range list {
			tally.Add(leaf(i))
		}
		return tally
	}
	for _, c := range []struct {
		name string
		a, b *seal.Tally
		want bool
	}{
		{"none", of(1), of(1), true}, {"another order", of(1, 1, 2, 3), of(1, 3, 1, 2), true},
		{"one more", of(1, 1, 2), of(1, 1, 2, 3), false}, {"one twice", of(1, 1, 2), of(1, 1, 1), false},
		{"another", of(1, 1, 2), of(1, 1, 3), false}, {"two of another", of(1, 1, 1), of(1, 2, 2), false}, {"another secret", of(1, 1), of(2, 1), false},
	} {
		if got := c.a.Equal(c.b); got != c.want {
			t.Errorf("%s: Equal() = %t, want %t", c.name, got, c.want)
		}
	}
}
