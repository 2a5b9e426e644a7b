package witness

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// A witness need not be honest, nor one at all.
func TestClientRefusesAnswers(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "log.example.org").Grow(20)
	one, two := sealtest.NewWitness(t, "witness.example.org/1"), sealtest.NewWitness(t, "witness.example.org/2")
	checkpoint := log.Checkpoint(20)
	line := one.Cosign(checkpoint)
	for _, test := range []struct {
		name        string
		status      int
		contentType string
		body        string
		want        fault.Code // empty: it is cosigned
	}{
		{"a cosignature", 200, "", line, ""},
		{"with another's", 200, "", two.Cosign(checkpoint) + line, ""},
		{"of another content type", 200, "text/html", line, ""},
		{"another's alone", 200, "", two.Cosign(checkpoint), fault.Conflict},
		{"another's in the witness's name", 200, "", strings.Replace(two.Cosign(checkpoint), "/2", "/1", 1), fault.Conflict},
		{"of another checkpoint", 200, "", one.Cosign(log.Checkpoint(19)), fault.Conflict},
		{"nothing", 200, "", "", fault.Conflict},
		{"a page", 200, "text/html", "<p>Welcome</p>\n", fault.Conflict},
		{"half of it", 200, "", line[:40], fault.Conflict},
		{"too much", 200, "", strings.Repeat(line, seal.MaxNote/len(line)+2), fault.Conflict},
		{"very much too much", 200, "", strings.Repeat(line, 100_000), fault.Conflict},
		{"the size that was named", 409, sizeType, "10\n", fault.Conflict},
		{"a conflict without size", 409, sizeType, "", fault.Conflict},
		{"a negative size", 409, sizeType, "-1\n", fault.Conflict},
		{"a conflict of another type", 409, "text/plain", "13\n", fault.Conflict},
		{"403", 403, "", "", fault.Conflict},
		{"404", 404, "", "", fault.Conflict},
		{"422", 422, "", line, fault.Conflict},
		{"400", 400, "", "", fault.Conflict},
		{"elsewhere", 307, "", "", fault.Conflict},
		{"204", 204, "", "", fault.Conflict},
		{"429", 429, "", "", fault.Unavailable},
		{"500", 500, "", line, fault.Unavailable},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.URL.Path != "/prefix/add-checkpoint" {
				t.Errorf("%s %s is asked for", r.Method, r.URL)
			}
			w.Header().Set("Content-Type", test.contentType)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.body))
		}))
		client, err := NewClient(server.URL+"/prefix/", one.Public)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.Cosign(t.Context(), 10, log.Consistency(10, 20), checkpoint)
		if test.want == "" && (err != nil || c.Line != line || c.Witness != "witness.example.org/1") ||
			test.want != "" && (err == nil || fault.CodeOf(err) != test.want) {
			t.Errorf("%s: Cosign = %+v, %v, want %q", test.name, c, err, test.want)
		}
		fork, forked := errors.AsType[*ForkError](err)
		if forked != (test.status == 422) || forked && *fork != (ForkError{"witness.example.org/1", 10, 20}) {
			t.Errorf("%s: Cosign = %v, want a *ForkError of 10 and 20 for a 422 and nothing else", test.name, err)
		}
		server.Close()
	}
}

func TestClientCannotReach(t *testing.T) {
	t.Parallel()
	log, one := sealtest.New(t, "log.example.org").Grow(2), sealtest.NewWitness(t, "w/1")
	asked, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-release
	}))
	client, err := NewClient(server.URL, one.Public)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := client.Cosign(ctx, 0, nil, log.Checkpoint(2)); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a witness that does not answer: %v, want UNAVAILABLE", err)
	}
	close(release)
	server.Close()
	if _, err := client.Cosign(t.Context(), 0, nil, log.Checkpoint(2)); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a witness that has gone: %v, want UNAVAILABLE", err)
	}
	if client.http.Timeout != askLimit {
		t.Errorf("the client waits %v, want %v", client.http.Timeout, askLimit)
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	one, two := sealtest.NewWitness(t, "w/1").Public, sealtest.NewWitness(t, "w/2").Public
	same := strings.SplitN(one, "+", 3)[2] // one's key in another name
	key, _ := base64.StdEncoding.DecodeString(same)
	again := "w/3+" + keyID("w/3", key) + "+" + same
	log := sealtest.New(t, "w/4").Public
	for _, test := range []struct {
		name    string
		entries []string
		want    string // addresses
		err     string
	}{
		{"none", nil, "[]", ""},
		{"two", []string{"http://a.example.org:8081=" + one, " https://b.example.org/w/ =" + two}, "", "address"},
		{"with blanks around", []string{" https://a.example.org/w/=" + one + " ", "http://127.0.0.1:1=" + two}, "[https://a.example.org/w http://127.0.0.1:1]", ""},
		{"no key", []string{"http://a.example.org"}, "", "address=key"},
		{"an empty key", []string{"http://a.example.org="}, "", "key of a witness"},
		{"no address", []string{"=" + one}, "", "address"},
		{"a log's key", []string{"http://a.example.org=" + log}, "", "key of a witness"},
		{"another id", []string{"http://a.example.org=" + strings.Replace(one, "w/1", "w/5", 1)}, "", "miswritten"},
		{"a key cut short", []string{"http://a.example.org=" + one[:len(one)-4]}, "", "key of a witness"},
		{"a key with a carriage return", []string{"http://a.example.org=" + one[:20] + "\r" + one[20:]}, "", "key of a witness"},
		{"another scheme", []string{"ftp://a.example.org=" + one}, "", "address"},
		{"a name and password", []string{"http://a:b@a.example.org=" + one}, "", "address"},
		{"a query", []string{"http://a.example.org?x=" + one}, "", "address"},
		{"a name twice", []string{"http://a.example.org=" + one, "http://b.example.org=" + one}, "", "twice"},
		{"a key twice", []string{"http://a.example.org=" + one, "http://b.example.org=" + again}, "", "twice"},
	} {
		clients, err := ParseList(test.entries)
		addresses := []string{}
		for _, c := range clients {
			addresses = append(addresses, c.URL)
		}
		if test.err == "" && (err != nil || fmt.Sprint(addresses) != test.want) ||
			test.err != "" && (fault.CodeOf(err) != fault.BadUserInput || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("ParseList, %s = %v, %v, want %s, error %q", test.name, addresses, err, test.want, test.err)
		}
	}
}

// Keys are random, and their base64 has each letter at some time.
func TestKeysAreReadAgain(t *testing.T) {
	t.Parallel()
	for range 300 {
		secret, public := generateKey("witness.example.org/1")
		k, err := parseSecret(secret, public)
		if err != nil || k.signer.Name() != "witness.example.org/1" {
			t.Fatalf("parseSecret of a new key: %v", err)
		}
		verifier, err := ParseKey(public)
		if err != nil || verifier.KeyHash() != k.signer.KeyHash() {
			t.Fatalf("ParseKey(%s): %v", public, err)
		}
		if _, err := parseSecret(secret, sealtest.NewWitness(t, "witness.example.org/1").Public); err == nil {
			t.Fatal("a secret key passes with another public key")
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	log := sealtest.New(f, "log.example.org").Grow(20)
	f.Add(formatRequest(0, nil, log.Checkpoint(7)))
	f.Add(formatRequest(7, log.Consistency(7, 20), log.Checkpoint(20)))
	f.Add(formatRequest(7, make([]chain.Hash, 64), "\n\n"))
	f.Add("old 1\n\n")
	f.Add("old 01\n\nx")
	f.Add("old 1\n" + strings.Repeat("A", 20) + "\r" + strings.Repeat("A", 23) + "=\n\nx")
	f.Add("old 1\n" + strings.Repeat("A", 43) + "=\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		old, proof, checkpoint, err := parseRequest(text)
		if err == nil && (formatRequest(old, proof, checkpoint) != text || old < 0 || len(proof) > seal.MaxProofHashes) {
			t.Errorf("parseRequest(%q) = %d, %v, %q", text, old, proof, checkpoint)
		}
	})
}
