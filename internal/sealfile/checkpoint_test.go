package sealfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// signer makes checkpoints of trees that have nothing to do with each other.
type signer struct {
	Key
	policy seal.Policy
}

func newSigner(t *testing.T, origin string) signer {
	t.Helper()
	key, err := LoadKey(filepath.Join(t.TempDir(), KeyFile), origin)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := key.Verifier()
	if err != nil {
		t.Fatal(err)
	}
	return signer{key, seal.Policy{Origin: origin, Log: verifier}}
}

func (s signer) checkpoint(t *testing.T, size int64, root string) seal.Checkpoint {
	t.Helper()
	head := seal.Head{Size: size, Root: chain.Sum([]byte(root))}
	text, err := seal.Sign(s.Signer, head)
	if err != nil {
		t.Fatal(err)
	}
	return seal.Checkpoint{Head: head, Origin: s.Name(), Note: text}
}

func TestStoreCheckpointGoesForward(t *testing.T) {
	t.Parallel()
	s := newSigner(t, "a")
	path := filepath.Join(t.TempDir(), CheckpointFile)
	five, seven, fork := s.checkpoint(t, 5, "five"), s.checkpoint(t, 7, "seven"), s.checkpoint(t, 7, "fork")
	for _, step := range []struct {
		name          string
		checked, next seal.Checkpoint
		code          fault.Code
		want          seal.Checkpoint
	}{
		{"what is not there", five, seven, fault.Conflict, seal.Checkpoint{}},
		{"the first", seal.Checkpoint{}, five, "", five},
		{"the same", seal.Checkpoint{}, five, "", five},
		{"as if there were none", seal.Checkpoint{}, seven, fault.Conflict, five},
		{"the next", five, seven, "", seven},
		{"back", seven, five, fault.Conflict, seven},
		{"back, by another server", five, five, fault.Conflict, seven},
		{"another of that size", seven, fork, fault.Conflict, seven},
	} {
		err := StoreCheckpoint(path, s.policy, step.checked.Head, step.next)
		if step.code == "" && err != nil || step.code != "" && fault.CodeOf(err) != step.code {
			t.Errorf("%s: StoreCheckpoint() = %v, want %q", step.name, err, step.code)
		}
		if got, err := LoadCheckpoint(path, s.policy); err != nil || got.Text != step.want.Note || got.Head != step.want.Head {
			t.Errorf("%s: the file has %d, %v, want %d", step.name, got.Size, err, step.want.Size)
		}
	}
}

// Of servers that write at once, none takes it back.
func TestStoreCheckpointAtOnce(t *testing.T) {
	t.Parallel()
	s := newSigner(t, "a")
	path := filepath.Join(t.TempDir(), CheckpointFile)
	next := make([]seal.Checkpoint, 40)
	for i := range next {
		next[i] = s.checkpoint(t, int64(i+1), "x")
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			last := int64(0)
			for i := range next {
				now, err := LoadCheckpoint(path, s.policy)
				if err != nil || now.Size < last {
					t.Errorf("the file went from %d to %d, %v", last, now.Size, err)
				}
				last = now.Size
				err = StoreCheckpoint(path, s.policy, now.Head, next[i])
				if err != nil && fault.CodeOf(err) != fault.Conflict {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if now, err := LoadCheckpoint(path, s.policy); err != nil || now.Size != 40 {
		t.Errorf("in the end the file has %d, %v, want 40", now.Size, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*-*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestLoadCheckpoint(t *testing.T) {
	t.Parallel()
	s, other := newSigner(t, "a"), newSigner(t, "b")
	forger := newSigner(t, "a")
	path := filepath.Join(t.TempDir(), CheckpointFile)
	if got, err := LoadCheckpoint(path, s.policy); err != nil || got.Text != "" || got.Size != 0 {
		t.Errorf("LoadCheckpoint of nothing = %+v, %v", got, err)
	}
	good := s.checkpoint(t, 5, "five").Note
	for name, tt := range map[string]struct {
		text, other string
		code        fault.Code
	}{
		"good":           {good, "", ""},
		"another log's":  {other.checkpoint(t, 9, "x").Note, "b", ""},
		"empty":          {"", "", fault.Conflict},
		"cut":            {good[:len(good)-2], "", fault.Conflict},
		"altered":        {strings.Replace(good, "\n5\n", "\n6\n", 1), "", fault.Conflict},
		"forged":         {forger.checkpoint(t, 5, "five").Note, "", fault.Conflict},
		"without a note": {"b", "", fault.Conflict},
		"very long":      {good + strings.Repeat("x", seal.MaxNote), "", fault.Conflict},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := LoadCheckpoint(path, s.policy)
		if tt.code == "" && err != nil || tt.code != "" && fault.CodeOf(err) != tt.code || got.Other != tt.other {
			t.Errorf("LoadCheckpoint of what is %s = %+v, %v, want %q %q", name, got, err, tt.other, tt.code)
		}
	}
}
