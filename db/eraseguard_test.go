package db_test

import (
	"context"
	"testing"
)

// bare is what an erasure changes of a message.
const bare = "content = NULL, attachments = NULL, ambient = NULL, salt = NULL"

// guardSetUp is for SQL of these tests: note writes an ERASURE message by a plain INSERT, with one ref.
const guardSetUp = `
	CREATE FUNCTION note(session CHAR(64), kind log.event_type, ref_kind log.ref_type, target CHAR(64)) RETURNS CHAR(64) LANGUAGE plpgsql AS $$
	DECLARE written CHAR(64);
	BEGIN
		INSERT INTO log.messages (session_hash, thread_hash, owner_id, event_type, content, refs_digest)
		VALUES (session, log.sha256('t'), log.sha256('o'), kind, 'forged', log.refs_digest(ARRAY[ref_kind::TEXT], ARRAY[target::TEXT])) RETURNING hash INTO written;
		INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type) VALUES (written, 1, target, ref_kind);
		RETURN written;
	END $$;
	CREATE FUNCTION target() RETURNS log.messages LANGUAGE sql AS 'SELECT * FROM log.messages WHERE session_hash = log.sha256(''session:s'') AND sequence = 2';
	CREATE FUNCTION gone() RETURNS log.messages LANGUAGE sql AS 'SELECT * FROM log.messages WHERE session_hash = log.sha256(''session:s'') AND sequence = 3';`

// Every way past the triggers is refused, and leaves everything as it was.
func TestEraseIsTheOnlyWay(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	mustExec(t, conn, guardSetUp)
	full := secret("s")
	full.IdempotencyKey = nil
	keyed := draft("s", "one that is erased")
	keyed.IdempotencyKey = ptr("gone")
	written := mustAppend(t, store, draft("s", "first"), full, keyed, draft("other", "elsewhere"))
	ask(t, store, "Is the hotel booked?", nil)
	mustErase(t, store, written[2].Hash)
	mustExec(t, conn, "INSERT INTO log.append_keys VALUES (log.sha256('o'), 'kept', log.sha256('f'), (SELECT (target()).hash))")
	const (
		update  = "UPDATE log.messages SET " + bare + " WHERE hash = (SELECT (target()).hash)"
		forged  = "note(log.sha256('session:s'), 'erasure', 'context', (SELECT (target()).hash))"
		already = "UPDATE log.messages SET content = 'back', attachments = '{}', salt = repeat('x', 16)::BYTEA WHERE hash = (SELECT (gone()).hash)"
	)
	tests := []struct{ name, sql, code string }{
		{"content alone", "UPDATE log.messages SET content = NULL", "CM004"},
		{"attachments alone", "UPDATE log.messages SET attachments = NULL", "CM004"},
		{"ambient alone", "UPDATE log.messages SET ambient = NULL", "CM004"},
		{"salt alone", "UPDATE log.messages SET salt = NULL", "CM004"},
		{"all that goes", update, "CM004"},
		{"all that goes, of all", "UPDATE log.messages SET " + bare, "CM004"},
		{"nothing", "UPDATE log.messages SET content = content", "CM004"},
		{"deleted", "DELETE FROM log.messages WHERE hash = (SELECT (target()).hash)", "CM004"},
		{"truncated", "TRUNCATE log.messages CASCADE", "CM004"},
		{"merged", "MERGE INTO log.messages m USING (SELECT 1) s ON m.sequence = 2 WHEN MATCHED THEN UPDATE SET " + bare, "CM004"},
		{"erased again", "UPDATE log.messages SET " + bare + " WHERE hash = (SELECT (gone()).hash)", "CM004"},
		{"content back", already, "CM004"},
		{"salt back", "UPDATE log.messages SET salt = repeat('x', 16)::BYTEA WHERE hash = (SELECT (gone()).hash)", "CM004"},
		{"an erased one deleted", "DELETE FROM log.messages WHERE hash = (SELECT (gone()).hash)", "CM004"},
		{"an erasure message erased", "UPDATE log.messages SET " + bare + " WHERE event_type = 'erasure'", "CM004"},
		{"an erasure message erased by another", "BEGIN; SELECT note(session_hash, 'erasure', 'context', hash) FROM log.messages WHERE event_type = 'erasure'; UPDATE log.messages SET " + bare + " WHERE event_type = 'erasure' AND content <> 'forged'", "CM004"},
		{"more than that goes", "BEGIN; SELECT " + forged + "; UPDATE log.messages SET importance = 2, " + bare + " WHERE hash = (SELECT (target()).hash)", "CM004"},
		{"less than that goes", "BEGIN; SELECT " + forged + "; UPDATE log.messages SET content = NULL, attachments = NULL, salt = NULL WHERE hash = (SELECT (target()).hash)", "CM004"},
		{"of the wrong message", "BEGIN; SELECT " + forged + "; UPDATE log.messages SET " + bare + " WHERE sequence = 1 AND session_hash = log.sha256('session:s')", "CM004"},
		{"an erasure of another session", "BEGIN; SELECT note(log.sha256('session:other'), 'erasure', 'context', (SELECT (target()).hash)); " + update, "CM004"},
		{"a secretary's ref", "BEGIN; SELECT note(log.sha256('session:s'), 'erasure', 'secretary', (SELECT (target()).hash)); " + update, "CM004"},
		{"an accountant's ref", "BEGIN; SELECT note(log.sha256('session:s'), 'erasure', 'accountant', (SELECT (target()).hash)); " + update, "CM004"},
		{"no erasure", "BEGIN; SELECT note(log.sha256('session:s'), 'system', 'context', (SELECT (target()).hash)); " + update, "CM004"},
		{"a ref added to an erasure", `BEGIN; INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type)
			SELECT hash, 2, (SELECT (target()).hash), 'context' FROM log.messages WHERE event_type = 'erasure'; ` + update + "; COMMIT", "CM005"},
		{"an erasure that erases nothing", "SELECT " + forged, "CM002"},
		{"the same, checked before its refs are there", `BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SELECT ` + forged + "; COMMIT", "CM005"},
		{"a message without content", "INSERT INTO log.messages (session_hash, owner_id) VALUES (log.sha256('session:s'), log.sha256('o'))", "23514"},
		{"a message without content, stated in full", `INSERT INTO log.messages (session_hash, owner_id, content, attachments, ambient, salt)
			VALUES (log.sha256('session:s'), log.sha256('o'), NULL, NULL, NULL, NULL)`, "23514"},
		{"the key of a message that is there", "UPDATE log.append_keys SET fingerprint = NULL WHERE key = 'kept'", "CM004"},
		{"an erased message's key", "UPDATE log.append_keys SET key = 'x' WHERE key = 'gone'", "CM004"},
		{"an erased message's fingerprint back", "UPDATE log.append_keys SET fingerprint = log.sha256('x') WHERE key = 'gone'", "CM004"},
		{"an erased message's key deleted", "DELETE FROM log.append_keys WHERE key = 'gone'", "CM004"},
		{"a key without fingerprint", "INSERT INTO log.append_keys VALUES (log.sha256('o'), 'new', NULL, (SELECT (target()).hash))", "23502"},
		{"vectors of an erased message", "INSERT INTO embedding.lexical SELECT 'context', (gone()).id, 0, '{1:1}/536870912', '{1}', '{1}', 0", "CM008"},
		{"vectors in another isolation", `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;
			INSERT INTO embedding.lexical SELECT 'context', (gone()).id, 0, '{1:1}/536870912', '{1}', '{1}', 0`, "25000"},
		{"an erasure in another isolation", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT log.erase((target()).hash, log.sha256('o'), 'why')", "25000"},
		{"a selection of an erased message", `INSERT INTO memory.selections (receipt, request, policy_text, log_position, log_size, items, dropped, rendered, tokens, embedding_model, created_at)
			SELECT receipt, request, policy_text, log_position, log_size, jsonb_set(items, '{0,hash}', to_jsonb((gone()).hash::TEXT)), dropped, rendered, tokens, embedding_model, created_at FROM memory.selections`, "CM008"},
	}
	before := logState(t, conn)
	for _, c := range tests {
		for _, role := range []string{"origin", "replica"} {
			mustExec(t, conn, "SET session_replication_role = "+role)
			_, err := conn.Exec(t.Context(), c.sql)
			if got := sqlState(err); got != c.code {
				t.Errorf("%s, as %s: %v, want %s", c.name, role, err, c.code)
			}
			mustExec(t, conn, "ROLLBACK")
			if got := logState(t, conn); got != before {
				t.Fatalf("%s, as %s: the log was %s and is %s", c.name, role, before, got)
			}
		}
	}
	mustExec(t, conn, "SET session_replication_role = origin")
	wantLog(t, store, 1)
}

// Who has no right to erase cannot; who may do nothing but call the function, can.
func TestEraseNeedsRights(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	mustExec(t, conn, guardSetUp)
	written := mustAppend(t, store, draft("s", "first"), secret("s"))
	role := "plain_" + written[0].Hash.String()[:16]
	mustExec(t, conn, "CREATE ROLE "+role+" BYPASSRLS") // the policies are another matter
	t.Cleanup(func() {
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), "RESET ROLE; DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
			t.Errorf("drop the role: %v", err)
		}
	})
	mustExec(t, conn, "GRANT USAGE ON SCHEMA log, seal, embedding, memory TO "+role)
	mustExec(t, conn, "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA log, seal, embedding TO "+role)
	mustExec(t, conn, "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA log TO "+role)
	before := logState(t, conn)
	try := func(name, sql, code string, args ...any) {
		t.Helper()
		mustExec(t, conn, "SET ROLE "+role)
		_, err := conn.Exec(t.Context(), sql, args...)
		mustExec(t, conn, "RESET ROLE")
		if got := sqlState(err); got != code {
			t.Errorf("%s: %v, want %s", name, err, code)
		}
		if got := logState(t, conn); got != before {
			t.Fatalf("%s: the log was %s and is %s", name, before, got)
		}
	}
	const denied = "42501"
	try("log.erase", "SELECT log.erase($1, $2, 'why')", denied, written[1].Hash, eraser)
	try("UPDATE", "UPDATE log.messages SET "+bare, denied)
	try("DELETE", "DELETE FROM log.messages", denied)
	try("the triggers", "ALTER TABLE log.messages DISABLE TRIGGER ALL", denied)
	try("replica mode", "SET session_replication_role = replica", denied)
	try("the function's owner", "CREATE OR REPLACE FUNCTION log.erasure_lock() RETURNS BIGINT LANGUAGE sql AS 'SELECT 1'", denied)
	mustExec(t, conn, "GRANT UPDATE ON log.messages TO "+role)
	try("UPDATE by who may", "UPDATE log.messages SET "+bare, "CM004")
	mustExec(t, conn, "GRANT EXECUTE ON FUNCTION log.erase TO "+role)
	mustExec(t, conn, "REVOKE UPDATE ON log.messages FROM "+role)
	mustExec(t, conn, "SET ROLE "+role)
	mustExec(t, conn, "SELECT log.erase($1, $2, 'why')", written[1].Hash, eraser)
	mustExec(t, conn, "RESET ROLE")
	wantLog(t, store, 1)
}
