package witness

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// reopen opens a witness of which a file may have been changed.
func reopen(cfg Config) error {
	w, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err == nil {
		w.Close()
	}
	return err
}

// used gives the settings of a witness that has cosigned, and has been stopped.
func used(t *testing.T, log *sealtest.Log) Config {
	t.Helper()
	cfg := setup(t, log)
	w := run(t, cfg)
	w.add(log, 0, 3)
	w.stop()
	if err := reopen(cfg); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedStateIsRefused(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	cfg := used(t, log)
	whole := readFile(t, cfg.StateFile)
	refused := func(what string, content []byte) {
		t.Helper()
		writeFile(t, cfg.StateFile, content)
		if err := reopen(cfg); fault.CodeOf(err) != fault.BadUserInput || !strings.Contains(err.Error(), cfg.StateFile) {
			t.Errorf("Open with a state %s: %v, want BAD_USER_INPUT that names the file", what, err)
		}
		unchanged(t, "a state "+what, cfg.StateFile, content)
	}
	for i := range whole {
		for _, bit := range []int{0, 1, 3, 5, 6} {
			content := append([]byte(nil), whole...)
			content[i] ^= 1 << bit
			refused(fmt.Sprintf("with bit %d of byte %d flipped", bit, i), content)
		}
		if i < len(whole)-1 { // the last is a newline
			refused(fmt.Sprintf("of its first %d bytes", i), whole[:i])
		}
	}
	refused("twice", append(append([]byte(nil), whole...), whole...))
	refused("that is too long", make([]byte, maxState+1))
	refused("of another kind", []byte(`{"format":"context-manager/witness/v2","checkpoints":{}}`))
	refused("without checkpoints", []byte(`{"format":"context-manager/witness/v1"}`))
	refused("with something more", []byte(`{"format":"context-manager/witness/v1","checkpoints":{},"more":1}`))
	refused("that names a log twice", []byte(`{"format":"context-manager/witness/v1","checkpoints":{"a":"b","a":"b"}}`))
	refused("with another log's checkpoint", []byte(strings.Replace(string(whole), `"log.example.org"`, `"other.example.org"`, 1)))
	writeFile(t, cfg.StateFile, whole)
	if err := reopen(cfg); err != nil {
		t.Errorf("Open with the state as it was: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	log, other := sealtest.New(t, "log.example.org").Grow(3), sealtest.New(t, "other.example.org").Grow(3)
	renewed := strings.Replace(sealtest.New(t, "log.example.org2").Public, "2+", "+", 1) // with the id of another name
	for _, test := range []struct {
		name   string
		change func(cfg *Config)
		want   fault.Code
		says   string
	}{
		{"a missing state", func(cfg *Config) { _ = os.Remove(cfg.StateFile) }, fault.BadUserInput, "is missing"},
		{"another witness's state", func(cfg *Config) { cfg.KeyFile = used(t, log).KeyFile }, fault.BadUserInput, "not cosigned by"},
		{"a missing key", func(cfg *Config) { _ = os.Remove(cfg.KeyFile) }, fault.BadUserInput, "not cosigned by"},
		{"a damaged key", func(cfg *Config) { _ = os.WriteFile(cfg.KeyFile, []byte("x"), 0o600) }, fault.BadUserInput, cfg0},
		{"a key that cannot be read", func(cfg *Config) { cfg.KeyFile = filepath.Dir(cfg.KeyFile) }, fault.Unavailable, "cannot read"},
		{"a state that cannot be read", func(cfg *Config) { _ = os.Remove(cfg.StateFile); _ = os.Mkdir(cfg.StateFile, 0o700) }, fault.Unavailable, "cannot read"},
		{"no folder for the state", func(cfg *Config) { cfg.StateFile += "/x/y" }, fault.Unavailable, "cannot lock"},
		{"another name", func(cfg *Config) { cfg.Name = "witness.example.org/2" }, fault.BadUserInput, "witness.example.org/1"},
		{"no logs", func(cfg *Config) { cfg.Logs = nil }, fault.BadUserInput, "--log"},
		{"no key of a log", func(cfg *Config) { cfg.Logs = []string{"log.example.org"} }, fault.BadUserInput, "--log"},
		{"a log twice", func(cfg *Config) { cfg.Logs = append(cfg.Logs, log.Public) }, fault.BadUserInput, "twice"},
		{"a key with another's id", func(cfg *Config) { cfg.Logs = []string{renewed} }, fault.BadUserInput, "--log"},
		{"no name at the first start", func(cfg *Config) { *cfg = setup(t, log); cfg.Name = "" }, fault.BadUserInput, "--name"},
		{"a name with a blank", func(cfg *Config) { *cfg = setup(t, log); cfg.Name = "a b" }, fault.BadUserInput, "--name"},
		{"a name with a +", func(cfg *Config) { *cfg = setup(t, log); cfg.Name = "a+b" }, fault.BadUserInput, "--name"},
	} {
		cfg := used(t, log)
		test.change(&cfg)
		says := strings.ReplaceAll(test.says, cfg0, cfg.KeyFile)
		if err := reopen(cfg); fault.CodeOf(err) != test.want || !strings.Contains(err.Error(), says) {
			t.Errorf("Open with %s: %v, want %s that says %q", test.name, err, test.want, says)
		}
	}
	// A log that is no longer named keeps its place.
	cfg := used(t, log)
	cfg.Logs = []string{other.Public}
	w := run(t, cfg)
	w.add(other, 0, 2)
	w.stop()
	cfg.Logs = append(cfg.Logs, log.Public)
	cfg.Name = ""
	if got := run(t, cfg).size(log); got != 3 {
		t.Errorf("a log that is named again has size %d, want 3", got)
	}
}

// cfg0 stands for the name of the key's file.
const cfg0 = "KEYFILE"

func TestOneProcessAState(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	w := run(t, setup(t, log))
	if err := reopen(w.cfg); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second Open: %v, want CONFLICT", err)
	}
	w.add(log, 0, 3)
	for _, path := range []string{w.cfg.StateFile, w.cfg.KeyFile} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want it only for its owner", path, info.Mode(), err)
		}
	}
}

// A witness that dies at its first start is begun again.
func TestFirstStartBrokenOff(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	cfg := setup(t, log)
	if err := reopen(cfg); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(cfg.KeyFile); err != nil { // as if it had not come to that
		t.Fatal(err)
	}
	run(t, cfg).add(log, 0, 3)
}

// What is not on disk is not answered, and what is on disk though its write failed harms nothing.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	failure := errors.New("no space left on device")
	for name, write := range map[string]func(path, content string) error{
		"and nothing is written": func(string, string) error { return failure },
		"and it is written":      func(path, content string) error { return errors.Join(failure, sealfile.Replace(path, content)) },
		"in the middle": func(path, content string) error {
			return errors.Join(failure, os.WriteFile(filepath.Join(filepath.Dir(path), ".state-1"), []byte(content[:40]), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := sealtest.New(t, "log.example.org").Grow(30)
			fork := log.Fork(10, "fork").Grow(30)
			w := run(t, setup(t, log))
			w.add(log, 0, 10)
			good := w.state.write
			w.state.write = write
			status, _, text := w.post(request(10, log.Consistency(10, 20), log.Checkpoint(20)))
			if status != http.StatusServiceUnavailable || strings.Contains(text, "—") {
				t.Errorf("a write fails: %d %q, want 503 and no signature", status, text)
			}
			if _, err := w.Cosign(t.Context(), 10, log.Consistency(10, 20), log.Checkpoint(20)); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("a write fails: %v, want UNAVAILABLE", err)
			}
			if got := w.size(log); got != 10 {
				t.Errorf("after a failed write the size is %d, want 10", got)
			}
			// Nobody has seen a cosignature of 20 leaves, so that another history may be the one.
			w.state.write = good
			w.add(fork, 10, 25)
			w.stop()
			again := run(t, w.cfg)
			if got := again.size(log); got != 25 {
				t.Errorf("after a restart the size is %d, want 25", got)
			}
			again.add(fork, 25, 30)
		})
	}
}

// Whatever of a failed write is on disk, a witness that starts from it goes on.
func TestFailedWriteThenRestart(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(30)
	w := run(t, setup(t, log))
	w.add(log, 0, 10)
	w.state.write = func(path, content string) error {
		return errors.Join(errors.New("input/output error"), sealfile.Replace(path, content))
	}
	if _, err := w.Cosign(t.Context(), 10, log.Consistency(10, 20), log.Checkpoint(20)); err == nil {
		t.Fatal("a checkpoint is cosigned whose write failed")
	}
	w.stop()
	again := run(t, w.cfg)
	if got := again.size(log); got != 20 {
		t.Errorf("the size is %d, want the 20 that are on disk", got)
	}
	again.add(log, 20, 30)
}
