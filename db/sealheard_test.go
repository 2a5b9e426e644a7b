package db_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
	"github.com/tzzr/context-manager/internal/witness"
)

// gate is the way to a witness, which may be closed.
type gate struct {
	db.Cosigner
	closed atomic.Bool
}

func (g *gate) Cosign(ctx context.Context, old int64, proof []chain.Hash, checkpoint string) (seal.Cosignature, error) {
	if g.closed.Load() {
		return seal.Cosignature{}, fault.New(fault.Unavailable, "the gate is closed")
	}
	return g.Cosigner.Cosign(ctx, old, proof, checkpoint)
}

// Where the file was rolled back along with the database, only a witness knows. What it says refuses the tree: before
// anything is signed, if it is reached by then, and else once it is. With an administrator's word the log goes on.
func TestOnlyTheWitnessKnows(t *testing.T) {
	t.Parallel()
	const name = "the witness witness.example.org has cosigned a tree of 20 messages of this log"
	tests := []struct {
		name   string
		meets  int    // messages in the log when the witness is reached again; 0: it is all the time
		want   string // in the reason, besides the witness and its size
		anew   bool   // the database is a new one, and there is no file
		signed int64  // the largest that may be signed
	}{
		{"at the start", 0, ", and 10 are signed here", false, 10},
		{"a new database", 0, ", and 0 are signed here", true, 0},
		{"a shorter tree, later", 15, ", and 15 are signed here", false, 15},
		{"another tree of that size, later", 20, "with another root than this one of 20 (409)", false, 20},
		{"a longer tree, later", 25, "is not the beginning of this one of 25 (422)", false, 25},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			config := s.config()
			w := startWitness(t, s)
			g := &gate{Cosigner: w.Cosigner}
			w.Cosigner = g
			config.Witnesses = []db.Witness{w}
			store, sealer, stop := s.start(t, config)
			s.fill(t, store, sealer, "a")
			s.untilWitnessed(t, store, sealer)
			s.remember(t)
			file, err := os.ReadFile(config.Checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			s.fill(t, store, sealer, "b")
			s.untilWitnessed(t, store, sealer)
			stop()
			if tt.anew {
				s.url = dbtest.New(t)
				s.admin = superuser(t, s.url)
				err = os.Remove(config.Checkpoint)
			} else {
				s.restore(t)
				err = sealfile.Replace(config.Checkpoint, string(file))
			}
			if err != nil {
				t.Fatal(err)
			}
			s.roots = map[string]seal.Head{} // what was signed is signed again
			g.closed.Store(tt.meets > 0)
			store, sealer, _ = s.start(t, config)
			if tt.meets == 0 {
				mustAppend(t, store, draft("c", "1"))
			}
			for i := 10; i < tt.meets; i++ {
				mustAppend(t, store, draft("c", fmt.Sprint(i)))
				s.untilSealed(t, sealer)
			}
			if tt.meets > 0 {
				s.until(t, "the witness is missed", func() bool { return sealer.State().Witnesses[0].Problem == "the gate is closed" })
				if state := sealer.State(); state.Condition != db.Sealing || state.Problem != "" {
					t.Errorf("with a witness that is not reached: %+v, want that all is well", state)
				}
			}
			g.closed.Store(false)
			state := s.untilCondition(t, sealer, db.Refused)
			if !contains(state.Problem, name, tt.want) || state.Witnesses[0].Problem != state.Problem {
				t.Errorf("problem = %q, the witness's %q, want %q and %q", state.Problem, state.Witnesses[0].Problem, name, tt.want)
			}
			if err := sealer.Ready(); err == nil || !contains(err.Error(), state.Problem) {
				t.Errorf("Ready() = %v, want the reason", err)
			}
			g.closed.Store(true) // what was heard holds
			mustAppend(t, store, draft("later", "1"))
			report, err := store.VerifyLog(t.Context(), nil)
			if err != nil || len(report.Breaks) != 1 || report.Breaks[0].Reason != chain.RootMismatch || report.Breaks[0].Detail != state.Problem {
				t.Errorf("VerifyLog() = %+v, %v, want what the witness says", report.Breaks, err)
			}
			if n := value[int64](t, s.admin, "SELECT COALESCE(max(size), 0) FROM seal.checkpoints"); n != tt.signed {
				t.Errorf("%d messages are signed, want %d", n, tt.signed)
			}
			if _, err := sealer.Accept(t.Context(), "the disk of Monday"); err != nil {
				t.Fatal(err)
			}
			g.closed.Store(false) // it does not know the new name
			mustAppend(t, store, draft("later", "2"))
			s.untilSealed(t, sealer)
			if state := sealer.State(); state.Problem != "" || state.Origin != "example.org/log/2" {
				t.Errorf("after the administrator's word: %+v", state)
			}
		})
	}
}

// A witness that does not cosign, whatever else it says, keeps nobody from sealing, and is not the log's problem.
func TestWitnessesThatRefuse(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			config := s.config()
			w := startWitness(t, s)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
			t.Cleanup(server.Close)
			client := *w.Cosigner.(*witness.Client)
			client.URL = server.URL
			w.Cosigner = &client
			config.Witnesses = []db.Witness{w}
			store, sealer, _ := s.start(t, config)
			s.fill(t, store, sealer, "a")
			s.until(t, "the witness's problem shows", func() bool {
				return contains(sealer.State().Witnesses[0].Problem, fmt.Sprint(status))
			})
			if state := sealer.State(); state.Condition != db.Sealing || state.Problem != "" || sealer.Ready() != nil {
				t.Errorf("state = %+v, want that all is well", state)
			}
		})
	}
}

// A bare answer stops nothing: whoever stands between may give it. It is believed with what the witness signed.
func TestAnAnswerIsNoEvidence(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"422":           {http.StatusUnprocessableEntity, "no\n"},
		"a larger size": {http.StatusConflict, "1000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			config := s.config()
			w := startWitness(t, s)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/x.tlog.size")
				w.WriteHeader(answer.status)
				_, _ = w.Write([]byte(answer.body)) // also to who asks what it cosigned
			}))
			t.Cleanup(server.Close)
			client := *w.Cosigner.(*witness.Client)
			client.URL = server.URL
			w.Cosigner = &client
			config.Witnesses = []db.Witness{w}
			store, sealer, _ := s.start(t, config)
			s.fill(t, store, sealer, "a")
			s.until(t, "what it says is told", func() bool {
				return contains(sealer.State().Witnesses[0].Problem, "that is not believed, since nothing that the witness signed shows it")
			})
			mustAppend(t, store, draft("b", "1"))
			s.untilSealed(t, sealer)
			if state := sealer.State(); state.Condition != db.Sealing || state.Problem != "" || sealer.Ready() != nil {
				t.Errorf("state = %+v, %v, want that all is well", state, sealer.Ready())
			}
		})
	}
}
