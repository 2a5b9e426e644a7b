package witness

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// childEnv makes the test's program a witness: its value is the state file, the key file and the log's key, and the step
// of which write it dies at, each in a line.
const childEnv = "WITNESS_TEST_CHILD"

// Steps of a write at which a witness dies.
const (
	never  = "never"
	before = "before anything is written"
	half   = "with half of the content in the temporary file"
	whole  = "with the content in the temporary file"
	after  = "with the file in its place"
)

// child serves until it is killed, or dies by itself at a step of the write that the environment says.
func child() {
	fields := strings.Split(os.Getenv(childEnv), "\n")
	w, err := Open(Config{StateFile: fields[0], KeyFile: fields[1], Name: "witness.example.org/1", Logs: fields[2:3]}, slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Println("cannot open:", err)
		os.Exit(1)
	}
	w.state.write = dyingWrite(fields[3], fields[4])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("cannot listen:", err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr(), w.PublicKey())
	_ = http.Serve(listener, w.Handler())
}

// dyingWrite writes as ever, until it kills the process at a step of one of the writes.
func dyingWrite(step, which string) func(path, content string) error {
	left, _ := strconv.Atoi(which)
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	return func(path, content string) error {
		if left--; left > 0 || step == never {
			return sealfile.Replace(path, content)
		}
		temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-123")
		switch step {
		case half:
			_ = os.WriteFile(temporary, []byte(content[:len(content)/2]), 0o600)
		case whole:
			_ = os.WriteFile(temporary, []byte(content), 0o600)
		case after:
			_ = sealfile.Replace(path, content)
		}
		die()
		return nil
	}
}

// process is a witness in a process of its own.
type process struct {
	*Client
	cmd *exec.Cmd
}

func start(t *testing.T, cfg Config, step string, which int) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{cfg.StateFile, cfg.KeyFile, cfg.Logs[0], step, strconv.Itoa(which)}, "\n"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	line, _ := bufio.NewReader(out).ReadString('\n')
	addr, vkey, ok := strings.Cut(strings.TrimSpace(line), " ")
	if p.Client, err = NewClient("http://"+addr, vkey); !ok || err != nil {
		t.Fatalf("the witness says %q", line)
	}
	return p
}

// kill ends the process at once, wherever it is.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func TestKilledAtEachStepOfAWrite(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]int64{before: 10, half: 10, whole: 10, after: 30} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			log := sealtest.New(t, "log.example.org").Grow(40)
			cfg := setup(t, log)
			p := start(t, cfg, step, 2)
			if _, err := p.Cosign(t.Context(), 0, nil, log.Checkpoint(10)); err != nil {
				t.Fatal(err)
			}
			if c, err := p.Cosign(t.Context(), 10, log.Consistency(10, 30), log.Checkpoint(30)); fault.CodeOf(err) != fault.Unavailable {
				t.Fatalf("a witness that dies answers %+v, %v", c, err)
			}
			_ = p.cmd.Wait()

			w := run(t, cfg)
			if got := w.size(log); got != want {
				t.Errorf("killed %s, the witness has size %d, want %d", step, got, want)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(cfg.StateFile), ".*")); len(left) > 0 {
				t.Errorf("killed %s, the witness leaves %v", step, left)
			}
			w.add(log, int(want), 40)
		})
	}
}

// Killed again and again wherever it just is, a witness never forgets what it has answered, and never damages its state.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	const rounds, most = 12, 2000
	log := sealtest.New(t, "log.example.org").Grow(most)
	cfg := setup(t, log)
	acknowledged := 0
	for round := range rounds {
		p := start(t, cfg, never, 0)
		deadAt := acknowledged + 1 + rand.IntN(20)
		for old := acknowledged; ; {
			if old >= deadAt && p.cmd.ProcessState == nil {
				go func() { _ = p.cmd.Process.Kill() }() // while the next requests are under way
				deadAt = most
			}
			size := min(old+1+rand.IntN(3), most)
			_, err := p.Cosign(t.Context(), int64(old), log.Consistency(old, size), log.Checkpoint(size))
			if other, ok := errors.AsType[*SizeError](err); ok {
				if other.Size < int64(acknowledged) {
					t.Fatalf("round %d: the witness has size %d, and has cosigned %d", round, other.Size, acknowledged)
				}
				old = int(other.Size) // what the killed one wrote and did not answer
				continue
			}
			if fault.CodeOf(err) == fault.Unavailable {
				break
			}
			if err != nil {
				t.Fatalf("round %d, %d to %d: %v", round, old, size, err)
			}
			old, acknowledged = size, size
		}
		p.kill()
	}
	w := run(t, cfg)
	if got := w.size(log); got < int64(acknowledged) {
		t.Errorf("at the end the witness has size %d, and has cosigned %d", got, acknowledged)
	}
	t.Logf("%d checkpoints cosigned, killed %d times", acknowledged, rounds)
}
