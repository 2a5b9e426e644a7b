package chaos

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// observer is somebody outside who pinned the log's key before the faults, and keeps every checkpoint that it was
// served. Safe for concurrent use.
type observer struct {
	v      *server
	client *client
	policy seal.Policy

	mu       sync.Mutex
	heads    map[int64]seal.Head // by size
	proven   int64               // checkpoints up to this size extend each other
	problems []string
}

// observe pins the key of a server and looks at its checkpoints until the stage is cleared.
func (s *stage) observe(ctx context.Context, v *server) (*observer, error) {
	status, key := v.get(ctx, "/log.pub", 5*time.Second)
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("/log.pub answers %d: %w", status, err)
	}
	o := &observer{v: v, client: v.client(1), heads: map[int64]seal.Head{},
		policy: seal.Policy{Origin: verifier.Name(), Log: verifier}}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, 100*time.Millisecond) == nil {
			o.look(ctx)
		}
	}()
	s.later(func() { cancel(); <-done; o.client.http.CloseIdleConnections() })
	return o, nil
}

func (o *observer) look(ctx context.Context) {
	status, text := o.v.get(ctx, "/checkpoint", 5*time.Second)
	if status != http.StatusOK {
		return
	}
	o.see(text + "\n")
}

// see holds a checkpoint against the others of its size.
func (o *observer) see(text string) {
	c, err := seal.Open(text, o.policy)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.problems = append(o.problems, fmt.Sprintf("a checkpoint that the pinned key did not sign: %v", err))
		return
	}
	if before, ok := o.heads[c.Size]; ok && before != c.Head {
		o.problems = append(o.problems, fmt.Sprintf("two checkpoints of %d", c.Size))
	}
	o.heads[c.Size] = c.Head
}

// seen is how many checkpoints were served.
func (o *observer) seen() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.heads)
}

// consistent looks once more, asks for the proof between each checkpoint and the next, and gives all that was ever
// wrong.
func (o *observer) consistent(ctx context.Context) []string {
	o.look(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	sizes := slices.Sorted(maps.Keys(o.heads))
	for i := 1; i < len(sizes); i++ {
		if sizes[i] <= o.proven {
			continue
		}
		if err := o.prove(ctx, o.heads[sizes[i-1]], o.heads[sizes[i]]); err != nil {
			o.problems = append(o.problems, fmt.Sprintf("from %d to %d: %v", sizes[i-1], sizes[i], err))
			break
		}
		o.proven = sizes[i]
	}
	return slices.Clone(o.problems)
}

func (o *observer) prove(ctx context.Context, older, newer seal.Head) error {
	var data struct {
		Proof []string `json:"consistencyProof"`
	}
	if err := o.client.ask(ctx, "query($from: Int!, $to: Int!) { consistencyProof(from: $from, to: $to) }",
		map[string]any{"from": older.Size, "to": newer.Size}, &data); err != nil {
		return err
	}
	path := make([]chain.Hash, len(data.Proof))
	for i, line := range data.Proof {
		hash, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(hash) != len(path[i]) {
			return errors.Join(err, fmt.Errorf("%q is no hash", line))
		}
		path[i] = chain.Hash(hash)
	}
	return seal.CheckConsistency(path, older, newer)
}
