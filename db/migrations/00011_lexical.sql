-- Searching by words in a log of any size: words to find passages by, and samples that tell how common a word is.

-- +goose Up
-- Who appends waits behind this, and this behind the slowest reader of what goes: so not for long. It is tried again.
SET LOCAL lock_timeout = '5s';
-- Whoever writes messages is done first: what they put into the backlog themselves must not be put in once more.
LOCK TABLE log.messages, knowledge.records IN SHARE MODE;
TRUNCATE embedding.lexical, embedding.backlog, embedding.pending;

-- keys are those of terms by which passages are found: see embeddings.Passage. draw is how many zeros a hash of the
-- source ends in, so that one passage in 2^n has a draw of n or more, whatever else is known of it.
ALTER TABLE embedding.lexical ADD COLUMN keys INT[] NOT NULL, ADD COLUMN draw SMALLINT NOT NULL;
-- A row has some 2 kB, and is read as a whole: out of line, half of the vectors would cost three more pages each.
ALTER TABLE embedding.lexical ALTER COLUMN keys SET STORAGE EXTERNAL;
ALTER TABLE embedding.lexical SET (toast_tuple_target = 8160);
-- What ANALYZE samples must not hold words of messages: see 00009_erase.sql.
ALTER TABLE embedding.lexical ALTER COLUMN keys SET STATISTICS 0;

-- Every search looks through the list of what is pending in this index, so that is kept short.
CREATE INDEX lexical_keys ON embedding.lexical USING gin (keys gin__int_ops) WITH (fastupdate = on, gin_pending_list_limit = 1024);
-- Samples need no more than one passage in eight.
CREATE INDEX lexical_draw ON embedding.lexical (draw, source_id) WHERE draw >= 3;

-- All vectors are made anew.
INSERT INTO embedding.models (name, kind, dimensions) VALUES ('lexical-v2', 'lexical', 536870912);
DELETE FROM embedding.models WHERE name = 'lexical-v1';
-- In runs of which several servers can each take one.
INSERT INTO embedding.backlog (first_id, last_id)
SELECT r.first_id, LEAST(r.first_id + 9999, m.last_id)
FROM (SELECT min(id) AS first_id, max(id) AS last_id FROM log.messages) m, generate_series(m.first_id, m.last_id, 10000) AS r (first_id);
INSERT INTO embedding.pending (kind, hash) SELECT r.kind, r.hash FROM knowledge.records r;

-- The passages that a search may see: those of messages in scope, up to a position and without those that are absent,
-- and of records of these kinds, up to an id. Where the ids of the messages in scope are at hand, listed says so much; else
-- it is NULL. Written so that the planner takes it apart, and looks whether a passage's message is in scope only once
-- all else is known of the passage: OFFSET keeps it from looking at the whole scope first, and + 0 from looking for each
-- id of a list.
DROP FUNCTION embedding.in_scope;
CREATE FUNCTION embedding.lexical_in_scope(
    sessions CHAR(64)[], threads CHAR(64)[], players CHAR(64)[], owners CHAR(64)[], hashtags CHAR(64)[],
    flags CHAR(64)[], items CHAR(64)[], locations CHAR(64)[], event_types TEXT[],
    since TIMESTAMPTZ, until TIMESTAMPTZ,
    messages BOOLEAN, narrowed BOOLEAN, record_kinds TEXT[],
    at_position BIGINT, at_absent BIGINT[], at_records BIGINT, listed BIGINT[]
) RETURNS SETOF embedding.lexical LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT l.* FROM embedding.lexical l
    WHERE $12 AND l.kind = 'context' AND l.source_id <= $15 AND l.source_id <> ALL ($16)
            AND (NOT $13 OR $18 IS NOT NULL AND l.source_id + 0 = ANY ($18) OR $18 IS NULL AND EXISTS (
                SELECT FROM log.in_scope($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) m WHERE m.id = l.source_id OFFSET 0))
        OR l.kind <> 'context' AND l.kind = ANY ($14::log.ref_type[]) AND l.source_id <= $17
            AND ($10 IS NULL AND $11 IS NULL OR EXISTS (
                SELECT FROM knowledge.records r
                WHERE r.id = l.source_id AND ($10 IS NULL OR r.created_at >= $10) AND ($11 IS NULL OR r.created_at < $11) OFFSET 0))
$$;

-- The owners whom a query names.
CREATE INDEX players_name ON core.players (lower(name));
CREATE INDEX players_first_name ON core.players (lower(split_part(name, ' ', 1)));
CREATE INDEX players_unnamed ON core.players (lower(key)) WHERE name IS NULL;

-- ---- a state of the log ----------------------------------------------------------------------------------
-- A search says which log it saw, so that it can be done again.

-- Who takes an id has a transaction id before: then a look at those that are under way tells whether an id below that of
-- a message that is there may still get one.
-- +goose StatementBegin
CREATE FUNCTION log.begin_writing() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_current_xact_id();
    RETURN NULL;
END $$;

-- Records are few, and come in the order of their ids: who writes some waits for others who do.
CREATE FUNCTION knowledge.take_turns() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(log.session_lock('knowledge.records'));
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER begin_writing BEFORE INSERT ON log.messages FOR EACH STATEMENT EXECUTE FUNCTION log.begin_writing();
CREATE TRIGGER take_turns BEFORE INSERT ON knowledge.records FOR EACH STATEMENT EXECUTE FUNCTION knowledge.take_turns();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER begin_writing;
ALTER TABLE knowledge.records ENABLE ALWAYS TRIGGER take_turns;

-- Whether an id below that of a message that is there, and that no message has, may belong to a transaction under way.
CREATE FUNCTION log.is_written() RETURNS BOOLEAN
    LANGUAGE sql STABLE
    RETURN pg_snapshot_xmin(pg_current_snapshot()) <> pg_snapshot_xmax(pg_current_snapshot())
        OR age(pg_snapshot_xmax(pg_current_snapshot())::XID) <> 0;
