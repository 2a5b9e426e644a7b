package seal_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// signText signs any text as a log.
func signText(t *testing.T, text string, signers ...note.Signer) string {
	t.Helper()
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

// renamed signs with another's name.
type renamed struct {
	note.Signer
	name string
}

func (r renamed) Name() string { return r.name }

func TestSign(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	root := log.Head(3).Root
	want := "log.example.org\n3\n" + base64.StdEncoding.EncodeToString(root[:]) + "\n\n— log.example.org "
	if got := log.Checkpoint(3); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 5 {
		t.Errorf("Sign = %q, want %q and a signature", got, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	other := sealtest.New(t, "other.example.org").Grow(3)
	hash := base64.StdEncoding.EncodeToString(bytesOf([]chain.Hash{log.Head(3).Root})[0])
	empty := base64.StdEncoding.EncodeToString(bytesOf([]chain.Hash{chain.Sum(nil)})[0])
	body := "log.example.org\n3\n" + hash + "\n"
	sign := func(text string) string { return signText(t, text, log.Signer) }
	for name, text := range map[string]string{
		"nothing":                         "",
		"no signature":                    body,
		"an empty block of signatures":    body + "\n",
		"another log's":                   other.Checkpoint(3),
		"another log's key":               signText(t, body, other.Signer),
		"another log's key in its name":   signText(t, body, renamed{other.Signer, "log.example.org"}),
		"the log's key under other name":  signText(t, body, renamed{log.Signer, "other.example.org"}),
		"another origin":                  sign("other.example.org\n3\n" + hash + "\n"),
		"an origin with a blank":          sign("log.example.org \n3\n" + hash + "\n"),
		"an extension":                    sign(body + "more\n"),
		"an empty line":                   sign(body + "\n"),
		"an empty line first":             sign("\n" + body),
		"no root":                         sign("log.example.org\n3\n"),
		"a short root":                    sign("log.example.org\n3\nAAAA\n"),
		"a long root":                     sign("log.example.org\n3\nAAAA" + hash + "\n"),
		"a root without padding":          sign("log.example.org\n3\n" + strings.TrimSuffix(hash, "=") + "\n"),
		"a root's last bits":              sign("log.example.org\n3\n" + hash[:42] + string(hash[42]+1) + "=\n"),
		"size 03":                         sign("log.example.org\n03\n" + hash + "\n"),
		"size +3":                         sign("log.example.org\n+3\n" + hash + "\n"),
		"size -3":                         sign("log.example.org\n-3\n" + hash + "\n"),
		"size 3.0":                        sign("log.example.org\n3.0\n" + hash + "\n"),
		"size with a blank":               sign("log.example.org\n3 \n" + hash + "\n"),
		"size 2⁶² + 1":                    sign("log.example.org\n4611686018427387905\n" + hash + "\n"),
		"size 2⁶³":                        sign("log.example.org\n9223372036854775808\n" + hash + "\n"),
		"size 2⁶⁴":                        sign("log.example.org\n18446744073709551616\n" + hash + "\n"),
		"an empty tree with leaves' root": sign("log.example.org\n0\n" + hash + "\n"),
		"too long":                        log.Checkpoint(3) + strings.Repeat("— x AAAAAAAA\n", seal.MaxNote/14+1),
		"a signature's last bits":         lastBits(log.Checkpoint(3)),
		"a signature cut":                 cutSignature(log.Checkpoint(3)),
	} {
		if c, err := seal.Open(text, log.Policy()); err == nil {
			t.Errorf("Open, %s = %+v, want an error", name, c)
		}
	}
	for name, text := range map[string]string{
		"an empty tree":        sign("log.example.org\n0\n" + empty + "\n"),
		"the largest":          sign("log.example.org\n4611686018427387904\n" + hash + "\n"),
		"and an unknown key's": log.Checkpoint(3) + "— someone AAAAAAAAAAAA\n",
		"and another log's":    signText(t, body, other.Signer, log.Signer),
	} {
		if _, err := seal.Open(text, log.Policy()); err != nil {
			t.Errorf("Open, %s: %v", name, err)
		}
	}
}

// lastBits changes bits of the last letter of a signature that its bytes do not have.
func lastBits(text string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	end := strings.TrimRight(text, "=\n")
	last := strings.IndexByte(letters, end[len(end)-1])
	return end[:len(end)-1] + string(letters[last^1]) + text[len(end):]
}

// cutSignature takes the last three bytes of a signature.
func cutSignature(text string) string {
	return strings.TrimRight(text, "=\n")[:len(strings.TrimRight(text, "=\n"))-3] + "\n"
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	one, two, three := sealtest.NewWitness(t, "w/1"), sealtest.NewWitness(t, "w/2"), sealtest.NewWitness(t, "w/3")
	plain, older := log.Checkpoint(3), log.Checkpoint(2)
	forged := strings.Replace(two.Cosign(plain), "w/2", "w/1", 1)
	for _, test := range []struct {
		name   string
		lines  []string
		quorum int
		want   int // cosignatures; -1 for an error
	}{
		{"none of none", nil, 0, 0},
		{"none of one", nil, 1, -1},
		{"one of one", []string{one.Cosign(plain)}, 1, 1},
		{"one of two", []string{one.Cosign(plain)}, 2, -1},
		{"one twice", []string{one.Cosign(plain), one.Cosign(plain)}, 2, -1},
		{"two of two", []string{two.Cosign(plain), one.Cosign(plain)}, 2, 2},
		{"two, and one is enough", []string{one.Cosign(plain), two.Cosign(plain)}, 1, 2},
		{"one and a stranger", []string{one.Cosign(plain), three.Cosign(plain)}, 2, -1},
		{"one and another checkpoint's", []string{one.Cosign(plain), two.Cosign(older)}, 1, -1},
		{"another's signature in the name of one", []string{forged}, 1, -1},
	} {
		policy := log.Policy(one, two)
		policy.Quorum = test.quorum
		c, err := seal.Open(seal.WithCosignatures(plain, test.lines...), policy)
		if (err != nil) != (test.want < 0) || err == nil && len(c.Cosignatures) != test.want {
			t.Errorf("Open, %s = %d cosignatures, %v, want %d", test.name, len(c.Cosignatures), err, test.want)
		}
	}
}

// cosignAt signs a checkpoint as a witness would at a time.
func cosignAt(t *testing.T, name, checkpoint string, at uint64) string {
	t.Helper()
	text, _, _ := strings.Cut(checkpoint, "\n\n")
	seed := sha256.Sum256([]byte("witness " + name)) // as sealtest has it
	key := ed25519.NewKeyFromSeed(seed[:])
	id := binary.BigEndian.AppendUint32(nil, sealtest.NewWitness(t, name).Signer.KeyHash())
	signature := ed25519.Sign(key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s\n", at, text))
	return "— " + name + " " + base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(id, at), signature...)) + "\n"
}

func TestTimeOfCosignature(t *testing.T) {
	t.Parallel()
	log, one := sealtest.New(t, "log.example.org").Grow(3), sealtest.NewWitness(t, "w/1")
	plain := log.Checkpoint(3)
	for at, want := range map[uint64]bool{
		0: true, 1_700_000_000: true, 253402300799: true, 253402300800: false, 1<<63 - 1: false, 1 << 63: false, 1<<64 - 1: false,
	} {
		line := cosignAt(t, "w/1", plain, at)
		c, err := seal.Open(plain+line, log.Policy(one))
		if (err == nil) != want {
			t.Errorf("Open with a cosignature of second %d: %v, want %v", at, err, want)
		}
		if err == nil && (c.Cosignatures[0].At != time.Unix(int64(at), 0).UTC() || c.Cosignatures[0].Line != line || c.Cosignatures[0].Witness != "w/1") {
			t.Errorf("cosignature = %+v, want second %d and %q", c.Cosignatures[0], at, line)
		}
		if got, err := seal.OpenCosignature(plain, line, one.Signer.Verifier()); (err == nil) != want || err == nil && got != c.Cosignatures[0] {
			t.Errorf("OpenCosignature of second %d = %+v, %v, want %v", at, got, err, want)
		}
	}
}

func TestOpenCosignature(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	one, two := sealtest.NewWitness(t, "w/1"), sealtest.NewWitness(t, "w/2")
	plain := log.Checkpoint(3)
	fresh, stale := cosignAt(t, "w/1", plain, 200), cosignAt(t, "w/1", plain, 100)
	for _, test := range []struct {
		name, checkpoint, answer string
		want                     string // line; empty for an error
	}{
		{"the line", plain, fresh, fresh},
		{"after another's", plain, two.Cosign(plain) + fresh, fresh},
		{"anew", plain + stale, fresh, fresh},
		{"none, where there was one", plain + stale, "", ""},
		{"another's alone", plain, two.Cosign(plain), ""},
		{"nothing", plain, "", ""},
		{"no newline", plain, strings.TrimSuffix(fresh, "\n"), ""},
		{"another checkpoint's", plain, cosignAt(t, "w/1", log.Checkpoint(2), 200), ""},
		{"a whole note", plain, signText(t, "log.example.org\n3\nx\n", one.Signer), ""},
		{"a line of text", plain, "sorry\n", ""},
		{"too long", plain, strings.Repeat(fresh, seal.MaxNote/len(fresh)), ""},
		{"last bits", plain, lastBits(fresh), ""},
	} {
		got, err := seal.OpenCosignature(test.checkpoint, test.answer, one.Signer.Verifier())
		if (err != nil) != (test.want == "") || err == nil && got.Line != test.want {
			t.Errorf("OpenCosignature, %s = %+v, %v, want %q", test.name, got, err, test.want)
		}
	}
	// An answer that continues the text is signed as a whole, and is none of the checkpoint.
	text, _, _ := strings.Cut(plain, "\n\n")
	whole := signText(t, text+"\n\nmore\n", one.Signer)
	if got, err := seal.OpenCosignature(plain, strings.TrimPrefix(whole, text+"\n\n"), one.Signer.Verifier()); err == nil {
		t.Errorf("OpenCosignature of a longer text = %+v, want an error", got)
	}
}
