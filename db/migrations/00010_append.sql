-- Appending faster. A row that states everything is checked with its whole statement at once, and not in a function
-- a row; search vectors follow in the background.

-- +goose Up
-- What log.chain_message did, for a row that leaves something out: a function of its own, whose settings cost nothing
-- where it is not called. It fills in all but id and id_digest.
-- +goose StatementBegin
CREATE FUNCTION log.complete(m log.messages) RETURNS log.messages LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    head RECORD;
    want CHAR(64);
BEGIN
    SELECT h.hash, h.sequence, h.created_at INTO head
        FROM log.messages h WHERE h.session_hash = m.session_hash ORDER BY h.sequence DESC LIMIT 1;

    IF m.prev_hash IS NOT NULL AND m.prev_hash IS DISTINCT FROM head.hash THEN
        RAISE EXCEPTION 'prev_hash is not the head of the session' USING ERRCODE = 'CM001', COLUMN = 'prev_hash';
    END IF;
    m.prev_hash := head.hash;
    IF m.sequence IS NOT NULL AND m.sequence <> COALESCE(head.sequence, 0) + 1 THEN
        RAISE EXCEPTION 'sequence is not the next one of the session, %', COALESCE(head.sequence, 0) + 1
            USING ERRCODE = 'CM001', COLUMN = 'sequence';
    END IF;
    m.sequence := COALESCE(head.sequence, 0) + 1;

    IF m.created_at IS NULL THEN
        m.created_at := GREATEST(clock_timestamp(), head.created_at);
    ELSIF m.created_at < head.created_at THEN
        RAISE EXCEPTION 'created_at is before the last message of the session' USING ERRCODE = 'CM003', COLUMN = 'created_at';
    ELSIF NOT isfinite(m.created_at) THEN
        RAISE EXCEPTION 'created_at is infinite' USING ERRCODE = 'CM002', COLUMN = 'created_at';
    END IF;

    m.salt := COALESCE(m.salt, substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16));
    want := log.content_digest(m.salt, m.content, m.attachments, m.ambient);
    IF m.content_digest IS NOT NULL AND m.content_digest <> want THEN
        RAISE EXCEPTION 'content_digest is not the digest of the content' USING ERRCODE = 'CM002', COLUMN = 'content_digest';
    END IF;
    m.content_digest := want;
    -- The literal is log.refs_digest('{}', '{}').
    m.refs_digest := COALESCE(m.refs_digest, 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3');

    want := log.message_hash(m);
    IF m.hash IS NOT NULL AND m.hash <> want THEN
        RAISE EXCEPTION 'hash is not the hash of the message' USING ERRCODE = 'CM002', COLUMN = 'hash';
    END IF;
    m.hash := want;
    RETURN m;
END $$;
-- +goose StatementEnd

-- Locks the session, has filled in what a row leaves out, and gives it its id: after the lock, so that the order of ids
-- is that of the chain. What a row states is held against the log by log.check_chain, with its whole statement at once.
-- Every name is qualified, so that the writer's search_path means nothing here.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.chain_message() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id IS NOT NULL OR NEW.id_digest IS NOT NULL THEN
        RAISE EXCEPTION 'id and id_digest are given by the log' USING ERRCODE = 'CM002', COLUMN = 'id';
    END IF;
    PERFORM pg_catalog.pg_advisory_xact_lock(log.session_lock(NEW.session_hash));
    IF NEW.hash IS NULL OR NEW.sequence IS NULL OR NEW.salt IS NULL OR NEW.content_digest IS NULL OR NEW.refs_digest IS NULL
        OR NEW.created_at IS NULL THEN
        NEW := log.complete(NEW);
    END IF;
    NEW.id := pg_catalog.nextval('log.message_id');
    NEW.id_digest := log.id_digest(NEW.id, NEW.hash);
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- Whether JSON has more bytes as text than the log takes. An empty object is not written to find out.
CREATE FUNCTION log.too_long(value JSONB) RETURNS BOOLEAN
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN value = '{}' THEN FALSE ELSE octet_length(value::TEXT) > 1048576 END;

-- Holds every message that a statement wrote against the chain: its digests and its hash are those of its fields, and
-- it follows its predecessor in place, in time and in the order of ids. That there is no other successor, nor another
-- first message, is the unique indexes' to see. Codes: CM001 not the head, CM002 a stated value is wrong, CM003 too early.
-- +goose StatementBegin
CREATE FUNCTION log.check_chain() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off AS $$
DECLARE
    first BIGINT;
    wrong RECORD;
BEGIN
    SELECT a.id INTO first FROM added a
    LEFT JOIN log.messages p ON p.hash = a.prev_hash AND p.session_hash = a.session_hash AND p.sequence = a.sequence - 1
    WHERE ((p.id < a.id AND p.created_at <= a.created_at OR a.prev_hash IS NULL AND a.sequence = 1)
        AND a.content_digest = log.content_digest(a.salt, a.content, a.attachments, a.ambient)
        AND a.hash = log.message_hash(ROW(a.id, a.hash, a.session_hash, a.sequence, a.prev_hash, a.thread_hash, a.owner_id,
            a.players_id, a.master_player, a.role, a.event_type, a.importance, a.channel, a.source, a.content, a.attachments, a.ambient,
            a.salt, a.content_digest, a.hashtags, a.flag_id, a.master_item_id, a.item_id, a.loc_id, a.refs_digest, a.created_at,
            a.id_digest)::log.messages)
        AND NOT log.too_long(a.attachments) AND (a.ambient IS NULL OR NOT log.too_long(a.ambient))) IS NOT TRUE
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT a.*, p.hash IS NOT NULL AS linked, p.id AS before_id, p.created_at AS before_time, log.message_hash(a) AS want INTO wrong
    FROM log.messages a
    LEFT JOIN log.messages p ON p.hash = a.prev_hash AND p.session_hash = a.session_hash AND p.sequence = a.sequence - 1
    WHERE a.id = first;
    IF wrong.linked IS NOT TRUE AND (wrong.prev_hash IS NOT NULL OR wrong.sequence <> 1) THEN
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
