-- Appending faster. A row that states everything is checked with its whole statement at once, and not in a function
-- a row; search vectors follow in the background.

-- +goose Up
-- The function fills in what a row leaves out, so it is not called for one that leaves out nothing.
DROP TRIGGER chain ON log.messages;
CREATE TRIGGER chain BEFORE INSERT ON log.messages FOR EACH ROW
    WHEN (NEW.id IS NULL OR NEW.hash IS NULL OR NEW.sequence IS NULL OR NEW.salt IS NULL OR NEW.content_digest IS NULL
        OR NEW.refs_digest IS NULL OR NEW.created_at IS NULL OR NEW.id_digest IS NULL)
    EXECUTE FUNCTION log.chain_message();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER chain;

-- Whether JSON has more bytes as text than the log takes. An empty object is not written to find out.
CREATE FUNCTION log.too_long(value JSONB) RETURNS BOOLEAN
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN value = '{}' THEN FALSE ELSE octet_length(value::TEXT) > 1048576 END;

-- Holds every message that a statement wrote against the chain: its digests and its hash are those of its fields, and
-- it follows its predecessor in place, in time and in the order of ids. That there is no other successor, nor another
-- first message, is the unique indexes' to see. Codes as in log.chain_message.
-- An id is stated by a writer that took it from the sequence, with the session locked: what was never given is refused.
-- +goose StatementBegin
CREATE FUNCTION log.check_chain() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off AS $$
DECLARE
    given BIGINT := (SELECT s.last_value FROM log.message_id s WHERE s.is_called);
    first BIGINT;
    wrong RECORD;
BEGIN
    SELECT a.id INTO first FROM added a
    LEFT JOIN log.messages p ON p.hash = a.prev_hash AND p.session_hash = a.session_hash AND p.sequence = a.sequence - 1
    WHERE (a.id <= given AND (p.id < a.id AND p.created_at <= a.created_at OR a.prev_hash IS NULL AND a.sequence = 1)
        AND a.content_digest = log.content_digest(a.salt, a.content, a.attachments, a.ambient)
        AND a.hash = log.message_hash(ROW(a.id, a.hash, a.session_hash, a.sequence, a.prev_hash, a.thread_hash, a.owner_id,
            a.players_id, a.master_player, a.role, a.event_type, a.importance, a.channel, a.source, a.content, a.attachments, a.ambient,
            a.salt, a.content_digest, a.hashtags, a.flag_id, a.master_item_id, a.item_id, a.loc_id, a.refs_digest, a.created_at,
            a.id_digest)::log.messages)
        AND a.id_digest = log.id_digest(a.id, a.hash)
        AND NOT log.too_long(a.attachments) AND (a.ambient IS NULL OR NOT log.too_long(a.ambient))) IS NOT TRUE
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT a.*, p.hash IS NOT NULL AS linked, p.id AS before_id, p.created_at AS before_time, log.message_hash(a) AS want INTO wrong
    FROM log.messages a
    LEFT JOIN log.messages p ON p.hash = a.prev_hash AND p.session_hash = a.session_hash AND p.sequence = a.sequence - 1
    WHERE a.id = first;
    IF wrong.id > given OR given IS NULL THEN
        RAISE EXCEPTION 'id was not given by the log' USING ERRCODE = 'CM002', COLUMN = 'id';
    ELSIF wrong.linked IS NOT TRUE AND (wrong.prev_hash IS NOT NULL OR wrong.sequence <> 1) THEN
        RAISE EXCEPTION 'prev_hash and sequence do not follow the head of the session' USING ERRCODE = 'CM001', COLUMN = 'prev_hash';
    ELSIF wrong.before_id >= wrong.id THEN
        RAISE EXCEPTION 'id was given before that of the message before it' USING ERRCODE = 'CM001', COLUMN = 'id';
    ELSIF wrong.before_time > wrong.created_at THEN
        RAISE EXCEPTION 'created_at is before the last message of the session' USING ERRCODE = 'CM003', COLUMN = 'created_at';
    ELSIF log.too_long(wrong.attachments) THEN
        RAISE EXCEPTION 'attachments have more than 1048576 bytes as text' USING ERRCODE = 'check_violation',
            SCHEMA = 'log', TABLE = 'messages', CONSTRAINT = 'messages_attachments_check';
    ELSIF log.too_long(wrong.ambient) THEN
        RAISE EXCEPTION 'ambient has more than 1048576 bytes as text' USING ERRCODE = 'check_violation',
            SCHEMA = 'log', TABLE = 'messages', CONSTRAINT = 'messages_ambient_check';
    ELSIF wrong.hash IS DISTINCT FROM wrong.want THEN
        RAISE EXCEPTION 'hash is not the hash of the message' USING ERRCODE = 'CM002', COLUMN = 'hash';
    ELSIF wrong.id_digest IS DISTINCT FROM log.id_digest(wrong.id, wrong.hash) THEN
        RAISE EXCEPTION 'id_digest is not the digest of id and hash' USING ERRCODE = 'CM002', COLUMN = 'id_digest';
    END IF;
    RAISE EXCEPTION 'content_digest is not the digest of the content' USING ERRCODE = 'CM002', COLUMN = 'content_digest';
END $$;
-- +goose StatementEnd

CREATE TRIGGER chain_whole AFTER INSERT ON log.messages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION log.check_chain();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER chain_whole;

-- Messages without search vectors, as runs of ids, one row a statement that wrote them. A search takes in what is there
-- before it ranks; embedding.pending is left to the records.
CREATE TABLE embedding.backlog (
    first_id BIGINT NOT NULL,
    last_id  BIGINT NOT NULL CHECK (last_id >= first_id)
);
DROP TRIGGER await ON log.messages;
INSERT INTO embedding.backlog (first_id, last_id)
SELECT m.id, m.id FROM embedding.pending p JOIN log.messages m ON m.hash = p.hash WHERE p.kind = 'context';
DELETE FROM embedding.pending WHERE kind = 'context';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION embedding.await() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('context_manager.embeds', TRUE) IS DISTINCT FROM 'on' THEN
        INSERT INTO embedding.pending (kind, hash) SELECT a.kind, a.hash FROM added a;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- Of each statement that writes messages: the runs of their ids go to the sequencer, to whoever makes search vectors
-- and, in one notification, to whoever listens. The payload lists them as "7-9,12-12".
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    firsts BIGINT[];
    lasts  BIGINT[];
BEGIN
    SELECT ARRAY[min(a.id)], ARRAY[max(a.id)] INTO firsts, lasts FROM added a HAVING max(a.id) - min(a.id) < count(*);
    IF NOT FOUND THEN -- more than one run
        SELECT array_agg(r.first_id ORDER BY r.first_id), array_agg(r.last_id ORDER BY r.first_id) INTO firsts, lasts
        FROM (
            SELECT min(i.id) AS first_id, max(i.id) AS last_id
            FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM added) i GROUP BY i.island
        ) r;
    END IF;
    INSERT INTO seal.outbox (first_id, last_id) SELECT unnest(firsts), unnest(lasts);
    INSERT INTO embedding.backlog (first_id, last_id) SELECT unnest(firsts), unnest(lasts);
    PERFORM pg_notify('context_manager_log', string_agg(r.first_id || '-' || r.last_id, ',' ORDER BY r.place))
    FROM unnest(firsts, lasts) WITH ORDINALITY AS r (first_id, last_id, place)
    GROUP BY r.place / 150; -- a payload ends at 8,000 bytes
    RETURN NULL;
END $$;
-- +goose StatementEnd
