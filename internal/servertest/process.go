package servertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startLimit is how long the server may take to be ready on a busy machine, its first start included, or to end.
const startLimit = 2 * time.Minute

// Process is a server that runs.
type Process struct {
	URL     string // of its root, without a slash at the end
	Token   string // the administrator's
	DataDir string

	t      testing.TB
	cmd    *exec.Cmd
	output output
	done   chan struct{} // closed when it has ended
}

// output keeps what a process prints. Safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// Output gives what the server has printed.
func (p *Process) Output() string {
	p.output.mu.Lock()
	defer p.output.mu.Unlock()
	return p.output.text.String()
}

// Start serves with settings of the form "NAME=value", and returns when the server is ready. It is stopped when the
// test ends.
func (b *Binary) Start(t testing.TB, dataDir string, settings ...string) *Process {
	t.Helper()
	p := &Process{t: t, cmd: b.Command(dataDir), DataDir: dataDir, done: make(chan struct{})}
	p.cmd.Env = append(p.cmd.Env, settings...)
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := p.watch(stdout)
	t.Cleanup(func() { p.Signal(syscall.SIGTERM); p.End() })
	select {
	case p.URL = <-address:
	case <-p.done:
		t.Fatalf("the server ended:\n%s", p.Output())
	case <-time.After(startLimit):
		t.Fatalf("the server did not start:\n%s", p.Output())
	}
	token, err := os.ReadFile(filepath.Join(dataDir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	p.Token = strings.TrimSpace(string(token))
	if status, body := p.Get("/readyz"); status != http.StatusOK { // its listener is open before it serves, and waits
		t.Fatalf("GET /readyz = %d %s, want 200", status, body)
	}
	return p
}

// watch keeps what the server prints, and gives its address once it prints that.
func (p *Process) watch(stdout io.Reader) <-chan string {
	console := regexp.MustCompile(`Console: (http://[^/]+)/`)
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			_, _ = p.output.Write([]byte(lines.Text() + "\n"))
			if m := console.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
		_ = p.cmd.Wait() // once all is read
		close(p.done)
	}()
	return address
}

// Signal sends a signal to the server alone.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// End waits until the server has ended, and gives its exit code; -1 if a signal ended it.
func (p *Process) End() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(startLimit):
		_ = p.cmd.Process.Kill()
		p.t.Errorf("the server does not end:\n%s", p.Output())
		<-p.done
	}
	return p.cmd.ProcessState.ExitCode()
}

// DatabaseURL gives the address of the server's database, as its superuser.
func (p *Process) DatabaseURL() string {
	p.t.Helper()
	url, err := os.ReadFile(filepath.Join(p.DataDir, "postgres.url"))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(url))
}

// Get gives the status and the body of a page, without a token.
func (p *Process) Get(path string) (status int, body string) {
	p.t.Helper()
	return p.get(path, "")
}

// GetAsAdmin is Get with the administrator's token.
func (p *Process) GetAsAdmin(path string) (status int, body string) {
	p.t.Helper()
	return p.get(path, p.Token)
}

func (p *Process) get(path, token string) (status int, body string) {
	p.t.Helper()
	request, err := http.NewRequest(http.MethodGet, p.URL+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatalf("GET %s: %v\n%s", path, err, p.Output())
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// Ask asks the API as the administrator, and reads the data into data. The error says whatever went wrong, on the way
// or in the answer.
func (p *Process) Ask(ctx context.Context, query string, variables, data any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+p.Token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return errors.New(answer.Errors[0].Message)
	}
	return json.Unmarshal(answer.Data, data)
}

// Append appends messages, each an object of MessageInput, and gives their hashes once they are acknowledged.
func (p *Process) Append(ctx context.Context, messages ...map[string]any) ([]string, error) {
	var data struct {
		AppendMessages []struct{ Hash string }
	}
	err := p.Ask(ctx, `mutation($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }`,
		map[string]any{"m": messages}, &data)
	hashes := make([]string, len(data.AppendMessages))
	for i, m := range data.AppendMessages {
		hashes[i] = m.Hash
	}
	return hashes, err
}
