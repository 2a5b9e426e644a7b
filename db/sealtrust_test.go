package db_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
)

// superLine is a cosignature of the right form that nobody made.
func superLine(witness string) string {
	return "— " + witness + " " + base64.StdEncoding.EncodeToString(make([]byte, 4+8+64)) + "\n"
}

// A superuser's rows count for nothing while the sealer runs: no note is served that the log's key did not sign, no line
// that no configured witness did, and neither makes a message sealed or witnessed. What says that it is the newest and
// is not is named.
func TestRowsThatNobodySigned(t *testing.T) {
	t.Parallel()
	const known = "witness.example.org"
	checkpoint := func(size int64, note string) string {
		return fmt.Sprintf(`INSERT INTO seal.checkpoints (origin, size, root, note) SELECT origin, %d, '%s', %s FROM seal.checkpoints
			ORDER BY size DESC LIMIT 1`, size, strings.Repeat("ab", 32), note)
	}
	cosignature := func(witness, line string) string {
		return fmt.Sprintf(`INSERT INTO seal.cosignatures (origin, size, witness, line, signed_at)
			SELECT origin, size, '%s', '%s', now() FROM seal.checkpoints ORDER BY size DESC LIMIT 1`, witness, line)
	}
	broken := strings.Replace(superLine(known), "AAAA", "AA\nAA", 1)
	tests := []struct {
		name      string
		witness   bool // is configured, and cosigned ten messages
		sql       []string
		condition db.SealCondition
		problem   string
		breaks    string // in verifyLog; empty: none, since nobody whom it could be checked with is said to have signed
	}{
		{"a note of a far larger tree", false, []string{checkpoint(1000, "'garbage'")}, db.Refused, "the newest checkpoint in the database, of 1000 messages, is not what the log's key signed", "a checkpoint of 1000 was signed"},
		{"an old note in a larger row", true, []string{checkpoint(1e12, "note"), cosignature(known, superLine(known))}, db.Refused, "the newest checkpoint in the database, of 1000000000000 messages, is not what the log's key signed", "a checkpoint of 1000000000000 was signed"},
		{"an unknown witness", false, []string{cosignature("bbc.co.uk/witness", superLine("bbc.co.uk/witness"))}, db.Sealing, "", ""},
		{"a line that is broken", false, []string{cosignature(known, broken)}, db.Sealing, "", "is none: it is not one line"},
		{"a known witness that did not sign", true, []string{
			"ALTER TABLE seal.cosignatures DISABLE TRIGGER ALL; DELETE FROM seal.cosignatures", cosignature(known, superLine(known)),
		}, db.Sealing, "the cosignature of witness.example.org on the checkpoint of 10 messages in the database is none", "is none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, url := open(t)
			s := newSealed(t, url)
			config := s.config()
			if tt.witness {
				config.Witnesses = []db.Witness{startWitness(t, s)}
			}
			store, sealer, _ := s.start(t, config)
			s.fill(t, store, sealer, "a")
			if tt.witness {
				s.untilWitnessed(t, store, sealer)
			}
			for _, sql := range tt.sql {
				mustExec(t, s.admin, sql)
			}
			s.until(t, "the problem shows", func() bool {
				state := sealer.State()
				return state.Condition == tt.condition && contains(state.Problem, tt.problem)
			})
			if err := sealer.Ready(); (err == nil) != (tt.problem == "") || err != nil && !contains(err.Error(), tt.problem) {
				t.Errorf("Ready() = %v, want %q", err, tt.problem)
			}
			written := mustAppend(t, store, draft("b", "1"))
			if tt.condition == db.Sealing {
				s.until(t, "it is sealed", func() bool { return sealer.State().Newest.Size == 11 })
			}
			newest, found, err := store.NewestCheckpoint(t.Context())
			if err != nil || !found {
				t.Fatalf("NewestCheckpoint() = %t, %v", found, err)
			}
			s.signed(t, sealer.Policy(), newest.Note)
			witnessed, there, err := store.WitnessedCheckpoint(t.Context())
			if err != nil || there != tt.witness || there && witnessed.Size > newest.Size || !tt.witness && len(newest.Cosignatures) > 0 {
				t.Errorf("WitnessedCheckpoint() = %+v, %t, %v", witnessed, there, err)
			}
			state, err := store.Sealed(t.Context(), []db.Place{{Session: written[0].SessionHash, Sequence: 1}})
			if err != nil || state[0].Covered != (tt.condition == db.Sealing) || !tt.witness && state[0].Witnessed {
				t.Errorf("Sealed() = %+v, %v", state, err)
			}
			rows, err := store.Checkpoints(t.Context(), db.Page[db.CheckpointKey]{Limit: 2})
			if err != nil || len(rows.Items) == 0 {
				t.Fatalf("Checkpoints() = %+v, %v", rows, err)
			}
			for _, item := range rows.Items {
				s.signed(t, sealer.Policy(), item.Value.Note)
			}
			report, err := store.VerifyLog(t.Context(), nil)
			if err != nil || (len(report.Breaks) == 0) != (tt.breaks == "") || tt.breaks != "" && !named(report.Breaks, tt.breaks) {
				t.Errorf("VerifyLog() = %s, %v, want %q", words(report.Breaks), err, tt.breaks)
			}
		})
	}
}

func named(breaks []chain.Break, detail string) bool {
	for _, b := range breaks {
		if strings.Contains(b.Detail, detail) {
			return true
		}
	}
	return false
}

// A row that says that a witness has gone far ahead does not keep the witness from being asked, once the row is told and
// taken away; nor does one that says so of what it did cosign.
func TestAWitnessIsNotMuted(t *testing.T) {
	t.Parallel()
	_, url := open(t)
	s := newSealed(t, url)
	config := s.config()
	config.Witnesses = []db.Witness{startWitness(t, s)}
	store, sealer, _ := s.start(t, config)
	s.fill(t, store, sealer, "a")
	s.untilWitnessed(t, store, sealer)
	name := config.Witnesses[0].Name
	// The checkpoint of the next message is cosigned already, as the row says.
	mustExec(t, s.admin, fmt.Sprintf(`CREATE FUNCTION seal.mute() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO seal.cosignatures (origin, size, witness, line, signed_at) VALUES (NEW.origin, NEW.size, '%s', '%s', now());
		RETURN NEW; END $$`, name, superLine(name)))
	mustExec(t, s.admin, "CREATE TRIGGER mute AFTER INSERT ON seal.checkpoints FOR EACH ROW EXECUTE FUNCTION seal.mute()")
	mustAppend(t, store, draft("b", "1"))
	s.until(t, "the witness has cosigned all the same", func() bool {
		c, found, err := store.WitnessedCheckpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sizes, err := store.WitnessedSizes(t.Context(), sealer.State().Origin)
		if err != nil {
			t.Fatal(err)
		}
		return found && c.Size == 11 && sizes[name].Size == 11
	})
	s.until(t, "the row is named", func() bool {
		return contains(sealer.State().Problem, "on the checkpoint of 11 messages in the database is none") && sealer.Ready() != nil
	})
}
