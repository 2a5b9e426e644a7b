package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
)

// sqlState gives the code of a database's error; empty for none.
func sqlState(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// setUp is for SQL of these tests: functions that write one message and its refs in a plain INSERT.
const setUp = `
	CREATE FUNCTION h(x TEXT) RETURNS TEXT LANGUAGE sql RETURN log.sha256(x);
	CREATE FUNCTION say(session TEXT, content TEXT) RETURNS TEXT LANGUAGE sql AS $$
		INSERT INTO log.messages (session_hash, thread_hash, owner_id, content) VALUES (h(session), h('thread'), h('owner'), content) RETURNING hash $$;
	CREATE FUNCTION cite(session TEXT, types TEXT[], refs TEXT[]) RETURNS TEXT LANGUAGE sql AS $$
		INSERT INTO log.messages (session_hash, thread_hash, owner_id, content, refs_digest)
		VALUES (h(session), h('thread'), h('owner'), 'with refs', log.refs_digest(types, refs)) RETURNING hash $$;
	CREATE FUNCTION ref(message TEXT, place INT, kind TEXT, target TEXT) RETURNS VOID LANGUAGE sql AS $$
		INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type) VALUES (message, place, target, kind::log.ref_type) $$;`

func schema(t *testing.T) (conn *pgx.Conn, url string) {
	t.Helper()
	url = dbtest.New(t)
	conn = superuser(t, url)
	mustExec(t, conn, setUp)
	return conn, url
}

func value[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// broken counts what is wrong with the chains, by SQL alone.
const broken = `
	SELECT count(*) FROM (
		SELECT m.*, lag(hash) OVER s AS last, row_number() OVER s AS place, lag(id) OVER s AS last_id, lag(created_at) OVER s AS last_time
		FROM log.messages m WINDOW s AS (PARTITION BY session_hash ORDER BY sequence)
	) m
	WHERE m.prev_hash IS DISTINCT FROM m.last OR m.sequence <> m.place OR m.id < m.last_id OR m.created_at < m.last_time`

func TestPlainInsertsAreChained(t *testing.T) {
	t.Parallel()
	conn, url := schema(t)
	mustExec(t, conn, `INSERT INTO log.messages (session_hash, owner_id, content)
		SELECT h('s' || i % 3), h('o'), 'message ' || i FROM generate_series(1, 30) i`)
	mustExec(t, conn, "SELECT say('s1', 'one more')")
	if n := value[int](t, conn, broken); n != 0 {
		t.Errorf("%d messages are not chained", n)
	}
	if n := value[int](t, conn, "SELECT count(DISTINCT salt) FROM log.messages WHERE octet_length(salt) = 16"); n != 31 {
		t.Errorf("%d different salts of 31", n)
	}
	if log, err := openURL(t, url).VerifyLog(t.Context(), nil); err != nil || !log.Valid || log.Messages != 31 || log.Sessions != 3 {
		t.Errorf("VerifyLog() = %+v, %v", log, err)
	}
}

// Each statement is refused with its code, and leaves the log as it was.
func TestWrongStatementsAreRefused(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	mustExec(t, conn, "SELECT say('s', 'first'); SELECT say('s', 'second')")
	mustExec(t, conn, "SELECT ref(cite('r', ARRAY['context'], ARRAY[h('x')]), 1, 'context', h('x'))")
	stated := func(column, value string) string {
		return fmt.Sprintf("INSERT INTO log.messages (session_hash, owner_id, content, %s) VALUES (h('s'), h('o'), 'c', %s)", column, value)
	}
	last := "(SELECT hash FROM log.messages WHERE session_hash = h('r'))"
	tests := []struct{ name, sql, code string }{
		{"hash", stated("hash", "h('x')"), "CM002"},
		{"content_digest", stated("content_digest", "h('x')"), "CM002"},
		{"id", stated("id", "7"), "CM002"},
		{"id_digest", stated("id_digest", "h('x')"), "CM002"},
		{"prev_hash of nothing", stated("prev_hash", "h('x')"), "CM001"},
		{"prev_hash of an older one", stated("prev_hash", "(SELECT hash FROM log.messages WHERE sequence = 1 AND session_hash = h('s'))"), "CM001"},
		{"sequence", stated("sequence", "2"), "CM001"},
		{"sequence ahead", stated("sequence", "4"), "CM001"},
		{"prev_hash of a first one", "INSERT INTO log.messages (session_hash, owner_id, content, prev_hash) VALUES (h('new'), h('o'), 'c', h('x'))", "CM001"},
		{"too early", stated("created_at", "'2001-01-01'"), "CM003"},
		{"infinity", stated("created_at", "'infinity'"), "CM002"},
		{"minus infinity", "INSERT INTO log.messages (session_hash, owner_id, content, created_at) VALUES (h('new'), h('o'), 'c', '-infinity')", "CM002"},
		{"before year 1", "INSERT INTO log.messages (session_hash, owner_id, content, created_at) VALUES (h('new'), h('o'), 'c', '0001-12-31 BC')", "23514"},
		{"after year 9999", stated("created_at", "'10000-01-01'"), "23514"},
		{"empty content", "SELECT say('s', '')", "23514"},
		{"long content", "SELECT say('s', repeat('x', 1048577))", "23514"},
		{"no content", "SELECT say('s', NULL)", "23514"},
		{"no attachments", stated("attachments", "NULL"), "23514"},
		{"no session", "INSERT INTO log.messages (owner_id, content) VALUES (h('o'), 'c')", "23502"},
		{"no owner", "INSERT INTO log.messages (session_hash, content) VALUES (h('s'), 'c')", "23502"},
		{"no receivers", stated("players_id", "NULL"), "23502"},
		{"importance", stated("importance", "3"), "23514"},
		{"long role", stated("role", "repeat('x', 65)"), "23514"},
		{"long channel", stated("channel", "repeat('x', 257)"), "23514"},
		{"long source", stated("source", "repeat('x', 257)"), "23514"},
		{"large attachments", stated("attachments", "jsonb_build_array(repeat('x', 1048573))"), "23514"},
		{"large ambient", stated("ambient", "to_jsonb(repeat('x', 1048575))"), "23514"},
		{"attachments of long numbers", stated("attachments", "('[1e130000' || repeat(',1e130000', 8) || ']')::JSONB"), "23514"},
		{"large data of a record", "INSERT INTO knowledge.records (kind, book, title, content, data) VALUES ('secretary', 'b', 't', 'c', to_jsonb(repeat('x', 1048575)))", "23514"},
		{"large data of a player", "INSERT INTO core.players (hash, namespace, key, data) VALUES (h('p'), 'ply', 'k', to_jsonb(repeat('x', 1048575)))", "23514"},
		{"short salt", stated("salt", `'\x00'`), "23514"},
		{"upper case", stated("thread_hash", "upper(h('x'))"), "23514"},
		{"short hash", stated("thread_hash", "'ab'"), "23514"},
		{"long hash", stated("thread_hash", "h('x') || 'a'"), "22001"},
		{"empty hash", stated("thread_hash", "''"), "23514"},
		{"hash with a line end", stated("thread_hash", "left(h('x'), 63) || E'\\n'"), "23514"},
		{"NULL in a list", stated("hashtags", "ARRAY[h('x'), NULL]"), "23514"},
		{"short hash in a list", stated("hashtags", "ARRAY[h('x'), 'ab']"), "23514"},
		{"list of lists", stated("hashtags", "ARRAY[ARRAY[h('x')]]"), "23514"},
		{"list that starts at 0", stated("hashtags", "('[0:0]={' || h('x') || '}')::CHAR(64)[]"), "23514"},
		{"long list", stated("item_id", "array_fill(h('x'), ARRAY[257])"), "23514"},
		{"refs_digest without refs", stated("refs_digest", "h('x')"), "CM005"},
		{"a ref missing", "SELECT ref(cite('q', ARRAY['context', 'context'], ARRAY[h('x'), h('y')]), 1, 'context', h('x'))", "CM005"},
		{"another ref", "SELECT ref(cite('q', ARRAY['context'], ARRAY[h('x')]), 1, 'context', h('y'))", "CM005"},
		{"another type", "SELECT ref(cite('q', ARRAY['context'], ARRAY[h('x')]), 1, 'secretary', h('x'))", "CM005"},
		{"another position", "SELECT ref(cite('q', ARRAY['context'], ARRAY[h('x')]), 2, 'context', h('x'))", "CM005"},
		{"position 0", "SELECT ref(cite('q', ARRAY['context'], ARRAY[h('x')]), 0, 'context', h('x'))", "23514"},
		{"the other order", `WITH m AS MATERIALIZED (SELECT cite('q', ARRAY['context', 'context'], ARRAY[h('x'), h('y')]) AS hash)
			SELECT ref(hash, 1, 'context', h('y')), ref(hash, 2, 'context', h('x')) FROM m`, "CM005"},
		{"the same ref twice", `WITH m AS MATERIALIZED (SELECT cite('q', ARRAY['context', 'context'], ARRAY[h('x'), h('x')]) AS hash)
			SELECT ref(hash, 1, 'context', h('x')), ref(hash, 2, 'context', h('x')) FROM m`, "23505"},
		{"a late ref", "SELECT ref(" + last + ", 2, 'context', h('y'))", "CM005"},
		{"a late ref far behind", "SELECT ref(" + last + ", 999, 'context', h('y'))", "CM005"},
		{"a late ref, checked at once", "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SELECT ref(" + last + ", 2, 'context', h('y')); COMMIT", "CM005"},
		{"a ref of nothing", "SELECT ref(h('nothing'), 1, 'context', h('y'))", "CM005"},
		{"a ref in another thread", "INSERT INTO log.message_refs VALUES (" + last + ", 2, h('y'), 'context', h('other thread'))", "CM002"},
	}
	const state = `SELECT count(*) || ' ' || (SELECT count(*) FROM log.message_refs) || ' ' || md5(string_agg(m::TEXT, ',' ORDER BY id)) FROM log.messages m`
	before := value[string](t, conn, state)
	for _, c := range tests {
		for _, role := range []string{"origin", "replica"} {
			mustExec(t, conn, "SET session_replication_role = "+role)
			_, err := conn.Exec(t.Context(), c.sql)
			if got := sqlState(err); got != c.code {
				t.Errorf("%s, as %s: %v, want %s", c.name, role, err, c.code)
			}
			mustExec(t, conn, "ROLLBACK")
			if after := value[string](t, conn, state); after != before {
				t.Fatalf("%s: the log was %s and is %s", c.name, before, after)
			}
		}
	}
}

// What is stated rightly is taken: so an export can be written again.
func TestRightValuesAreTaken(t *testing.T) {
	t.Parallel()
	from, _ := schema(t)
	mustExec(t, from, `SELECT say('s', 'first'); SELECT say('s', 'second');
		WITH m AS MATERIALIZED (SELECT cite('s', ARRAY['context', 'secretary'], ARRAY[h('x'), h('y')]) AS hash)
		SELECT ref(hash, 1, 'context', h('x')), ref(hash, 2, 'secretary', h('y')) FROM m`)
	to, url := schema(t)
	const columns = `hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, master_player, role, event_type, importance,
		channel, source, content, attachments, ambient, salt, content_digest, hashtags, flag_id, master_item_id, item_id, loc_id, refs_digest, created_at`
	rows := value[string](t, from, "SELECT jsonb_agg(to_jsonb(m) ORDER BY id) FROM log.messages m")
	refs := value[string](t, from, "SELECT jsonb_agg(to_jsonb(r)) FROM log.message_refs r")
	err := pgx.BeginFunc(t.Context(), to, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "INSERT INTO log.messages ("+columns+") SELECT "+columns+" FROM jsonb_populate_recordset(NULL::log.messages, $1::JSONB) ORDER BY sequence", rows); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "INSERT INTO log.message_refs SELECT * FROM jsonb_populate_recordset(NULL::log.message_refs, $1::JSONB)", refs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if log, err := openURL(t, url).VerifyLog(t.Context(), nil); err != nil || !log.Valid || log.Messages != 3 {
		t.Errorf("VerifyLog() = %+v, %v", log, err)
	}
}

// Nothing that was written changes or goes, not even in replica mode.
func TestLogIsImmutable(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	mustExec(t, conn, `SELECT ref(cite('s', ARRAY['context'], ARRAY[h('x')]), 1, 'context', h('x'));
		INSERT INTO log.append_keys SELECT h('o'), 'key', h('f'), hash FROM log.messages;
		INSERT INTO knowledge.records (kind, book, title, content) VALUES ('secretary', 'b', 't', 'c')`)
	columns := map[string]string{"log.messages": "importance", "log.message_refs": "position", "log.append_keys": "key", "knowledge.records": "title"}
	for table, column := range columns {
		for _, sql := range []string{
			"UPDATE TABLE SET COLUMN = COLUMN", "DELETE FROM TABLE", "TRUNCATE TABLE", "TRUNCATE TABLE CASCADE",
			"MERGE INTO TABLE t USING TABLE s ON TRUE WHEN MATCHED THEN DELETE",
		} {
			sql = strings.NewReplacer("TABLE", table, "COLUMN", column).Replace(sql)
			for _, role := range []string{"origin", "replica"} {
				mustExec(t, conn, "SET session_replication_role = "+role)
				if _, err := conn.Exec(t.Context(), sql); sqlState(err) != "CM004" {
					t.Errorf("%s, as %s: %v, want CM004", sql, role, err)
				}
			}
		}
		if n := value[int](t, conn, "SELECT count(*) FROM "+table); n != 1 {
			t.Errorf("%s has %d rows, want 1", table, n)
		}
	}
}

// A writer who makes names mean something else computes no other hashes, and gets no plan a message.
func TestTriggerIgnoresSettings(t *testing.T) {
	t.Parallel()
	conn, url := schema(t)
	mustExec(t, conn, `
		CREATE SCHEMA evil;
		CREATE FUNCTION evil.sha256(BYTEA) RETURNS BYTEA LANGUAGE sql RETURN '\x00'::BYTEA;
		CREATE FUNCTION evil.never(CHAR, CHAR) RETURNS BOOLEAN LANGUAGE sql RETURN FALSE;
		CREATE FUNCTION evil.nextval(TEXT) RETURNS BIGINT LANGUAGE sql RETURN 1::BIGINT;
		CREATE OPERATOR evil.<> (LEFTARG = CHAR, RIGHTARG = CHAR, FUNCTION = evil.never);
		SET search_path = evil, pg_catalog, public;
		SET plan_cache_mode = force_custom_plan`)
	_, err := conn.Exec(t.Context(), "INSERT INTO log.messages (session_hash, owner_id, content, hash) VALUES (log.sha256('s'), log.sha256('o'), 'c', log.sha256('x'))")
	if sqlState(err) != "CM002" {
		t.Errorf("a wrong hash gives %v, want CM002", err)
	}
	mustExec(t, conn, "INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('s'), log.sha256('o'), 'c')")
	if log, err := openURL(t, url).VerifyLog(t.Context(), nil); err != nil || !log.Valid || log.Messages != 1 {
		t.Errorf("VerifyLog() = %+v, %v", log, err)
	}
}

// The turns of a prompt that are in quarantine are found by a function that has its owner's rights: whatever names mean to who
// calls it, they mean to it what they did.
func TestQuarantinedTurnsIgnoresSettings(t *testing.T) {
	t.Parallel()
	conn, url := schema(t)
	bad := value[string](t, conn, "SELECT say('s', 'c')")
	hash, err := chain.ParseHash(bad)
	if err != nil {
		t.Fatal(err)
	}
	mustQuarantine(t, openURL(t, url), hash)
	mustExec(t, conn, `
		CREATE SCHEMA evil;
		CREATE TABLE evil.quarantines (message TEXT, released_at TIMESTAMPTZ);
		CREATE TYPE evil.text AS ENUM ('evil');
		CREATE FUNCTION evil.never(CHAR, CHAR) RETURNS BOOLEAN LANGUAGE sql RETURN FALSE;
		CREATE OPERATOR evil.= (LEFTARG = CHAR, RIGHTARG = CHAR, FUNCTION = evil.never);
		CREATE FUNCTION evil.nothing(JSONB, TEXT) RETURNS TEXT LANGUAGE sql RETURN 'nothing';
		CREATE OPERATOR evil.->> (LEFTARG = JSONB, RIGHTARG = TEXT, FUNCTION = evil.nothing);
		CREATE FUNCTION evil.jsonb_array_elements(JSONB) RETURNS SETOF JSONB LANGUAGE sql AS 'SELECT NULL::JSONB';
		SET search_path = evil, pg_catalog`)
	found := value[[]string](t, conn, fmt.Sprintf(`SELECT memory.quarantined_turns('[{"message": %q}]'::JSONB)`, bad))
	if !slices.Equal(found, []string{bad}) {
		t.Errorf("of the turns %v are in quarantine, want %s", found, bad)
	}
}

// Plans made while the log was one page must not read all of it for each message that follows.
func TestTriggersUseIndexes(t *testing.T) {
	t.Parallel()
	conn, _ := schema(t)
	mustExec(t, conn, "SELECT ref(cite('s', ARRAY['context'], ARRAY[h('x')]), 1, 'context', h('x'))")
	mustExec(t, conn, "VACUUM ANALYZE log.messages, log.message_refs")
	fillLog(t, conn, 1000)
	mustExec(t, conn, "SELECT pg_stat_force_next_flush()")
	read := value[int](t, conn, "SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'log'")
	if read > 10_000 {
		t.Errorf("%d rows were read in sequence to write 1,000", read)
	}
}

func TestConcurrentPlainWriters(t *testing.T) {
	t.Parallel()
	conn, url := schema(t)
	const writers, each = 8, 25
	var wait sync.WaitGroup
	for w := range writers {
		own := superuser(t, url)
		wait.Go(func() {
			for i := range each {
				if _, err := own.Exec(t.Context(), "SELECT say($1, $2)", fmt.Sprint("s", (w+i)%2), fmt.Sprint(w, " ", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := value[int](t, conn, "SELECT count(*) FROM log.messages"); n != writers*each {
		t.Errorf("%d messages, want %d", n, writers*each)
	}
	if n := value[int](t, conn, broken); n != 0 {
		t.Errorf("%d messages are not chained", n)
	}
}

// A writer that looks at an old state of the log cannot fork it: not with an old snapshot, and not past the trigger.
func TestForksAreImpossible(t *testing.T) {
	t.Parallel()
	conn, url := schema(t)
	mustExec(t, conn, "SELECT say('s', 'first')")
	old := superuser(t, url)
	mustExec(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM log.messages")
	mustExec(t, conn, "SELECT say('s', 'second')")
	if _, err := old.Exec(t.Context(), "SELECT say('s', 'another second')"); sqlState(err) != "23505" {
		t.Errorf("an insert by an old snapshot gives %v, want a unique violation", err)
	}
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL; ALTER TABLE log.messages DROP CONSTRAINT messages_session_hash_sequence_key")
	for _, sequence := range []int{1, 2} {
		_, err := conn.Exec(t.Context(), `INSERT INTO log.messages (id, hash, session_hash, sequence, prev_hash, owner_id, content, salt, content_digest, refs_digest, created_at, id_digest)
			SELECT id + 100, h('fork'), session_hash, sequence, prev_hash, owner_id, content, salt, content_digest, refs_digest, created_at, id_digest
			FROM log.messages WHERE sequence = $1`, sequence)
		if sqlState(err) != "23505" {
			t.Errorf("a second message with the predecessor of %d gives %v, want a unique violation", sequence, err)
		}
	}
}
