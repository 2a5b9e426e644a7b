package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// What is appended is sealed, tile after tile, and each message can be proved.
func TestSeal(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, stop := s.start(t, s.config())
	var all []chain.Message
	for i := range 4 {
		drafts := make([]chain.Draft, 150+i)
		for j := range drafts {
			drafts[j] = draft(fmt.Sprint(j%7), fmt.Sprint(i, j))
		}
		all = append(all, mustAppend(t, store, drafts...)...)
		s.untilSealed(t, sealer)
	}
	s.proves(t, store, sealer.Policy(), all)
	stop()
	store, sealer, _ = s.start(t, s.config())
	all = append(all, mustAppend(t, store, draft("0", "after"))...)
	s.untilSealed(t, sealer)
	s.proves(t, store, sealer.Policy(), all)
}

// Nothing of the tree changes or goes, not even in replica mode.
func TestSealIsImmutable(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	fillLog(t, s.admin, 300)
	config := s.config()
	config.Witnesses = []db.Witness{startWitness(t, s)}
	store, sealer, stop := s.start(t, config)
	s.untilWitnessed(t, store, sealer)
	stop()
	columns := map[string]string{
		"leaves": "message_hash", "tiles": "hashes", "trees": "root", "logs": "public_key", "checkpoints": "note", "cosignatures": "line",
	}
	for table, column := range columns {
		for _, sql := range []string{"UPDATE seal.TABLE SET COLUMN = COLUMN", "DELETE FROM seal.TABLE", "TRUNCATE seal.TABLE CASCADE"} {
			sql = strings.NewReplacer("TABLE", table, "COLUMN", column).Replace(sql)
			for _, role := range []string{"origin", "replica"} {
				mustExec(t, s.admin, "SET session_replication_role = "+role)
				if _, err := s.admin.Exec(t.Context(), sql); sqlState(err) != "CM004" {
					t.Errorf("%s, as %s: %v, want CM004", sql, role, err)
				}
			}
		}
		if n := value[int](t, s.admin, "SELECT count(*) FROM seal."+table); n == 0 {
			t.Errorf("seal.%s is empty", table)
		}
	}
}

// proves checks every message's proof, and the consistency of all checkpoints, one after the other.
func (s *sealed) proves(t *testing.T, store *db.DB, policy seal.Policy, messages []chain.Message) {
	t.Helper()
	places := make([]db.Place, len(messages))
	for i, m := range messages {
		places[i] = db.Place{Session: m.SessionHash, Sequence: m.Sequence}
	}
	proofs, err := store.Proofs(t.Context(), places)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range messages {
		leaf := seal.Leaf{Session: m.SessionHash, Sequence: m.Sequence, Message: m.Hash}
		inclusion, err := seal.CheckInclusion(proofs[i].Proof, leaf, policy)
		if err != nil || inclusion.Index != proofs[i].Index || proofs[i].Message != m.Hash || !proofs[i].Covered {
			t.Fatalf("the proof of message %d: %+v, %v", i, proofs[i], err)
		}
	}
	rows, err := store.Checkpoints(t.Context(), db.Page[db.CheckpointKey]{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	newer := rows.Items[0].Value
	for _, item := range rows.Items {
		older := item.Value
		if older.Origin != newer.Origin {
			break
		}
		proof, err := store.ConsistencyProof(t.Context(), older.Size, newer.Size)
		if err == nil {
			err = seal.CheckConsistency(proof, older.Head, newer.Head)
		}
		if err != nil {
			t.Errorf("consistency of %d with %d: %v", newer.Size, older.Size, err)
		}
		newer = older
	}
}
