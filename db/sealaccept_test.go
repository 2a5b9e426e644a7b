package db_test

import (
	"path/filepath"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// Servers that share the key's file, each with a data directory of its own, all go on under the new name.
func TestAcceptedForAll(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	one, other := newSealed(t, url), newSealed(t, url)
	config := other.config()
	config.Key = one.config().Key
	store, first, _ := one.start(t, one.config())
	_, second, _ := other.start(t, config)
	leader := func() (*db.Sealer, *db.Sealer) {
		one.until(t, "one leads", func() bool { return first.State().Leading != second.State().Leading })
		if second.State().Leading {
			return second, first
		}
		return first, second
	}
	fill := func() {
		mustAppend(t, store, draft("s", "x"))
		leading, _ := leader()
		one.untilSealed(t, leading)
		one.until(t, "both have it", func() bool { return first.State().Outside.Head == second.State().Outside.Head })
	}
	fill()
	one.remember(t)
	fill()
	old := first.State()
	one.restore(t)
	one.untilCondition(t, first, db.Refused)
	one.untilCondition(t, second, db.Refused)
	_, standby := leader()
	if _, err := standby.Accept(t.Context(), "on a server that does not seal"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, draft("s", "y"))
	one.until(t, "both go on", func() bool {
		a, b := first.State(), second.State()
		return a.Condition == db.Sealing && b.Condition == db.Sealing && a.PublicKey == b.PublicKey && a.PublicKey != old.PublicKey &&
			a.Outside.Head == b.Outside.Head && a.Outside.Size == 2
	})
	for _, s := range []*sealed{one, other} {
		s.check(t, first.Policy())
		if aside, err := filepath.Glob(s.config().Checkpoint + ".*"); err != nil || len(aside) != 2 { // the old one, and the lock
			t.Errorf("aside: %q, %v", aside, err)
		}
	}
}

// A server that ended between the record of a new name and the change of its key goes on with that.
func TestAcceptInterrupted(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, stop := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	s.remember(t)
	s.fill(t, store, sealer, "b")
	s.restore(t)
	s.untilCondition(t, sealer, db.Refused)
	stop()
	right, err := sealfile.BeginSuccession(s.config().Key)
	if err != nil {
		t.Fatal(err)
	}
	next, err := right.Make("example.org/log/2")
	if err != nil {
		t.Fatal(err)
	}
	right.End()
	mustExec(t, s.admin, "INSERT INTO seal.logs (origin, public_key, reason) VALUES ($1, $2, 'interrupted')", next.Name(), next.Public)
	store, sealer, _ = s.start(t, s.config())
	mustAppend(t, store, draft("c", "1"))
	s.until(t, "it goes on", func() bool { return sealer.State().PublicKey == next.Public })
	s.untilSealed(t, sealer)
}
