package witness

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// setup gives what a new witness of some logs is opened with.
func setup(t testing.TB, logs ...*sealtest.Log) Config {
	t.Helper()
	dir := t.TempDir()
	cfg := Config{StateFile: filepath.Join(dir, "state"), KeyFile: filepath.Join(dir, "key"), Name: "witness.example.org/1"}
	for _, log := range logs {
		cfg.Logs = append(cfg.Logs, log.Public)
	}
	return cfg
}

// running is a witness that serves.
type running struct {
	*Witness
	*Client
	t    testing.TB
	cfg  Config
	stop func()
}

// run opens a witness and serves it until the test ends, or stop.
func run(t testing.TB, cfg Config) *running {
	t.Helper()
	w, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.Handler())
	client, err := NewClient(server.URL, w.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Witness: w, Client: client, t: t, cfg: cfg, stop: func() {
		client.http.CloseIdleConnections()
		server.Close()
		w.Close()
	}}
	t.Cleanup(r.stop)
	return r
}

// add has a log's checkpoint cosigned.
func (r *running) add(log *sealtest.Log, old, size int) {
	r.t.Helper()
	checkpoint := log.Checkpoint(size)
	c, err := r.Cosign(r.t.Context(), int64(old), log.Consistency(old, size), checkpoint)
	if err != nil {
		r.t.Fatalf("Cosign %d to %d: %v", old, size, err)
	}
	policy := seal.Policy{Origin: log.Signer.Name(), Log: log.Verifier(), Quorum: 1}
	policy.Witnesses = append(policy.Witnesses, r.Key)
	if got, err := seal.Open(checkpoint+c.Line, policy); err != nil || got.Head != log.Head(size) {
		r.t.Fatalf("the cosigned checkpoint of %d = %+v, %v", size, got, err)
	}
}

// size gives the size that the witness says that it has.
func (r *running) size(log *sealtest.Log) int64 {
	r.t.Helper()
	status, text := get(r.t, r.URL+"/checkpoint/"+chain.Sum([]byte(log.Signer.Name())).String())
	if status == http.StatusNotFound {
		return 0
	}
	c, err := seal.Open(text, seal.Policy{Origin: log.Signer.Name(), Log: log.Verifier()})
	if err != nil {
		r.t.Fatalf("the witness's checkpoint = %d %q: %v", status, text, err)
	}
	return c.Size
}

// post sends a request as it is written.
func (r *running) post(body string) (status int, contentType, text string) {
	r.t.Helper()
	response, err := http.Post(r.URL+"/add-checkpoint", "text/plain", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Content-Type"), string(answer)
}

func get(t testing.TB, url string) (status int, text string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// unchanged fails the test unless a file is what it was.
func unchanged(t testing.TB, what, path string, was []byte) {
	t.Helper()
	if is := readFile(t, path); !bytes.Equal(is, was) {
		t.Errorf("%s: the state became %s, from %s", what, is, was)
	}
}

// request writes a request to add a checkpoint by itself.
func request(old any, proof []chain.Hash, checkpoint string) string {
	return fmt.Sprintf("old %v\n%s\n%s", old, strings.Join(append(seal.Base64(proof), ""), "\n"), checkpoint)
}
