package db_test

import (
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// What was erased before it was sealed, and what was erased after, is proved as it was written; so is each erasure.
func TestEraseKeepsProofs(t *testing.T) {
	t.Parallel()
	early, url := open(t)
	all := mustAppend(t, early, draft("s", "first"), secret("s"), draft("t", "third"))
	all = append(all, mustErase(t, early, all[0].Hash))
	s := newSealed(t, url)
	store, sealer, _ := s.start(t, s.config())
	s.untilSealed(t, sealer)
	s.proves(t, store, sealer.Policy(), all)

	target := all[1]
	before, err := store.Proofs(t.Context(), []db.Place{{Session: target.SessionHash, Sequence: target.Sequence}})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, mustErase(t, store, target.Hash), mustErase(t, store, all[2].Hash))
	left := read(t, store, target.Hash)
	leaf := seal.Leaf{Session: left.SessionHash, Sequence: left.Sequence, Message: left.ComputeHash()}
	if _, err := seal.CheckInclusion(before[0].Proof, leaf, sealer.Policy()); err != nil {
		t.Errorf("the proof that was given before the erasure: %v", err)
	}
	s.untilSealed(t, sealer)
	s.proves(t, store, sealer.Policy(), all)
	wantLog(t, store, 3)

	// The seal covers the record of an erasure: without it, both the content and the record are missed.
	mustExec(t, s.admin, "ALTER TABLE log.messages DISABLE TRIGGER immutable; ALTER TABLE log.message_refs DISABLE TRIGGER immutable")
	mustExec(t, s.admin, "DELETE FROM log.message_refs WHERE message_hash = $1", all[5].Hash)
	mustExec(t, s.admin, "DELETE FROM log.messages WHERE hash = $1", all[5].Hash)
	log, err := store.VerifyLog(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[chain.BreakReason]bool{}
	for _, b := range log.Breaks {
		reasons[b.Reason] = true
	}
	if !reasons[chain.HashMismatch] || !reasons[chain.MissingTail] {
		t.Errorf("with the record of an erasure cut off, breaks = %s, want %s and %s", words(log.Breaks), chain.HashMismatch, chain.MissingTail)
	}
}
