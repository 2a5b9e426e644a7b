package verifier

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
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

// Each way of tampering is named for what it is, and nothing else is.
func TestTampering(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(tamperings(), formTamperings()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, p := c.file(t)
			r := check(t, text, p, Options{})
			if r.Valid || r.Complete || len(r.Breaks) != int(r.Found) {
				t.Errorf("CheckExport = %+v, want breaks", r)
			}
			got := make([]string, len(r.Breaks))
			for i, b := range r.Breaks {
				got[i] = string(b.Reason) + ": " + b.Detail
			}
			if !slices.EqualFunc(got, c.want, matches) {
				t.Errorf("breaks:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A part of a log is valid, and said to be a part.
func TestPart(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	lines := slices.DeleteFunc(s.lines(false), func(l object) bool { return l["sessionHash"] == s.named("lunch")[0].SessionHash })
	r := check(t, file(t, lines), pins(t), Options{})
	if !r.Valid || r.Complete || r.Leaves != 7 || r.Messages != 7 || fmt.Sprint(r.Missing) != "[4 7]" {
		t.Errorf("CheckExport = %+v, want a valid part without the leaves 4 and 7", r)
	}
	if r := check(t, file(t, lines), pins(t), Options{Complete: true}); r.Valid || r.Breaks[0].Detail != "2 leaves of the tree are not in the file" {
		t.Errorf("with Complete: CheckExport = %+v, want that two leaves are not there", r)
	}
}

// Without the list of leaves, a file that has all messages is complete, too.
func TestAllWithoutLeaves(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	if r := check(t, file(t, s.lines(false)), pins(t), Options{Complete: true}); !r.Valid || !r.Complete {
		t.Errorf("CheckExport = %+v, want that it is complete", r)
	}
}

// A checkpoint that was kept shows one that is older, and one that does not extend it.
func TestOlder(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	text := file(t, s.lines(true))
	for _, c := range []struct {
		name   string
		size   int64
		change bool
		want   string
	}{
		{"the same", 9, false, ""}, {"extended", 6, false, ""}, {"one message", 1, false, ""},
		{"replayed", 10, false, "ROOT_MISMATCH: the checkpoint is of 9 messages, and the one that was kept of 10: it is an older one"},
		{"of the same size", 9, true, "ROOT_MISMATCH: the log has signed two trees of 9 messages"},
		{"not extended", 6, true, "ROOT_MISMATCH: the tree does not extend the one of 6 messages that was kept"},
	} {
		_, head := grow(t, s.leaves()[:min(c.size, 9)])
		head.Size = c.size
		if c.change {
			head.Root = other
		}
		r := check(t, text, pins(t), Options{Older: &seal.Checkpoint{Head: head}})
		got := ""
		if len(r.Breaks) > 0 {
			got = string(r.Breaks[0].Reason) + ": " + r.Breaks[0].Detail
		}
		if !strings.HasPrefix(got, c.want) || r.Valid != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Every byte of a proof counts.
func TestProofBytes(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.witness = ""
	s.seal()
	p := pins(t)
	p.Witnesses, p.Quorum = nil, 0
	m := s.named("lunch")[1]
	proof := []byte(*m.proof)
	for i := range proof {
		changed := bytes.Clone(proof)
		changed[i] ^= 1
		text := string(changed)
		m.proof = &text
		c := &checker{policy: policyOf(t, p), chains: chain.NewVerifier(), tree: new(seal.Tree)}
		c.checkProof(m, m.Hash, false)
		if c.broken.found == 0 {
			t.Errorf("byte %d (%q) altered: no break", i, proof[i])
		}
	}
}

// What is no entry of an export is named with its line, and what is behind it is checked still.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	text := file(t, s.lines(true))
	first := string(text[:bytes.IndexByte(text, '\n')])
	message := string(file(t, []object{line(s.named("lunch")[1])}))
	for _, c := range []struct{ name, line string }{
		{"nothing", ""}, {"no JSON", "{"}, {"no object", "[]"}, {"null", "null"}, {"two objects", "{} {}"},
		{"a field twice", strings.Replace(message, `"sequence":2`, `"sequence":2,"sequence":2`, 1)},
		{"a field of another format", strings.Replace(message, `"sequence":2`, `"sequence":2,"Sequence":2`, 1)},
		{"text that is not UTF-8", strings.Replace(message, "Salad", "Sal\xff", 1)},
		{"half a surrogate", strings.Replace(message, "Salad", `\ud800`, 1)},
		{"a number out of range", strings.Replace(message, `"sequence":2`, `"sequence":9223372036854775808`, 1)},
		{"a number with a point", strings.Replace(message, `"sequence":2`, `"sequence":2.0`, 1)},
		{"an importance out of range", strings.Replace(message, `"importance":0`, `"importance":65536`, 1)},
		{"a hash in capitals", strings.Replace(message, `"ownerId":"`, `"ownerId":"A`, 1)},
		{"a time of another form", strings.Replace(message, `.000001Z`, `.000001+00:00`, 1)},
		{"a type in small letters", strings.Replace(message, `"MESSAGE"`, `"message"`, 1)},
		{"no hash", strings.Replace(message, `"hash"`, `"label"`, 1)},
		{"two entries", strings.Replace(first, `{"record"`, `{"content":"x","record"`, 1)},
		{"a line that is too long", `{"content":"` + strings.Repeat("x", MaxLine) + `"}`},
		{"leaves of no length", `{"leaves":{"first":0,"entries":""}}`},
		{"leaves that are none", `{"leaves":{"first":0,"entries":"AAAA"}}`},
		{"leaves from before", `{"leaves":{"first":-1,"entries":"AAAA"}}`},
	} {
		if c.line == message || c.line == first {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		changed := first + "\n" + strings.TrimSuffix(c.line, "\n") + "\n" + string(text[len(first)+1:])
		r := check(t, []byte(changed), pins(t), Options{})
		if r.Found != 1 || r.Breaks[0].Reason != Unreadable || r.Breaks[0].Line != 2 || r.Messages != 9 || r.Leaves != 9 {
			t.Errorf("%s: CheckExport = %+v, want that line 2 is unreadable, and nine messages", c.name, r)
		}
	}
}

// A last line without its end is a line.
func TestLastLine(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	s.seal()
	text := bytes.TrimSuffix(file(t, s.lines(true)), []byte("\n"))
	if r := check(t, text, pins(t), Options{}); !r.Valid || !r.Complete {
		t.Errorf("CheckExport = %+v, want it complete", r)
	}
}

func FuzzExport(f *testing.F) {
	s := newSample(f)
	s.seal()
	f.Add(file(f, s.lines(true)))
	for _, c := range tamperings() {
		text, _ := c.file(f)
		f.Add(text)
	}
	policy := policyOf(f, pins(f))
	whole := file(f, s.lines(true))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := CheckExport(t.Context(), bytes.NewReader(text), policy, Options{Complete: true})
		if err != nil {
			t.Fatal(err)
		}
		// Whatever else a valid file says, it says the same nine messages.
		if r.Valid && (r.Messages != 9 || r.Leaves != 9 || !r.Complete) {
			t.Errorf("a file is valid that is not the log's:\n%s\n\nThe log's:\n%s", text, whole)
		}
	})
}

// FuzzParse looks for a line that is read in another way than it is written: what it says must come out the same when
// it is written anew.
func FuzzParse(f *testing.F) {
	s := newSample(f)
	s.seal()
	for _, l := range s.lines(true) {
		f.Add(bytes.TrimSuffix(file(f, []object{l}), []byte("\n")))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := parse(text)
		if err != nil || first.message == nil {
			return
		}
		again, err := parse(bytes.TrimSuffix(file(t, []object{line(first.message)}), []byte("\n")))
		if err != nil || again.message == nil || !bytes.Equal(again.message.Preimage(), first.message.Preimage()) || again.message.Hash != first.message.Hash {
			t.Errorf("%s is read as another message when it is written anew: %v", text, err)
		}
	})
}
