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

// python runs docs/verify.py, and gives whether it finds the file valid, and what it says. It is told to optimize, which
// leaves out what is only asserted.
func python(t testing.TB, text []byte, key string) (valid bool, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", "-O", "../../docs/verify.py", writeFile(t, "export.jsonl", text), writeFile(t, "log.pub", []byte(key)))
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

// Both verifiers refuse a note with a line of somebody unknown that is no signature, and take one that is.
func TestPythonReadsLines(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(vectors, "export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(vectors, "log.pub"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "— example.org/test-witness ")
	signature, after, ended := strings.Cut(rest, `\n`)
	if !found || !ended {
		t.Fatal("no line of a witness is in the file")
	}
	for name, changed := range map[string]string{
		"as it is": signature, "no base64": "!" + signature[1:], "no padding": strings.TrimRight(signature, "="),
		"padding within": signature[:4] + "=" + signature[5:], "more padding": signature + "=", "four bytes": signature[:4] + "AA==",
		"five bytes": signature[:4] + "AAA=", "bits behind the end": signature[:4] + "AAB=", "nothing": "", "two signatures": signature + " " + signature,
		"a carriage return": signature[:8] + `\r` + signature[8:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := []byte(before + "— example.org/test-witness " + changed + `\n` + after)
			want := check(t, file, Pins{Key: string(key)}, Options{}).Valid
			if valid, said := python(t, file, string(key)); valid != want {
				t.Errorf("docs/verify.py: %t, %s, and this verifier: %t", valid, said, want)
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
