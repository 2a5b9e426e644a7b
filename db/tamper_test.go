package db_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
)

// victim is a log of three sessions with one message in the middle of one that has a value in every column.
type victim struct {
	store   *db.DB
	conn    *pgx.Conn // the superuser's
	message chain.Message
	next    chain.Message
	other   chain.Message // first of another session
	refs    []chain.Ref
}

func newVictim(t *testing.T, seal bool) *victim {
	t.Helper()
	store, url := open(t)
	v := &victim{store: store}
	others := mustAppend(t, store, draft("a", "one"), draft("a", "two"), draft("z", "one"), draft("z", "two"))
	v.other = others[0]
	v.refs = []chain.Ref{{Type: chain.RefContext, Hash: others[0].Hash}, {Type: chain.RefContext, Hash: others[1].Hash}, {Type: chain.RefContext, Hash: others[2].Hash}}
	first, second := draft("m", "first"), draft("m", "second")
	full := chain.Draft{
		SessionHash: first.SessionHash, ThreadHash: ptr(hashOf("t")), OwnerID: hashOf("o"),
		PlayerIDs: []chain.Hash{hashOf("p"), hashOf("q")}, MasterPlayer: ptr(hashOf("mp")), Role: ptr("user"),
		EventType: chain.EventTool, Importance: 1, Channel: ptr("mail"), Source: ptr("test"), Content: "the very message",
		Attachments: ptr(chain.JSON(`{"a": 1}`)), Ambient: ptr(chain.JSON(`{"b": 2}`)), Hashtags: []chain.Hash{hashOf("h")},
		FlagID: ptr(hashOf("f")), MasterItemID: ptr(hashOf("mi")), ItemIDs: []chain.Hash{hashOf("i")}, LocationID: ptr(hashOf("l")),
		Refs: v.refs,
	}
	fourth := draft("m", "fourth")
	fourth.Refs = v.refs[:1]
	written := mustAppend(t, store, first, second, full, fourth, draft("m", "fifth"))
	v.message, v.next = written[2], written[3]
	if seal {
		s := newSealed(t, url)
		sealing, sealer, _ := s.start(t, s.config())
		s.until(t, "all is sealed", func() bool { return sealer.State().Outside.Size == 9 })
		sealer.Stop()
		v.store = sealing
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	v.conn = conn
	// What a superuser can do: take away all that would refuse.
	v.exec(t, `
		ALTER TABLE log.messages DISABLE TRIGGER ALL;
		ALTER TABLE log.message_refs DISABLE TRIGGER ALL;
		ALTER DOMAIN log.hash DROP CONSTRAINT hash_is_lower_case_hex;
		ALTER DOMAIN log.hashes DROP CONSTRAINT hashes_are_a_list;
		DO $$ DECLARE c RECORD; BEGIN
			FOR c IN SELECT conrelid::REGCLASS AS rel, conname FROM pg_constraint
				WHERE contype <> 't' AND conrelid IN ('log.messages'::REGCLASS, 'log.message_refs'::REGCLASS) LOOP
				EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.rel, c.conname);
			END LOOP;
			FOR c IN SELECT attrelid::REGCLASS AS rel, attname FROM pg_attribute
				WHERE attrelid IN ('log.messages'::REGCLASS, 'log.message_refs'::REGCLASS) AND attnotnull AND attnum > 0 LOOP
				EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', c.rel, c.attname);
			END LOOP;
		END $$;
		CREATE SCHEMA kept;
		CREATE TABLE kept.messages AS SELECT * FROM log.messages;
		CREATE TABLE kept.message_refs AS SELECT * FROM log.message_refs;`)
	return v
}

func (v *victim) exec(t *testing.T, sql string, args ...any) int64 {
	t.Helper()
	tag, err := v.conn.Exec(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.RowsAffected()
}

func (v *victim) restore(t *testing.T) {
	t.Helper()
	v.exec(t, `DELETE FROM log.messages; INSERT INTO log.messages SELECT * FROM kept.messages;
		DELETE FROM log.message_refs; INSERT INTO log.message_refs SELECT * FROM kept.message_refs;`)
}

// check gives the breaks of the log and of the victim's session.
func (v *victim) check(t *testing.T) (log, session []chain.Break) {
	t.Helper()
	whole, err := v.store.VerifyLog(t.Context(), nil)
	if err != nil {
		t.Fatalf("VerifyLog() = %v", err)
	}
	one, err := v.store.VerifySession(t.Context(), v.message.SessionHash, nil)
	if err != nil {
		t.Fatalf("VerifySession() = %v", err)
	}
	if whole.Valid != (len(whole.Breaks) == 0) || one.Valid != (len(one.Breaks) == 0) {
		t.Errorf("valid = %t and %t with %d and %d breaks", whole.Valid, one.Valid, len(whole.Breaks), len(one.Breaks))
	}
	return whole.Breaks, one.Breaks
}

// isMessage tells whether a break names the victim.
func (v *victim) isMessage(b chain.Break) bool {
	return b.MessageHash != nil && *b.MessageHash == v.message.Hash ||
		b.Session == v.message.SessionHash && b.Sequence != nil && *b.Sequence == v.message.Sequence
}

// tampering is one way to change the log. Reasons are those that must be among what names the victim.
type tampering struct {
	column string // of which table's columns it is
	sql    string // $1 is the victim's hash
	reason chain.BreakReason
	detail string // must be in what names the victim
	others int    // breaks that name something else: at most so many
}

func set(column, value string, reason chain.BreakReason) tampering {
	return tampering{column: column, sql: fmt.Sprintf("UPDATE log.messages SET %s = %s WHERE hash = $1", column, value), reason: reason}
}

func setRef(column, value string) tampering {
	sql := fmt.Sprintf("UPDATE log.message_refs SET %s = %s WHERE message_hash = $1 AND position = 2", column, value)
	return tampering{column: column, sql: sql, reason: chain.RefsMismatch}
}

const anyHash = "repeat('ab', 32)"

func messageTamperings() []tampering {
	const hash = chain.HashMismatch
	list := []tampering{
		set("id", "id + 100000", hash), set("id", "1", hash), set("id", "NULL", hash),
		set("hash", anyHash, hash), set("hash", "upper(hash)", hash), set("hash", "'no hash'", hash),
		set("session_hash", anyHash, chain.Gap), set("session_hash", "'no hash'", chain.Gap), set("session_hash", "NULL", chain.Gap),
		set("session_hash", "(SELECT m.session_hash FROM log.messages m ORDER BY id LIMIT 1)", chain.Gap),
		set("sequence", "1000", hash), set("sequence", "2", hash), set("sequence", "4", hash), set("sequence", "0", hash),
		set("sequence", "-3", hash), set("sequence", "NULL", hash), set("sequence", "9223372036854775807", hash),
		set("prev_hash", anyHash, chain.BrokenLink), set("prev_hash", "NULL", chain.BrokenLink), set("prev_hash", "'x'", hash),
		set("content", "content || ' '", hash), set("content", "NULL", hash), set("content", "''", hash),
		set("attachments", `'{"a": 2}'`, hash), set("attachments", `'{"a": 1.0}'`, hash), set("attachments", "NULL", hash),
		set("ambient", `'{"b": 3}'`, hash), set("ambient", "NULL", hash), set("ambient", "'null'", hash),
		set("salt", "set_byte(salt, 0, get_byte(salt, 0) # 1)", hash), set("salt", `salt || '\x00'`, hash), set("salt", "NULL", hash),
		set("content_digest", anyHash, hash), set("refs_digest", anyHash, hash),
		set("refs_digest", "log.refs_digest('{}', '{}')", hash),
		set("created_at", "created_at + '1 microsecond'", hash), set("created_at", "created_at - '1 year'::INTERVAL", hash),
		{column: "created_at", sql: "UPDATE log.messages SET created_at = '-infinity' WHERE hash = $1", reason: hash, detail: "infinite"}, set("created_at", "'0100-01-01 BC'", hash), set("created_at", "NULL", hash),
		set("id_digest", anyHash, hash), set("id_digest", "NULL", hash),
		set("importance", "2", hash), set("importance", "-1", hash), set("importance", "NULL", hash),
		set("event_type", "'message'", hash), set("event_type", "NULL", hash),
		set("owner_id", anyHash, hash), set("owner_id", "NULL", hash), set("owner_id", "upper(owner_id)", hash),
	}
	for _, column := range []string{"thread_hash", "master_player", "flag_id", "master_item_id", "loc_id"} {
		list = append(list, set(column, anyHash, hash), set(column, "NULL", hash), set(column, "'x'", hash))
	}
	for _, column := range []string{"role", "channel", "source"} {
		list = append(list, set(column, column+" || 'x'", hash), set(column, "''", hash), set(column, "NULL", hash))
	}
	for _, column := range []string{"players_id", "hashtags", "item_id"} {
		list = append(list, set(column, column+" || "+anyHash+"::CHAR(64)", hash), set(column, "'{}'", hash), set(column, "NULL", hash),
			set(column, "ARRAY[NULL]::CHAR(64)[]", hash), set(column, "ARRAY[ARRAY["+anyHash+"]]::CHAR(64)[]", hash))
	}
	list = append(list, set("players_id", "ARRAY[players_id[2], players_id[1]]", hash), set("players_id", "('[2:3]={'||players_id[1]||','||players_id[2]||'}')::CHAR(64)[]", hash))
	for i := range list {
		switch list[i].column {
		case "session_hash", "sequence": // the place that it left, and the message in the place where it does not belong
			list[i].others = 1
		case "hash", "refs_digest", "content_digest":
			if !strings.Contains(list[i].sql, "'{}'") { // then no refs are looked for
				list[i].detail = list[i].column + " "
			}
		}
	}
	return list
}

func refTamperings() []tampering {
	return []tampering{
		{column: "message_hash", sql: "UPDATE log.message_refs SET message_hash = " + anyHash + " WHERE message_hash = $1 AND position = 2", reason: chain.RefsMismatch, others: 1},
		{column: "message_hash", sql: "UPDATE log.message_refs SET message_hash = 'x' WHERE message_hash = $1 AND position = 2", reason: chain.RefsMismatch, others: 1},
		{column: "message_hash", sql: "UPDATE log.message_refs SET message_hash = NULL WHERE message_hash = $1 AND position = 2", reason: chain.RefsMismatch, others: 1},
		setRef("position", "7"), setRef("position", "1"), setRef("position", "0"), setRef("position", "NULL"), setRef("position", "-2147483648"),
		setRef("ref_hash", anyHash), setRef("ref_hash", "'x'"), setRef("ref_hash", "NULL"),
		setRef("ref_type", "'secretary'"), setRef("ref_type", "NULL"),
		setRef("thread_hash", anyHash), setRef("thread_hash", "NULL"), setRef("thread_hash", "'x'"),
	}
}

func rowTamperings() []tampering {
	refs := chain.RefsMismatch
	return []tampering{
		{sql: "DELETE FROM log.messages WHERE hash = $1", reason: chain.Gap},
		{sql: "DELETE FROM log.message_refs WHERE message_hash = $1 AND position = 1", reason: refs},
		{sql: "DELETE FROM log.message_refs WHERE message_hash = $1 AND position = 3", reason: refs},
		{sql: "DELETE FROM log.message_refs WHERE message_hash = $1", reason: refs},
		{sql: "INSERT INTO log.message_refs SELECT message_hash, 4, " + anyHash + ", 'context', thread_hash FROM log.message_refs WHERE message_hash = $1 LIMIT 1", reason: refs},
		{sql: "INSERT INTO log.message_refs SELECT * FROM log.message_refs WHERE message_hash = $1 AND position = 3", reason: refs},
		{sql: "INSERT INTO log.messages SELECT * FROM log.messages WHERE hash = $1", reason: chain.Fork},
		{sql: "UPDATE log.message_refs SET position = 4 - position WHERE message_hash = $1", reason: refs},
		{sql: "UPDATE log.messages SET content = 'other', content_digest = log.content_digest(salt, 'other', attachments, ambient) WHERE hash = $1", reason: chain.HashMismatch},
		{sql: `WITH changed AS (UPDATE log.message_refs SET ref_hash = ` + anyHash + ` WHERE message_hash = $1 AND position = 2)
			UPDATE log.messages SET refs_digest = ` + anyHash + ` WHERE hash = $1`, reason: chain.HashMismatch},
	}
}

// Every single column of a message, and of what it was sent with, altered by the superuser: the check names the very
// message, and little else, whether or not it is sealed.
func TestVerifyNamesTampering(t *testing.T) {
	t.Parallel()
	groups := []struct {
		name, table string
		list        []tampering
	}{{"message", "messages", messageTamperings()}, {"ref", "message_refs", refTamperings()}, {"row", "", rowTamperings()}}
	for _, group := range groups {
		for _, sealed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sealed %t", group.name, sealed), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t, sealed)
				if group.table != "" {
					v.covers(t, group.table, group.list)
				}
				for _, c := range group.list {
					v.passes(t)
					if n := v.exec(t, c.sql, v.message.Hash.String()); n == 0 {
						t.Fatalf("%s changed nothing", c.sql)
					}
					log, session := v.check(t)
					v.named(t, "VerifyLog after "+c.sql, log, c)
					v.named(t, "VerifySession after "+c.sql, session, c)
					v.restore(t)
				}
				v.passes(t)
			})
		}
	}
}

// covers fails for a column without a case.
func (v *victim) covers(t *testing.T, table string, list []tampering) {
	t.Helper()
	rows, _ := v.conn.Query(t.Context(), "SELECT column_name FROM information_schema.columns WHERE table_schema = 'log' AND table_name = $1", table)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(columns) == 0 {
		t.Fatalf("columns of %s: %v, %v", table, columns, err)
	}
	for _, column := range columns {
		if !slices.ContainsFunc(list, func(c tampering) bool { return c.column == column }) {
			t.Errorf("no case alters the column %s of log.%s", column, table)
		}
	}
}

func (v *victim) passes(t *testing.T) {
	t.Helper()
	log, session := v.check(t)
	if len(log) > 0 || len(session) > 0 {
		t.Fatalf("the untouched log has breaks: %s and %s", words(log), words(session))
	}
}

func (v *victim) named(t *testing.T, what string, breaks []chain.Break, c tampering) {
	t.Helper()
	same, others, reason := 0, 0, false
	for _, b := range breaks {
		if v.isMessage(b) {
			same++
			reason = reason || b.Reason == c.reason && strings.Contains(b.Detail, c.detail)
		} else {
			others++
		}
		if b.Detail == "" {
			t.Errorf("%s: a break without words", what)
		}
	}
	most := 1
	if c.column == "prev_hash" || c.column == "session_hash" || c.column == "sequence" || c.column == "" {
		most = 2 // of two kinds
	}
	if !reason || same > most || others > c.others {
		t.Errorf("%s: breaks = %s, want %s %q of the message, at most %d of it and %d of others", what, words(breaks), c.reason, c.detail, most, c.others)
	}
}

func words(breaks []chain.Break) string {
	list := make([]string, len(breaks))
	for i, b := range breaks {
		seq, hash := "?", "?"
		if b.Sequence != nil {
			seq = fmt.Sprint(*b.Sequence)
		}
		if b.MessageHash != nil {
			hash = b.MessageHash.String()[:8]
		}
		list[i] = fmt.Sprintf("\n\t%s %s in %s at %s: %s", b.Reason, hash, b.Session.String()[:8], seq, b.Detail)
	}
	return strings.Join(list, "")
}
