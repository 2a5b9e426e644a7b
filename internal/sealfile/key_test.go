package sealfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
)

func TestLoadKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, KeyFile)
	keys := make([]Key, 8)
	var wait sync.WaitGroup
	for i := range keys { // servers that start at once make one key
		wait.Go(func() {
			var err error
			if keys[i], err = LoadKey(path, "example.org/log"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, k := range keys {
		if k.Public != keys[0].Public || k.Name() != "example.org/log" {
			t.Errorf("LoadKey() = %s, want %s", k.Public, keys[0].Public)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file has the mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*-*")); len(hidden) != 0 {
		t.Errorf("left: %q", hidden)
	}
	one, err := LoadKey(filepath.Join(t.TempDir(), KeyFile), "")
	other, err2 := LoadKey(filepath.Join(t.TempDir(), KeyFile), "")
	if err != nil || err2 != nil || one.Name() == other.Name() {
		t.Errorf("two keys without a name: %q, %q, %v, %v", one.Name(), other.Name(), err, err2)
	}
}

func TestLoadKeyRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	key, err := LoadKey(whole, "example.org/log")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, _ := strings.Cut(string(text), "\n")
	stranger, err := LoadKey(filepath.Join(dir, "stranger"), "example.org/log")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "half": secret + "\n", "another's public key": secret + "\n" + stranger.Public + "\n",
		"no secret": key.Public + "\n" + key.Public + "\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKey(path, ""); fault.CodeOf(err) != fault.BadUserInput {
			t.Errorf("LoadKey of a file that is %s = %v, want BAD_USER_INPUT", name, err)
		}
	}
	for origin, code := range map[string]fault.Code{"example.org/log": "", "example.org": "", "example.org/other": fault.BadUserInput, "example": fault.BadUserInput} {
		_, err := LoadKey(whole, origin)
		if code == "" && err != nil || code != "" && fault.CodeOf(err) != code {
			t.Errorf("LoadKey of example.org/log as %s = %v, want %q", origin, err, code)
		}
	}
	if _, err := LoadKey(filepath.Join(dir, "new"), "has blanks"); fault.CodeOf(err) != fault.BadUserInput {
		t.Errorf("LoadKey with a name that has blanks = %v, want BAD_USER_INPUT", err)
	}
	if _, err := LoadKey(filepath.Join(dir, "none", "new"), ""); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("LoadKey in no directory = %v, want UNAVAILABLE", err)
	}
}

func TestSucceed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), KeyFile)
	old, err := LoadKey(path, "a")
	if err != nil {
		t.Fatal(err)
	}
	right, err := BeginSuccession(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := right.Make("a/2"); err != nil { // never used
		t.Fatal(err)
	}
	next, err := right.Make("a/3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := BeginSuccession(path); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("BeginSuccession() by another = %v, want CONFLICT", err)
	}
	if _, _, err := Succeed(path, next.Public); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("Succeed() by another = %v, want CONFLICT", err)
	}
	if key, same, err := Succeed(path, old.Public); err != nil || !same || key.Public != old.Public {
		t.Errorf("Succeed() by the key itself = %s, %t, %v", key.Public, same, err)
	}
	right.End()
	if key, same, err := Succeed(path, "another"); err != nil || same || key.Public != old.Public {
		t.Errorf("Succeed() by another key = %s, %t, %v, want the old one", key.Public, same, err)
	}
	if err := os.Rename(path, path+".1"); err != nil { // as a process does that ends then
		t.Fatal(err)
	}
	for range 2 {
		if key, same, err := Succeed(path, next.Public); err != nil || !same || key.Public != next.Public {
			t.Errorf("Succeed() = %s, %t, %v, want the next one", key.Public, same, err)
		}
	}
	if aside, err := LoadKey(path+".1", ""); err != nil || aside.Public != old.Public {
		t.Errorf("the old key = %s, %v", aside.Public, err)
	}
	if err := SetAside(filepath.Join(filepath.Dir(path), "nothing")); err != nil {
		t.Errorf("SetAside of nothing = %v", err)
	}
	if err := SetAside(path); err != nil {
		t.Fatal(err)
	}
	if aside, err := LoadKey(path+".2", ""); err != nil || aside.Public != next.Public {
		t.Errorf("the second set aside = %s, %v", aside.Public, err)
	}
}
