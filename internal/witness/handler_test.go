package witness

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

func TestCosignsWhatGrows(t *testing.T) {
	t.Parallel()
	one, two := sealtest.New(t, "log.example.org/1").Grow(40), sealtest.New(t, "log.example.org/2").Grow(40)
	cfg := setup(t, one, two)
	w := run(t, cfg)
	if got := w.size(one); got != 0 {
		t.Errorf("a new witness has size %d, want 0", got)
	}
	w.add(one, 0, 1)
	w.add(one, 1, 1) // the same again
	w.add(two, 0, 17)
	w.add(one, 1, 7)
	w.add(one, 7, 40)
	w.stop()

	again := run(t, cfg)
	if again.PublicKey() != w.PublicKey() {
		t.Errorf("after a restart the key is %s, want %s", again.PublicKey(), w.PublicKey())
	}
	if a, b := again.size(one), again.size(two); a != 40 || b != 17 {
		t.Errorf("after a restart the sizes are %d and %d, want 40 and 17", a, b)
	}
	again.add(one, 40, 40)
	again.add(two, 17, 32)
	_, text := get(t, again.URL+"/checkpoint/"+chain.Sum([]byte("log.example.org/1")).String())
	if _, err := seal.Open(text, seal.Policy{Origin: "log.example.org/1", Log: one.Verifier(), Witnesses: []note.Verifier{again.Key}, Quorum: 1}); err != nil {
		t.Errorf("the latest checkpoint = %q: %v", text, err)
	}
	if status, text := get(t, again.URL+"/witness.pub"); status != http.StatusOK || text != again.PublicKey()+"\n" {
		t.Errorf("GET /witness.pub = %d %q, want the key", status, text)
	}
}

// The empty tree is a tree, too.
func TestCosignsNothing(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	w := run(t, setup(t, log))
	w.add(log, 0, 0)
	w.add(log, 0, 3)
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(40)
	fork, stranger := log.Fork(10, "fork").Grow(40), sealtest.New(t, "other.example.org").Grow(40)
	usurper := sealtest.New(t, "usurper.example.org").Grow(40)
	w := run(t, setup(t, log))
	w.add(log, 0, 20)
	was := readFile(t, w.cfg.StateFile)
	plain, from20 := log.Checkpoint(30), log.Consistency(20, 30)
	body, signature, _ := strings.Cut(plain, "\n\n")
	_, others, _ := strings.Cut(log.Checkpoint(29), "\n\n")
	resign := func(text string, signer note.Signer) string {
		signed, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		return string(signed)
	}
	for _, test := range []struct {
		name, body string
		want       int
		size       string // in the answer to a conflict
	}{
		{"an old checkpoint replayed, from nothing", request(0, nil, log.Checkpoint(7)), 409, "20"},
		{"an old checkpoint replayed, from its own time", request(3, log.Consistency(3, 7), log.Checkpoint(7)), 409, "20"},
		{"a rollback to what it had", request(7, nil, log.Checkpoint(7)), 409, "20"},
		{"a rollback from what it has", request(20, nil, log.Checkpoint(7)), 400, ""},
		{"a rollback, and on as another", request(10, fork.Consistency(10, 30), fork.Checkpoint(30)), 409, "20"},
		{"a fork of the same size", request(20, nil, fork.Checkpoint(20)), 409, "20"},
		{"a fork of the same size, with a proof", request(20, fork.Consistency(10, 20), fork.Checkpoint(20)), 409, "20"},
		{"a fork that is longer", request(20, fork.Consistency(20, 30), fork.Checkpoint(30)), 422, ""},
		{"a fork that is longer, with the log's proof", request(20, from20, fork.Checkpoint(30)), 422, ""},
		{"a log begun anew", request(0, nil, fork.Checkpoint(30)), 409, "20"},
		{"the wrong old size", request(19, log.Consistency(19, 30), plain), 409, "20"},
		{"an old size of nothing", request(0, nil, plain), 409, "20"},
		{"an old size larger than the checkpoint's", request(31, nil, plain), 400, ""},
		{"no proof", request(20, nil, plain), 422, ""},
		{"another proof", request(20, log.Consistency(19, 30), plain), 422, ""},
		{"a proof and a hash more", request(20, append(from20[:len(from20):len(from20)], chain.Hash{}), plain), 422, ""},
		{"a proof where none is needed", request(20, from20, log.Checkpoint(20)), 422, ""},
		{"a checkpoint of nothing", request(0, nil, log.Checkpoint(0)), 409, "20"},
		{"an unknown log", request(0, nil, stranger.Checkpoint(30)), 404, ""},
		{"no signature", request(20, from20, body+"\n"), 400, ""},
		{"a stripped signature", request(20, from20, resign(body+"\n", stranger.Signer)), 403, ""},
		{"a forged signature", request(20, from20, body+"\n\n"+others), 403, ""},
		{"another key in the log's name", request(20, from20, resign(body+"\n", named{usurper.Signer, "log.example.org"})), 403, ""},
		{"the log's key in another name", request(20, from20, resign(body+"\n", named{log.Signer, "other.example.org"})), 403, ""},
		{"another root", request(20, from20, strings.Replace(plain, "\n30\n", "\n31\n", 1)), 403, ""},
		{"an extension line", request(20, from20, resign(body+"\nmore\n", log.Signer)), 400, ""},
		{"an origin with a blank", request(20, from20, " "+plain), 404, ""},
		{"a signature in other letters", request(20, from20, body+"\n\n"+strings.Replace(signature, "— ", "- ", 1)), 400, ""},
		{"no checkpoint", request(20, from20, ""), 404, ""},
		{"nothing", "", 400, ""},
		{"no old size", plain, 400, ""},
		{"an old size in other digits", request("020", from20, plain), 400, ""},
		{"a negative old size", request("-0", from20, plain), 400, ""},
		{"a huge old size", request("9223372036854775808", from20, plain), 400, ""},
		{"a word for a size", request("twenty", from20, plain), 400, ""},
		{"two blanks", request(" 20", from20, plain), 400, ""},
		{"Windows's newlines", strings.ReplaceAll(request(20, from20, plain), "\n", "\r\n"), 400, ""},
		{"a proof line that is none", "old 20\nAAAA\n\n" + plain, 400, ""},
		{"64 proof lines", request(20, make([]chain.Hash, 64), plain), 400, ""},
		{"63 proof lines", request(20, make([]chain.Hash, 63), plain), 422, ""},
		{"a huge body", request(20, from20, plain+strings.Repeat("— x AAAAAAAA\n", 1<<20)), 413, ""},
		{"a huge line", "old " + strings.Repeat("1", 1<<20), 413, ""},
		{"a long checkpoint", request(20, nil, plain+strings.Repeat("— x AAAAAAAA\n", seal.MaxNote/15)), 400, ""},
	} {
		status, contentType, text := w.post(test.body)
		if status != test.want {
			t.Errorf("%s: %d %q, want %d", test.name, status, text, test.want)
		}
		if conflict := status == 409; conflict && (text != test.size+"\n" || contentType != sizeType) || !conflict && contentType == sizeType {
			t.Errorf("%s: %d %q, a %s", test.name, status, text, contentType)
		}
		if strings.Contains(text, "—") {
			t.Errorf("%s: is answered with a signature: %q", test.name, text)
		}
		unchanged(t, test.name, w.cfg.StateFile, was)
	}
	w.add(log, 20, 40)
}

// named signs in another's name.
type named struct {
	note.Signer
	name string
}

func (n named) Name() string { return n.name }

func TestOtherPages(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	w := run(t, setup(t, log))
	w.add(log, 0, 3)
	sum := chain.Sum([]byte("log.example.org")).String()
	for path, want := range map[string]int{
		"/": 404, "/add-checkpoint": 405, "/checkpoint/": 404, "/checkpoint/" + sum: 200, "/checkpoint/" + strings.ToUpper(sum): 404,
		"/checkpoint/" + sum + "/": 404, "/checkpoint/log.example.org": 404, "/checkpoint/" + chain.Sum(nil).String(): 404,
		"/checkpoint/" + sum[1:]: 404, "/witness.pub/": 404, "/key": 404,
	} {
		if status, text := get(t, w.URL+path); status != want {
			t.Errorf("GET %s = %d %q, want %d", path, status, text, want)
		}
	}
}

// What strangers add to a checkpoint is neither kept nor served.
func TestStrangersSignaturesAreNotKept(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(3)
	w := run(t, setup(t, log))
	status, _, text := w.post(request(0, nil, log.Checkpoint(3)+strings.Repeat("— stranger AAAAAAAAAAAA\n", 50)))
	if status != http.StatusOK || strings.Count(text, "\n") != 1 {
		t.Errorf("with strangers' signatures: %d %q, want one line", status, text)
	}
	if state := string(readFile(t, w.cfg.StateFile)); strings.Contains(state, "stranger") {
		t.Errorf("the state keeps strangers' signatures: %s", state)
	}
}

func TestSizeError(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(20)
	w := run(t, setup(t, log))
	w.add(log, 0, 13)
	_, err := w.Cosign(t.Context(), 5, log.Consistency(5, 20), log.Checkpoint(20))
	size, ok := errors.AsType[*SizeError](err)
	if !ok || size.Size != 13 || size.Witness != "witness.example.org/1" {
		t.Fatalf("Cosign from another size: %v, want a SizeError of 13", err)
	}
	w.add(log, int(size.Size), 20)
	if !strings.Contains(size.Error(), strconv.Itoa(13)) {
		t.Errorf("SizeError says %q", size)
	}
}
