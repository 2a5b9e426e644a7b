package verifier

import (
	"bytes"
	"testing"
)

func check(t testing.TB, text []byte, p Pins, options Options) Report {
	t.Helper()
	report, err := CheckExport(t.Context(), bytes.NewReader(text), policyOf(t, p), options)
	if err != nil {
		t.Fatalf("CheckExport: %v", err)
	}
	return report
}

func TestWhole(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	r := check(t, file(t, s.lines(true)), pins(t), Options{Complete: true})
	if !r.Valid || !r.Complete || r.Sessions != 3 || r.Messages != 9 || r.Erased != 1 || r.Records != 1 || r.Leaves != 9 || len(r.Missing) != 0 {
		t.Errorf("CheckExport = %+v, want three sessions of nine messages, one erased, complete and without a break", r)
	}
	if c := r.Checkpoint; c == nil || c.Size != 9 || c.Origin != origin || len(c.Witnesses) != 1 {
		t.Errorf("Checkpoint = %+v, want that of nine messages with one witness", c)
	}
}
