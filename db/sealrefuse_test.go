package db_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// remember keeps what the log and the tree hold, and restore brings that back over whatever has come since, as the
// database's superuser can.
func (s *sealed) remember(t *testing.T) { mustExec(t, s.admin, rememberSQL) }
func (s *sealed) restore(t *testing.T)  { mustExec(t, s.admin, restoreSQL) }

const rememberSQL = `DO $$
DECLARE o RECORD;
BEGIN
	DROP SCHEMA IF EXISTS dump CASCADE;
	CREATE SCHEMA dump;
	FOR o IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('log', 'seal') LOOP
		EXECUTE format('CREATE TABLE dump.%I AS TABLE %I.%I', o.schemaname || '_' || o.tablename, o.schemaname, o.tablename);
	END LOOP;
END $$`

const restoreSQL = `DO $$
DECLARE o RECORD; everything TEXT;
BEGIN
	SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') INTO everything FROM pg_tables WHERE schemaname IN ('log', 'seal');
	FOR o IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('log', 'seal') LOOP
		EXECUTE format('ALTER TABLE %I.%I DISABLE TRIGGER ALL', o.schemaname, o.tablename);
	END LOOP;
	EXECUTE 'TRUNCATE ' || everything || ' CASCADE';
	FOR o IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('log', 'seal') LOOP
		EXECUTE format('INSERT INTO %I.%I OVERRIDING SYSTEM VALUE TABLE dump.%I', o.schemaname, o.tablename, o.schemaname || '_' || o.tablename);
	END LOOP;
	FOR o IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('log', 'seal') LOOP
		EXECUTE format('ALTER TABLE %I.%I ENABLE TRIGGER ALL', o.schemaname, o.tablename);
	END LOOP;
	PERFORM setval(pg_get_serial_sequence('seal.logs', 'id'), 100);
END $$`

// tamper runs SQL with the triggers of the seal's tables off.
func (s *sealed) tamper(t *testing.T, table, sql string, args ...any) {
	t.Helper()
	mustExec(t, s.admin, "ALTER TABLE seal."+table+" DISABLE TRIGGER ALL")
	mustExec(t, s.admin, sql, args...)
	mustExec(t, s.admin, "ALTER TABLE seal."+table+" ENABLE TRIGGER ALL")
}

// fill seals some messages and gives how many there are.
func (s *sealed) fill(t *testing.T, store *db.DB, sealer *db.Sealer, what string) {
	t.Helper()
	for i := range 5 {
		mustAppend(t, store, draft("s", fmt.Sprint(what, i)), draft(what, fmt.Sprint(i)))
		s.untilSealed(t, sealer)
	}
}

func (s *sealed) untilCondition(t *testing.T, sealer *db.Sealer, want db.SealCondition) db.SealState {
	t.Helper()
	s.until(t, "the condition is "+string(want), func() bool { return sealer.State().Condition == want })
	return sealer.State()
}

// A tree that does not extend what was signed before is not signed, and nothing more is taken into it; the log goes on
// being written. With an administrator's word it is sealed under another name.
func TestSealRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		running bool // the server runs while it happens
		do      func(s *sealed, t *testing.T)
		want    []string // in the reason
	}{
		{"rolled back while stopped", false, (*sealed).restore, []string{"the tree has 10 messages", "/checkpoint has 20"}},
		{"rolled back while running", true, (*sealed).restore, []string{"the tree has 10 messages", "/checkpoint has 20"}},
		{"a new database", false, func(s *sealed, t *testing.T) {
			s.url = dbtest.New(t)
			s.admin = superuser(t, s.url)
		}, []string{"the tree has 0 messages", "/checkpoint has 20"}},
		{"forked and longer, signed with the log's key", false, func(s *sealed, t *testing.T) {
			s.restore(t)
			forger := newSealed(t, s.url)
			config := forger.config()
			config.Key = s.config().Key
			store, sealer, stop := forger.start(t, config)
			for _, what := range []string{"c", "d"} {
				forger.fill(t, store, sealer, what)
			}
			stop()
		}, []string{"the tree of 30 messages had the root", " at 20, and the checkpoint in ", "/checkpoint has the root"}},
		{"a forged note", false, func(s *sealed, t *testing.T) {
			s.tamper(t, "checkpoints", "UPDATE seal.checkpoints SET note = replace(note, '20', '21') WHERE size = 20")
		}, []string{"the newest checkpoint in the database, of 20 messages, is not what the log's key signed"}},
		{"a stripped signature", false, func(s *sealed, t *testing.T) {
			s.tamper(t, "checkpoints", "UPDATE seal.checkpoints SET note = split_part(note, E'\\n\\n', 1) || E'\\n\\n' WHERE size = 20")
		}, []string{"the newest checkpoint in the database, of 20 messages, is not what the log's key signed"}},
		{"checkpoints kept, the rest rolled back", true, func(s *sealed, t *testing.T) {
			mustExec(t, s.admin, "DROP TABLE dump.seal_checkpoints")
			mustExec(t, s.admin, "CREATE TABLE dump.seal_checkpoints AS TABLE seal.checkpoints")
			s.restore(t)
		}, []string{"the tree has 10 messages", "the newest checkpoint in the database has 20"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			store, sealer, stop := s.start(t, s.config())
			s.fill(t, store, sealer, "a")
			s.remember(t)
			s.fill(t, store, sealer, "b")
			old := sealer.State()
			if !tt.running {
				stop()
			}
			tt.do(s, t)
			if !tt.running {
				store, sealer, _ = s.start(t, s.config())
			}
			state := s.untilCondition(t, sealer, db.Refused)
			if !contains(state.Problem, tt.want...) {
				t.Errorf("problem = %q, want it to say %q", state.Problem, tt.want)
			}
			if err := sealer.Ready(); err == nil || !strings.Contains(err.Error(), state.Problem) {
				t.Errorf("Ready() = %v, want the reason", err)
			}
			size := value[int64](t, s.admin, "SELECT COALESCE(max(size), 0) FROM seal.trees")
			mustAppend(t, store, draft("later", "1"))
			if _, err := sealer.Accept(t.Context(), ""); fault.CodeOf(err) != fault.BadUserInput {
				t.Errorf("Accept() without a reason = %v", err)
			}
			if got := value[int64](t, s.admin, "SELECT COALESCE(max(size), 0) FROM seal.trees"); got != size {
				t.Errorf("a refused tree grew from %d to %d", size, got)
			}
			s.accepts(t, sealer, old)
			mustAppend(t, store, draft("later", "2"))
			s.untilSealed(t, sealer)
			s.proves(t, store, sealer.Policy(), checkChains(t, store))
			store.Close() // and again after a restart
			store, sealer, _ = s.start(t, s.config())
			mustAppend(t, store, draft("later", "3"))
			s.untilSealed(t, sealer)
		})
	}
}

// accepts accepts the tree, and checks what is kept of the old name.
func (s *sealed) accepts(t *testing.T, sealer *db.Sealer, old db.SealState) {
	t.Helper()
	state, err := sealer.Accept(t.Context(), "the backup of Monday")
	if err != nil || state.Condition != db.Sealing || state.Problem != "" || state.Origin != "example.org/log/2" || state.PublicKey == old.PublicKey {
		t.Fatalf("Accept() = %+v, %v", state, err)
	}
	aside, err := os.ReadFile(s.config().Checkpoint + ".1")
	if err != nil || string(aside) != old.Outside.Text {
		t.Errorf("the old checkpoint = %q, %v, want %q", aside, err, old.Outside.Text)
	}
	if key, err := sealfile.LoadKey(s.config().Key+".1", ""); err != nil || key.Public != old.PublicKey {
		t.Errorf("the old key = %q, %v", key.Public, err)
	}
	var origin, reason, refused string
	if err := s.admin.QueryRow(t.Context(), "SELECT origin, reason, refused FROM seal.logs ORDER BY id DESC LIMIT 1").Scan(&origin, &reason, &refused); err != nil ||
		origin != state.Origin || reason != "the backup of Monday" && refused == "" {
		t.Errorf("on record: %q, %q, %q, %v", origin, reason, refused, err)
	}
	if _, err := sealer.Accept(t.Context(), "again"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("Accept() of what is not refused = %v, want CONFLICT", err)
	}
}

// A root that was recorded of a tree that was not signed yet binds as well.
func TestSealRecordedRoot(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, _ := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	s.tamper(t, "checkpoints", "DELETE FROM seal.checkpoints")
	s.tamper(t, "trees", "UPDATE seal.trees SET root = repeat('0', 64) WHERE size = 10")
	if state := s.untilCondition(t, sealer, db.Refused); !contains(state.Problem, "the tree of 10 messages has the root ", "was recorded with 0000") {
		t.Errorf("problem = %q", state.Problem)
	}
	if state, err := sealer.Accept(t.Context(), "it was me"); err != nil || state.Condition != db.Sealing {
		t.Errorf("Accept() = %+v, %v", state, err)
	}
	mustAppend(t, store, draft("s", "after"))
	s.until(t, "it goes on", func() bool { return sealer.State().Newest.Size == 11 })
}

// A tree whose tables were damaged is refused, and no word makes it whole.
func TestSealDamaged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, table, sql, want string
		running                bool // the server runs while it happens
	}{
		{"a leaf gone", "leaves", "DELETE FROM seal.leaves WHERE leaf_index = (SELECT max(leaf_index) FROM seal.leaves)", "its leaves go to", false},
		{"a leaf gone while running", "leaves", "DELETE FROM seal.leaves WHERE leaf_index = (SELECT max(leaf_index) FROM seal.leaves)", "its leaves go to", true},
		{"a leaf within gone", "leaves", "DELETE FROM seal.leaves WHERE leaf_index = 520", "of tile 2 of level 0", false},
		{"a tile gone", "tiles", "DELETE FROM seal.tiles WHERE n = 1", "of tile 0 of level 1", false},
		{"a tree gone", "trees", "DELETE FROM seal.trees WHERE size = (SELECT max(size) FROM seal.trees)", "its leaves go to", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			fillLog(t, s.admin, 600)
			store, sealer, stop := s.start(t, s.config())
			s.untilSealed(t, sealer)
			mustAppend(t, store, draft("s", "x"))
			s.untilSealed(t, sealer)
			if !tt.running {
				stop()
			}
			s.tamper(t, tt.table, tt.sql)
			if !tt.running {
				_, sealer, _ = s.start(t, s.config())
			}
			if state := s.untilCondition(t, sealer, db.Refused); !strings.Contains(state.Problem, tt.want) {
				t.Errorf("problem = %q, want %q", state.Problem, tt.want)
			}
			if _, err := sealer.Accept(t.Context(), "why not"); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("Accept() = %v, want CONFLICT", err)
			}
		})
	}
}

// A checkpoint's file that the log's key did not sign is never replaced; once it is right again, sealing goes on.
func TestSealForgedFile(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, stop := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	whole, err := os.ReadFile(s.config().Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{"", "x", strings.Replace(string(whole), "\n10\n", "\n11\n", 1), string(whole[:len(whole)-3])} {
		if err := sealfile.Replace(s.config().Checkpoint, forged); err != nil {
			t.Fatal(err)
		}
		if state := s.untilCondition(t, sealer, db.Failing); !strings.Contains(state.Problem, "no checkpoint that this log's key signed") {
			t.Errorf("with %q in the file, problem = %q", forged, state.Problem)
		}
		if now, err := os.ReadFile(s.config().Checkpoint); err != nil || string(now) != forged {
			t.Errorf("the file was replaced by %q, %v", now, err)
		}
		if err := sealfile.Replace(s.config().Checkpoint, string(whole)); err != nil {
			t.Fatal(err)
		}
		s.untilCondition(t, sealer, db.Sealing)
	}
	stop()
	if err := os.Remove(s.config().Checkpoint); err != nil { // nobody is kept from starting without
		t.Fatal(err)
	}
	store, sealer, _ = s.start(t, s.config())
	s.fill(t, store, sealer, "b")
}

// A message that takes the place of one that was sealed is not taken, and said to be so; others are.
func TestSealPlaceTaken(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store, sealer, _ := s.start(t, s.config())
	s.fill(t, store, sealer, "a")
	mustExec(t, s.admin, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, s.admin, "DELETE FROM log.messages WHERE content = 'a4'")
	mustExec(t, s.admin, "ALTER TABLE log.messages ENABLE TRIGGER ALL")
	for _, name := range []string{"immutable", "immutable_all"} {
		mustExec(t, s.admin, "ALTER TABLE log.messages ENABLE ALWAYS TRIGGER "+name)
	}
	written := mustAppend(t, store, draft("s", "in its place"), draft("other", "x"))
	s.until(t, "the other is sealed", func() bool {
		found, err := store.Sealed(t.Context(), []db.Place{
			{Session: written[0].SessionHash, Sequence: written[0].Sequence}, {Session: written[1].SessionHash, Sequence: written[1].Sequence},
		})
		if err != nil {
			t.Fatal(err)
		}
		return found[1].Covered && found[1].Message == written[1].Hash && found[0].Message != written[0].Hash
	})
	if state := sealer.State(); state.Condition != db.Sealing || !strings.Contains(state.Problem, "others have their places") {
		t.Errorf("state = %+v, want sealing and what is wrong", state)
	}
}

// Of two messages of one place that come at once, the one of the lower id is taken, and the other said to be left out.
func TestSealPlaceTwice(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	store := openURL(t, url)
	written := mustAppend(t, store, draft("s", "1"), draft("s", "2"), draft("other", "x"))
	mustExec(t, s.admin, "ALTER TABLE log.messages DROP CONSTRAINT messages_session_hash_sequence_key, DROP CONSTRAINT messages_session_hash_prev_hash_key")
	mustExec(t, s.admin, "ALTER TABLE log.messages DISABLE TRIGGER ALL")
	mustExec(t, s.admin, `CREATE TEMPORARY TABLE twin AS SELECT * FROM log.messages WHERE content = '2'`)
	mustExec(t, s.admin, `UPDATE twin SET id = (SELECT max(id) + 1 FROM log.messages), hash = repeat('a', 64)`)
	mustExec(t, s.admin, `INSERT INTO log.messages OVERRIDING SYSTEM VALUE TABLE twin`)
	mustExec(t, s.admin, `INSERT INTO seal.outbox (first_id, last_id) SELECT id, id FROM twin`)
	_, sealer, _ := s.start(t, s.config())
	s.until(t, "the others are sealed", func() bool { return sealer.State().Newest.Size == 3 && sealer.State().Waiting == 0 })
	found, err := store.Sealed(t.Context(), []db.Place{{Session: written[1].SessionHash, Sequence: 2}})
	if err != nil || !found[0].Covered || found[0].Message != written[1].Hash || found[0].Index != 1 {
		t.Errorf("the place has %+v, %v, want the message of the lower id, %s", found, err, written[1].Hash)
	}
	if state := sealer.State(); state.Condition != db.Sealing || !strings.Contains(state.Problem, "not taken into the tree") {
		t.Errorf("state = %+v, want sealing and what is wrong", state)
	}
}
