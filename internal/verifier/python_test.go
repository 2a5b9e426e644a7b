package verifier

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// python runs docs/verify.py, and gives whether it finds the file valid, and what it says.
func python(t testing.TB, text []byte, key string) (valid bool, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", "../../docs/verify.py", writeFile(t, "export.jsonl", text), writeFile(t, "log.pub", []byte(key)))
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 && !strings.Contains(string(out), "Traceback") {
		return false, string(out)
	}
	if err != nil {
		t.Fatalf("docs/verify.py: %v\n%s", err, out)
	}
	return true, string(out)
}

// The verifier in another language finds what this one finds: all but what its page says that it leaves out.
func TestPython(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	valid, said := python(t, file(t, s.lines(true)), pins(t).Key)
	if !valid || said != "valid: 9 messages of 3 sessions, all of the 9 that "+origin+" has sealed\n" {
		t.Errorf("the sample: %t, %s", valid, said)
	}
	valid, said = python(t, file(t, drop("booking", 4)(s, s.lines(false))), pins(t).Key)
	if !valid || !strings.Contains(said, "8 messages of 3 sessions, some of the 9") {
		t.Errorf("a part of the sample: %t, %s", valid, said)
	}
	for _, c := range slices.Concat(tamperings(), formTamperings()) {
		if !c.python {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, p := c.file(t)
			if valid, said := python(t, text, p.Key); valid {
				t.Errorf("docs/verify.py finds no break: %s", said)
			} else {
				t.Log(said)
			}
		})
	}
}

func writeFile(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
