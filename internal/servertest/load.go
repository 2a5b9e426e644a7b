package servertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tzzr/context-manager/internal/chain"
)

// Load is what writers got acknowledged. Safe for concurrent use.
type Load struct {
	writers sync.WaitGroup
	arrived chan struct{} // one for each, as long as somebody asks

	mu      sync.Mutex
	content map[string]string // by hash
}

// Load starts writers that append one message after the other, each with content of its own, until the server is
// gone. The first hot of them share the session that is the SHA-256 of "hot"; the others have one each. Every other
// one gives idempotency keys.
func (p *Process) Load(name string, writers, hot int) *Load {
	l := &Load{content: map[string]string{}, arrived: make(chan struct{}, writers)}
	for w := range writers {
		session := fmt.Sprintf("session %d", w)
		if w < hot {
			session = "hot"
		}
		owner := chain.Sum(fmt.Appendf(nil, "owner %d", w)).String()
		l.writers.Go(func() {
			for i := 0; ; i++ {
				content := fmt.Sprintf("%s load, writer %d, message %d", name, w, i)
				message := map[string]any{
					"sessionHash": chain.Sum([]byte(session)).String(), "ownerId": owner, "content": content,
				}
				if w%2 == 0 {
					message["idempotencyKey"] = content
				}
				hashes, err := p.Append(context.Background(), message)
				if err != nil {
					return // the server is gone, or going
				}
				l.add(hashes[0], content)
			}
		})
	}
	go func() { l.writers.Wait(); close(l.arrived) }()
	return l
}

func (l *Load) add(hash, content string) {
	l.mu.Lock()
	l.content[hash] = content
	l.mu.Unlock()
	select {
	case l.arrived <- struct{}{}:
	default:
	}
}

// Until returns once at least n messages are acknowledged, or the server is gone.
func (l *Load) Until(n int) {
	for range l.arrived {
		l.mu.Lock()
		enough := len(l.content) >= n
		l.mu.Unlock()
		if enough {
			return
		}
	}
}

// Wait gives the content of what was acknowledged, by hash, once the writers have ended.
func (l *Load) Wait() map[string]string {
	l.writers.Wait()
	return l.content
}

// KillPostgres ends the server's private Postgres with SIGKILL.
func (p *Process) KillPostgres() { p.t.Helper(); p.signalPostgres(syscall.SIGKILL) }

// StopPostgres ends the server's private Postgres as pg_ctl stop -m immediate does: all its processes at once, without
// a checkpoint.
func (p *Process) StopPostgres() { p.t.Helper(); p.signalPostgres(syscall.SIGQUIT) }

func (p *Process) signalPostgres(s syscall.Signal) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.DataDir, "postgres", "postmaster.pid"))
	if err != nil {
		p.t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err == nil {
		err = syscall.Kill(pid, s)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
