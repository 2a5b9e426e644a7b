package db_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// sealedVictim is a sealed log: session f fills a tile, a and b are in the open rest of it. It was signed with 260, 264
// and 266 messages. Nobody seals any more, and the superuser has taken away all that would refuse.
type sealedVictim struct {
	*sealed
	store *db.DB // with the checkpoint outside
	bare  *db.DB // without
	key   sealfile.Key
}

const sealTables = "log.messages log.message_refs seal.outbox seal.leaves seal.tiles seal.trees seal.logs seal.checkpoints seal.cosignatures"

func newSealedVictim(t *testing.T) *sealedVictim {
	t.Helper()
	bare, url := open(t)
	v := &sealedVictim{sealed: newSealed(t, url), bare: bare}
	store, sealer, _ := v.start(t, v.config())
	v.store = store
	add := func(session string, count int) (drafts []chain.Draft) {
		for i := range count {
			drafts = append(drafts, draft(session, fmt.Sprint(session, i)))
		}
		return drafts
	}
	// Each round is appended at once, so that it is sealed at once: there are checkpoints of these sizes, and no others.
	pair := func() []chain.Draft { return append(add("a", 2), add("b", 2)...) }
	for i, round := range []struct {
		drafts []chain.Draft
		size   int64
	}{{append(add("f", 256), pair()...), 260}, {pair(), 264}, {append(add("a", 1), add("f", 1)...), 266}} {
		mustAppend(t, store, round.drafts...)
		v.until(t, "the round is published", func() bool { return sealer.State().Outside.Size == round.size })
		v.untilSealed(t, sealer)
		if i == 1 {
			mustExec(t, v.admin, keep("before"))
		}
	}
	sealer.Stop()
	var err error
	if v.key, err = sealfile.LoadKey(v.config().Key, ""); err != nil {
		t.Fatal(err)
	}
	var disable strings.Builder
	for table := range strings.FieldsSeq(sealTables) {
		if table != "seal.outbox" {
			fmt.Fprintf(&disable, "ALTER TABLE %s DISABLE TRIGGER ALL;", table)
		}
	}
	mustExec(t, v.admin, disable.String()+keep("kept"))
	return v
}

// keep copies the whole log to a schema.
func keep(schema string) string {
	sql := "CREATE SCHEMA " + schema + ";"
	for table := range strings.FieldsSeq(sealTables) {
		sql += fmt.Sprintf("CREATE TABLE %s AS SELECT * FROM %s;", copyOf(schema, table), table)
	}
	return sql
}

func copyOf(schema, table string) string { return schema + "." + strings.ReplaceAll(table, ".", "_") }

// load writes the log as it was kept in a schema over the one that is there.
func load(schema string) string {
	sql := "TRUNCATE " + strings.ReplaceAll(sealTables, " ", ", ") + ";"
	for table := range strings.FieldsSeq(sealTables) {
		sql += fmt.Sprintf("INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM %s;", table, copyOf(schema, table))
	}
	return sql
}

// found is a break as a case asks for it. Session is empty for one of the tree.
type found struct {
	reason  chain.BreakReason
	session string
	seq     int64 // 0: none
	detail  string
	outside bool // only to be seen by who keeps the checkpoint
}

func (f found) is(b chain.Break) bool {
	session := chain.Hash{}
	if f.session != "" {
		session = hashOf("session:%s", f.session)
	}
	seq := int64(0)
	if b.Sequence != nil {
		seq = *b.Sequence
	}
	return b.Reason == f.reason && b.Session == session && seq == f.seq && strings.Contains(b.Detail, f.detail)
}

// finds checks that every break is one that is asked for, and each of those is there.
func finds(t *testing.T, what string, breaks []chain.Break, want []found, outside bool) {
	t.Helper()
	asked := 0
	for _, w := range want {
		if w.outside && !outside {
			continue
		}
		asked++
		seen := false
		for _, b := range breaks {
			seen = seen || w.is(b)
		}
		if !seen {
			t.Errorf("%s: breaks = %s, want also %+v", what, words(breaks), w)
		}
	}
	for _, b := range breaks {
		known := false
		for _, w := range want {
			known = known || w.is(b)
		}
		if !known {
			t.Errorf("%s: %s, which is not asked for", what, words([]chain.Break{b}))
		}
	}
	if asked == 0 && len(breaks) > 0 {
		t.Errorf("%s: breaks = %s, want none", what, words(breaks))
	}
}

// check holds what both stores find against what is asked for.
func (v *sealedVictim) finds(t *testing.T, what string, want []found) {
	t.Helper()
	for _, c := range []struct {
		name    string
		store   *db.DB
		outside bool
	}{{"with the checkpoint outside", v.store, true}, {"without", v.bare, false}} {
		report, err := c.store.VerifyLog(t.Context(), nil)
		if err != nil {
			t.Fatalf("%s: VerifyLog() = %v", what, err)
		}
		if report.Valid != (len(report.Breaks) == 0) {
			t.Errorf("%s: valid = %t with %d breaks", what, report.Valid, len(report.Breaks))
		}
		finds(t, what+", "+c.name, report.Breaks, want, c.outside)
	}
	for _, session := range []string{"a", "b", "f"} {
		report, err := v.store.VerifySession(t.Context(), hashOf("session:%s", session), nil)
		if err != nil {
			t.Fatalf("%s: VerifySession() = %v", what, err)
		}
		var here []found
		for _, w := range want {
			if w.session == session && !strings.Contains(w.detail, "tile") {
				here = append(here, w)
			}
		}
		finds(t, what+", VerifySession of "+session, report.Breaks, here, true)
	}
}

func (v *sealedVictim) passes(t *testing.T, sealed int64) {
	t.Helper()
	v.finds(t, "the untouched log", nil)
	report, err := v.store.VerifyLog(t.Context(), nil)
	if err != nil || report.Sealed != sealed || report.Checkpoint == nil || report.Checkpoint.Size != sealed {
		t.Fatalf("VerifyLog() of the untouched log = %+v, %v, want %d sealed", report, err, sealed)
	}
}

// rewrite alters a message and computes anew every digest and hash of its session from there on.
func rewrite(session string, sequence int) string {
	return fmt.Sprintf(`DO $$ DECLARE m log.messages; prev CHAR(64); BEGIN
		FOR m IN SELECT * FROM log.messages WHERE session_hash = '%s' AND sequence >= %d ORDER BY sequence LOOP
			IF m.sequence = %[2]d THEN
				m.content := 'what was never said';
				m.content_digest := log.content_digest(m.salt, m.content, m.attachments, m.ambient);
			ELSE
				m.prev_hash := prev;
			END IF;
			m.hash := log.message_hash(m);
			UPDATE log.messages SET content = m.content, content_digest = m.content_digest, prev_hash = m.prev_hash, hash = m.hash,
				id_digest = log.id_digest(m.id, m.hash) WHERE id = m.id;
			prev := m.hash;
		END LOOP; END $$;`, hashOf("session:%s", session), sequence)
}

// regrow makes the leaves those of the messages, and tiles and roots those of the leaves.
func (v *sealedVictim) regrow(t *testing.T) {
	t.Helper()
	mustExec(t, v.admin, `UPDATE seal.leaves l SET message_hash = m.hash FROM log.messages m
		WHERE m.session_hash = l.session_hash AND m.sequence = l.sequence`)
	leaves, err := v.bare.Leaves(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var tree seal.Tree
	for _, leaf := range leaves {
		for _, tile := range tree.Add(leaf.Hash()) {
			mustExec(t, v.admin, "UPDATE seal.tiles SET root = $3, hashes = $4 WHERE level = $1 AND n = $2",
				tile.Level, tile.N, chain.Hash(tile.Root).String(), tile.Data())
		}
		mustExec(t, v.admin, "UPDATE seal.trees SET root = $2 WHERE size = $1", tree.Size(), tree.Root().String())
	}
}

// resign signs the tree as it is with a key, at every size at which it was signed before.
func (v *sealedVictim) resign(t *testing.T, key note.Signer) {
	t.Helper()
	leaves, err := v.bare.Leaves(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var tree seal.Tree
	for _, leaf := range leaves {
		tree.Add(leaf.Hash())
		text, err := seal.Sign(key, tree.Head())
		if err != nil {
			t.Fatal(err)
		}
		mustExec(t, v.admin, "UPDATE seal.checkpoints SET root = $2, note = $3 WHERE size = $1", tree.Size(), tree.Root().String(), text)
	}
}

// otherKey is another key of the log's name.
func (v *sealedVictim) otherKey(t *testing.T) sealfile.Key {
	t.Helper()
	key, err := sealfile.LoadKey(filepath.Join(t.TempDir(), "other.key"), v.key.Name())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (v *sealedVictim) sql(statements string) func(*testing.T) {
	return func(t *testing.T) { mustExec(t, v.admin, statements) }
}
