package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

// What only looks like an erasure, or undoes one, is named by the check, whatever was switched off before.
func TestVerifyNamesTamperedErasures(t *testing.T) {
	t.Parallel()
	const (
		of       = " WHERE session_hash = log.sha256('session:s') AND sequence = "
		take     = "UPDATE log.messages SET " + bare + of
		give     = "UPDATE log.messages m SET content = k.content, attachments = k.attachments, ambient = k.ambient, salt = k.salt FROM kept k WHERE k.hash = m.hash"
		noRecord = "its content is gone without an erasure on record"
		notAll   = "and not all of them"
		back     = "its content is there, though message 4 says that it was erased"
	)
	tests := []struct {
		name, sql string
		want      []string // a reason, a sequence and words each
	}{
		{"another message emptied", take + "3", []string{"HASH_MISMATCH 3 " + noRecord}},
		{"one that follows the erasure emptied", take + "5", []string{"HASH_MISMATCH 5 " + noRecord}},
		{"the erasure emptied", take + "4", []string{"HASH_MISMATCH 4 an ERASURE message cannot be erased"}},
		{"everything emptied", "UPDATE log.messages SET " + bare, []string{
			"HASH_MISMATCH 1 " + noRecord, "HASH_MISMATCH 3 " + noRecord, "HASH_MISMATCH 4 cannot be erased", "HASH_MISMATCH 5 " + noRecord}},
		{"a content taken, its salt left", "UPDATE log.messages SET content = NULL, attachments = NULL, ambient = NULL" + of + "3", []string{"HASH_MISMATCH 3 " + notAll}},
		{"the erased content put back", give, []string{"HASH_MISMATCH 2 " + back}},
		{"its salt put back alone", "UPDATE log.messages m SET salt = k.salt FROM kept k WHERE k.hash = m.hash", []string{"HASH_MISMATCH 2 " + notAll}},
		{"another content put in", "UPDATE log.messages SET content = 'other', attachments = '{}', salt = repeat('x', 16)::BYTEA" + of + "2", []string{
			"HASH_MISMATCH 2 not those that content_digest was made of", "HASH_MISMATCH 2 " + back}},
		{"the erasure made a message", "UPDATE log.messages SET event_type = 'message'" + of + "4", []string{"HASH_MISMATCH 4 was altered", "HASH_MISMATCH 2 " + noRecord}},
		{"the erasure's ref taken", "DELETE FROM log.message_refs", []string{"REFS_MISMATCH 4 missing", "HASH_MISMATCH 2 " + noRecord}},
		{"the erasure's ref turned to another", "UPDATE log.message_refs SET ref_hash = (SELECT hash FROM log.messages" + of + "3)", []string{
			"REFS_MISMATCH 4 refs_digest", "HASH_MISMATCH 2 " + noRecord, "HASH_MISMATCH 3 " + back}},
		{"the erasure deleted", "DELETE FROM log.messages" + of + "4", []string{"GAP 4 missing", "HASH_MISMATCH 2 " + noRecord}},
		{"the erasure and what follows deleted", "DELETE FROM log.messages WHERE session_hash = log.sha256('session:s') AND sequence > 3", []string{"HASH_MISMATCH 2 " + noRecord}},
		{"an erasure of another session", `SELECT note(log.sha256('session:other'), 'erasure', 'context', (SELECT hash FROM log.messages` + of + `3)); ` + take + "3", []string{"HASH_MISMATCH 3 " + noRecord}},
		{"an erasure by a ref of another type", `SELECT note(log.sha256('session:s'), 'erasure', 'secretary', (SELECT hash FROM log.messages` + of + `3)); ` + take + "3", []string{"HASH_MISMATCH 3 " + noRecord}},
		{"an erasure that erased nothing", `SELECT note(log.sha256('session:s'), 'erasure', 'context', (SELECT hash FROM log.messages` + of + `3))`, []string{
			"HASH_MISMATCH 3 its content is there, though message 6 says that it was erased"}},
	}
	store, url := open(t)
	conn := superuser(t, url)
	written := mustAppend(t, store, draft("s", "first"), secret("s"), draft("s", "third"), draft("other", "elsewhere"))
	mustExec(t, conn, guardSetUp+"CREATE TABLE kept AS SELECT * FROM log.messages WHERE hash = '"+written[1].Hash.String()+"'")
	mustErase(t, store, written[1].Hash)
	mustAppend(t, store, draft("s", "fifth"))
	wantLog(t, store, 1)
	mustExec(t, conn, `ALTER TABLE log.messages DROP CONSTRAINT messages_erased_whole;
		ALTER TABLE log.messages DISABLE TRIGGER immutable; ALTER TABLE log.messages DISABLE TRIGGER erasure;
		ALTER TABLE log.message_refs DISABLE TRIGGER immutable;
		CREATE TABLE all_messages AS SELECT * FROM log.messages; CREATE TABLE all_refs AS SELECT * FROM log.message_refs`)
	for _, c := range tests {
		mustExec(t, conn, c.sql)
		log, err := store.VerifyLog(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		session, err := store.VerifySession(t.Context(), written[1].SessionHash, nil)
		if err != nil {
			t.Fatal(err)
		}
		namedAll(t, "VerifyLog, "+c.name, log.Breaks, written[1].SessionHash, c.want)
		namedAll(t, "VerifySession, "+c.name, session.Breaks, written[1].SessionHash, c.want)
		mustExec(t, conn, `ALTER TABLE log.messages DISABLE TRIGGER ALL; ALTER TABLE log.message_refs DISABLE TRIGGER ALL;
			DELETE FROM log.messages; INSERT INTO log.messages SELECT * FROM all_messages;
			DELETE FROM log.message_refs; INSERT INTO log.message_refs SELECT * FROM all_refs;
			ALTER TABLE log.messages ENABLE ALWAYS TRIGGER chain; ALTER TABLE log.messages ENABLE ALWAYS TRIGGER refs;
			ALTER TABLE log.message_refs ENABLE ALWAYS TRIGGER place; ALTER TABLE log.message_refs ENABLE ALWAYS TRIGGER refs;
			DELETE FROM seal.outbox WHERE first_id > (SELECT max(id) FROM log.messages)`)
	}
	wantLog(t, store, 1)
}

// namedAll wants each of the breaks of a session, and no others of it that are about a message's content or its refs.
func namedAll(t *testing.T, what string, breaks []chain.Break, session chain.Hash, want []string) {
	t.Helper()
	var rest []chain.Break
	for _, b := range breaks {
		if b.Session == session && b.Reason != chain.MissingTail && b.Reason != chain.LeafMismatch {
			rest = append(rest, b)
		}
	}
	for _, w := range want {
		at := slices.IndexFunc(rest, func(b chain.Break) bool {
			reason, words, _ := strings.Cut(w, " ")
			sequence, words, _ := strings.Cut(words, " ")
			return string(b.Reason) == reason && b.Sequence != nil && fmt.Sprint(*b.Sequence) == sequence && strings.Contains(b.Detail, words)
		})
		if at < 0 {
			t.Errorf("%s: breaks = %s, want %s", what, words(breaks), w)
			continue
		}
		rest = slices.Delete(rest, at, at+1)
	}
	if len(rest) > 0 {
		t.Errorf("%s: breaks = %s, want %s and no more", what, words(breaks), strings.Join(want, ", "))
	}
}
