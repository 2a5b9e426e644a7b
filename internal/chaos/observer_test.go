package chaos

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

// served is a server of one log's checkpoints, with proofs of whichever log is asked for.
type served struct {
	mu         sync.Mutex
	checkpoint string
	proves     *sealtest.Log
}

func (s *served) set(log *sealtest.Log, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkpoint, s.proves = log.Checkpoint(size), log
}

// ServeHTTP answers /checkpoint and consistencyProof.
func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/checkpoint" {
		fmt.Fprint(w, s.checkpoint)
		return
	}
	var asked struct {
		Variables struct {
			From int64 `json:"from"`
			To   int64 `json:"to"`
		} `json:"variables"`
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path, err := seal.ProveConsistency(asked.Variables.From, asked.Variables.To, s.proves)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.MarshalWrite(w, map[string]any{"data": map[string]any{"consistencyProof": seal.Base64(path)}}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// A log that shows two trees of one size, one that is no beginning of the others, one that is smaller than before, or one
// that another key signed, is found out, in whatever order it shows them.
func TestObserver(t *testing.T) {
	t.Parallel()
	log := sealtest.New(t, "example.org/log").Grow(20)
	foreign := sealtest.New(t, "example.org/other").Grow(20)
	fork := log.Fork(4, "fork").Grow(20)
	type look struct {
		log  *sealtest.Log
		size int
		race bool // it was asked for before the others were answered
	}
	for _, test := range []struct {
		name   string
		looks  []look
		proven bool // before the last look
		want   string
	}{
		{name: "one log", looks: []look{{log: log, size: 3}, {log: log, size: 3}, {log: log, size: 7}, {log: log, size: 20}}},
		{name: "two trees", looks: []look{{log: log, size: 6}, {log: fork, size: 6}}, want: "two checkpoints of 6"},
		{name: "another key", looks: []look{{log: foreign, size: 3}}, want: "did not sign"},
		{name: "no extension", looks: []look{{log: fork, size: 6}, {log: log, size: 9}}, want: "from 6 to 9"},
		{name: "a step back", looks: []look{{log: log, size: 9}, {log: log, size: 6}}, want: "a checkpoint of 6 after one of 9"},
		{name: "an answer that was overtaken", looks: []look{{log: log, size: 9}, {log: log, size: 6, race: true}}},
		{name: "a small tree of another log, seen late", looks: []look{{log: log, size: 3}, {log: log, size: 9}, {log: fork, size: 6, race: true}},
			proven: true, want: "from 6 to 9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			shown := &served{}
			listener := httptest.NewServer(shown)
			defer listener.Close()
			v := &server{addr: strings.TrimPrefix(listener.URL, "http://")}
			o := newObserver(v, log.Verifier())
			for i, l := range test.looks {
				if test.proven && i == len(test.looks)-1 {
					if found := o.consistent(t.Context()); len(found) > 0 {
						t.Fatalf("problems = %q before the last look", found)
					}
				}
				shown.set(l.log, l.size)
				if l.race {
					o.see(l.log.Checkpoint(l.size), 0)
				} else {
					o.look(t.Context())
				}
			}
			last := test.looks[0]
			for _, l := range test.looks { // what is served in the end is the largest
				if l.size > last.size {
					last = l
				}
			}
			if !strings.Contains(test.want, "after one of") {
				shown.set(last.log, last.size)
			}
			got := strings.Join(o.consistent(t.Context()), "; ")
			if !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("problems = %q, want %q", got, test.want)
			}
		})
	}
}
