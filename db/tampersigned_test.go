package db_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// What a superuser does to what was signed is named for what it is: by the database's own key where that shows it, and
// else by the checkpoint that is kept outside.
func TestVerifySigned(t *testing.T) {
	t.Parallel()
	v := newSealedVictim(t)
	other := v.otherKey(t)
	newest := "UPDATE seal.checkpoints c SET "
	v.each(t, []sealTampering{
		{"rewritten and signed with another key", func(t *testing.T) { v.sql(rewrite("a", 3))(t); v.regrow(t); v.resign(t, other) }, []found{
			{reason: root, detail: "the checkpoint of size 260 is not signed with the key of example.org/log"},
			{reason: root, detail: "the checkpoint of size 264 is not signed"}, {reason: root, detail: "the checkpoint of size 266 is not signed"},
			{reason: root, detail: "kept outside of the database differs from the tree at size 266", outside: true},
			{reason: root, detail: "the checkpoint of size 266 that is kept outside of the database is not among those in it", outside: true}}},
		{"the same with the key exchanged, too", func(t *testing.T) {
			v.sql(rewrite("a", 3))(t)
			v.regrow(t)
			v.resign(t, other)
			v.sql("UPDATE seal.logs SET public_key = '" + other.Public + "'")(t)
		}, []found{
			{reason: root, detail: "the key of example.org/log in the database is not the one", outside: true},
			{reason: root, detail: "kept outside of the database differs from the tree at size 266", outside: true},
			{reason: root, detail: "is not among those in it", outside: true}}},
		{"rewritten and signed with the key itself", func(t *testing.T) { v.sql(rewrite("a", 3))(t); v.regrow(t); v.resign(t, v.key) }, []found{
			{reason: root, detail: "kept outside of the database differs from the tree at size 266", outside: true},
			{reason: root, detail: "is not among those in it", outside: true}}},
		{"checkpoints deleted", v.sql("DELETE FROM seal.checkpoints"), []found{{reason: root, detail: "is not among those in it", outside: true}}},
		{"the newest checkpoint deleted", v.sql("DELETE FROM seal.checkpoints WHERE size = 266"), []found{
			{reason: root, detail: "is not among those in it", outside: true}}},
		{"a dump restored over a newer log", v.sql(load("before")), []found{
			{reason: root, detail: "kept outside of the database is of 266 leaves, and the tree has 264: the database is older than what was signed", outside: true},
			{reason: root, detail: "is not among those in it", outside: true}}},
		{"a signature forged", v.sql(newest + "note = regexp_replace(note, '....(.{8}\\n)$', 'AAAA\\1') WHERE size = 264"), []found{
			{reason: root, detail: "the checkpoint of size 264 is not signed with the key of example.org/log"}}},
		{"a signature stripped", v.sql(newest + "note = split_part(note, '—', 1) WHERE size = 266"), []found{
			{reason: root, detail: "the checkpoint of size 266 is not signed with the key of example.org/log"}}},
		{"an old checkpoint replayed", v.sql(newest + "note = o.note FROM seal.checkpoints o WHERE c.size = 266 AND o.size = 260"), []found{
			{reason: root, detail: "the checkpoint of size 266 is another one: its note is of size 260"}}},
		{"an old checkpoint replayed with its root", v.sql(newest + "note = o.note, root = o.root FROM seal.checkpoints o WHERE c.size = 266 AND o.size = 260"), []found{
			{reason: root, detail: "the checkpoint of size 266 is another one: its note is of size 260"},
			{reason: root, detail: "what was signed as example.org/log differs from the tree at size 266"},
			{reason: root, detail: "is not among those in it", outside: true}}},
		{"the key exchanged", v.sql("UPDATE seal.logs SET public_key = '" + other.Public + "'"), []found{
			{reason: root, detail: "the key of example.org/log in the database is not the one", outside: true},
			{reason: root, detail: "the checkpoint of size 260 is not signed"}, {reason: root, detail: "the checkpoint of size 264 is not signed"},
			{reason: root, detail: "the checkpoint of size 266 is not signed"}}},
		{"the name gone", v.sql("DELETE FROM seal.logs"), []found{
			{reason: root, detail: `is of the log "example.org/log", and the database is not`, outside: true},
			{reason: root, detail: "the checkpoint of size 260 cannot be checked"}, {reason: root, detail: "the checkpoint of size 264 cannot be checked"},
			{reason: root, detail: "the checkpoint of size 266 cannot be checked"}}},
		{"a cosignature of nobody", v.sql("INSERT INTO seal.cosignatures SELECT origin, size, 'w', 'signed, w', now() FROM seal.checkpoints WHERE size = 264"), []found{
			{reason: root, detail: "the cosignature of w on the checkpoint of size 264 is none"}}},
	}, 266)
}

// Messages that wait for the tree are no break; those that neither wait nor are in it are, and those that wait and are
// gone.
func TestVerifyWaiting(t *testing.T) {
	t.Parallel()
	v := newSealedVictim(t)
	mustExec(t, v.admin, "ALTER TABLE log.messages ENABLE TRIGGER ALL")
	mustAppend(t, v.bare, draft("a", "six"), draft("w", "one"), draft("w", "two"))
	mustExec(t, v.admin, "ALTER TABLE log.messages DISABLE TRIGGER ALL; DROP SCHEMA kept CASCADE;"+keep("kept"))
	v.each(t, []sealTampering{
		{"an outbox row deleted", v.sql("DELETE FROM seal.outbox"), []found{
			{reason: leaf, session: "a", seq: 6, detail: "never taken in"}, {reason: leaf, session: "w", seq: 1, detail: "never taken in"},
			{reason: leaf, session: "w", seq: 2, detail: "never taken in"}}},
		{"a message that waits deleted", v.sql("DELETE FROM log.messages WHERE sequence = 6 AND session_hash = " + session("a")), []found{
			{reason: tail, detail: "1 messages are missing that waited for the tree"}}},
		{"a message waits that is sealed", v.sql("INSERT INTO seal.outbox SELECT id, id FROM log.messages WHERE sequence = 2 AND session_hash = " + session("b")), []found{
			{reason: leaf, session: "b", seq: 2, detail: "waits for the tree besides"}}},
		{"ids that no message has", v.sql("INSERT INTO seal.outbox VALUES (70000, 70009)"), []found{
			{reason: tail, detail: "10 messages are missing that waited for the tree, with ids from 70000 to 70009"}}},
	}, 266)
}

// The checkpoint outside is believed only if the log's key signed it.
func TestVerifyOutsideDamaged(t *testing.T) {
	t.Parallel()
	v := newSealedVictim(t)
	file := v.config().Checkpoint
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"another size", strings.Replace(string(text), "\n266\n", "\n267\n", 1), "is no checkpoint that this log's key signed"},
		{"empty", "", "is no checkpoint that this log's key signed"},
		{"of another log", strings.Replace(string(text), "example.org/log\n", "example.org/other\n", 1), `is of the log "example.org/other"`},
	} {
		if err := sealfile.Replace(file, c.text); err != nil {
			t.Fatal(err)
		}
		v.finds(t, c.name, []found{{reason: root, detail: c.want, outside: true}})
	}
	if err := sealfile.Replace(file, string(text)); err != nil {
		t.Fatal(err)
	}
	v.passes(t, 266)
}

// Another database is put in the place of the log's, with a log of the same name: signed with a key of its own, or with
// the log's.
func TestVerifyAnotherLog(t *testing.T) {
	t.Parallel()
	v := newSealedVictim(t)
	for _, c := range []struct {
		name string
		same bool
		want []found
	}{
		{"its own key", false, []found{
			{reason: root, detail: "the key of example.org/log in the database is not the one"},
			{reason: root, detail: "kept outside of the database differs from the tree at size 266"}, {reason: root, detail: "is not among those in it"}}},
		{"the same key", true, []found{
			{reason: root, detail: "kept outside of the database differs from the tree at size 266"}, {reason: root, detail: "is not among those in it"}}},
	} {
		second := newSealed(t, dbtest.New(t))
		if c.same {
			key, err := os.ReadFile(v.config().Key)
			if err == nil {
				err = os.WriteFile(filepath.Join(second.dir, sealfile.KeyFile), key, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		store, sealer, stop := second.start(t, second.config())
		drafts := make([]chain.Draft, 300)
		for i := range drafts {
			drafts[i] = draft("other", "another history")
		}
		mustAppend(t, store, drafts...)
		second.until(t, "all is sealed", func() bool { return sealer.State().Outside.Size == 300 })
		stop()
		moved, err := db.Open(context.Background(), second.url, 4, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(moved.Close)
		if sealer, err = moved.StartSealer(t.Context(), v.config()); err != nil {
			t.Fatal(err)
		}
		sealer.Stop()
		report, err := moved.VerifyLog(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		finds(t, c.name, report.Breaks, c.want, true)
	}
}
