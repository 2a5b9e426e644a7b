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
	newest   int64               // the largest size that a look which has ended saw
	tried    map[[2]int64]bool   // sizes whose checkpoints were held against each other
	problems []string
}

// observe pins the key of a server and looks at its checkpoints until the stage is cleared.
func (s *stage) observe(ctx context.Context, v *server) (*observer, error) {
	status, key := v.get(ctx, "/log.pub", 5*time.Second)
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("/log.pub answers %d: %w", status, err)
	}
	o := newObserver(v, verifier)
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

func newObserver(v *server, key note.Verifier) *observer {
	return &observer{v: v, client: v.client(1), heads: map[int64]seal.Head{}, tried: map[[2]int64]bool{},
		policy: seal.Policy{Origin: key.Name(), Log: key}}
}

// look keeps the checkpoint that is served now.
func (o *observer) look(ctx context.Context) {
	o.mu.Lock()
	before := o.newest
	o.mu.Unlock()
	status, text := o.v.get(ctx, "/checkpoint", 5*time.Second)
	if status != http.StatusOK {
		return
	}
	o.see(text+"\n", before)
}

// see holds a checkpoint against the others of its size, and against the largest size that was seen before it was asked
// for: a log never steps back.
func (o *observer) see(text string, before int64) {
	c, err := seal.Open(text, o.policy)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.problems = append(o.problems, fmt.Sprintf("a checkpoint that the pinned key did not sign: %v", err))
		return
	}
	if same, ok := o.heads[c.Size]; ok && same != c.Head {
		o.problems = append(o.problems, fmt.Sprintf("two checkpoints of %d", c.Size))
	}
	if c.Size < before {
		o.problems = append(o.problems, fmt.Sprintf("a checkpoint of %d after one of %d", c.Size, before))
	}
	o.heads[c.Size] = c.Head
	o.newest = max(o.newest, c.Size)
}

// seen is how many checkpoints were served.
func (o *observer) seen() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.heads)
}

// consistent looks once more, asks for the proof between each checkpoint and the next, where it has none yet, and gives all
// that was ever wrong. One that was seen late and is small is held against both its neighbours.
func (o *observer) consistent(ctx context.Context) []string {
	o.look(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	sizes := slices.Sorted(maps.Keys(o.heads))
	for i := 1; i < len(sizes); i++ {
		pair := [2]int64{sizes[i-1], sizes[i]}
		if o.tried[pair] {
			continue
		}
		if err := o.prove(ctx, o.heads[pair[0]], o.heads[pair[1]]); err != nil {
			o.problems = append(o.problems, fmt.Sprintf("from %d to %d: %v", pair[0], pair[1], err))
		}
		o.tried[pair] = true
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
