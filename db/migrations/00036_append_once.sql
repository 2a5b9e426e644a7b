-- What follows from an INSERT of messages is done by one trigger, with its settings made once: of three, what was around their
-- statements took twice as long as these, for each group that is written.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- First what takes the strongest lock: whoever appends meanwhile waits for it, and does not get in between.
DROP TRIGGER begin_writing ON log.messages;
DROP TRIGGER chain_whole ON log.messages;
DROP TRIGGER enroll ON log.messages;
DROP TRIGGER announce ON log.messages;

-- As before, and who takes an id has a transaction id before (see log.absent), without a trigger of its own. An expression is reckoned
-- at once, where PERFORM runs a query.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.chain_message() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    done BOOLEAN;
BEGIN
    IF NEW.id IS NOT NULL OR NEW.id_digest IS NOT NULL THEN
        RAISE EXCEPTION 'id and id_digest are given by the log' USING ERRCODE = 'CM002', COLUMN = 'id';
    END IF;
    done := pg_catalog.pg_current_xact_id() IS NULL OR pg_catalog.pg_advisory_xact_lock(log.session_lock(NEW.session_hash)) IS NULL;
    IF NEW.hash IS NULL OR NEW.sequence IS NULL OR NEW.salt IS NULL OR NEW.content_digest IS NULL OR NEW.refs_digest IS NULL
        OR NEW.created_at IS NULL THEN
        NEW := log.complete(NEW);
    END IF;
    NEW.id := pg_catalog.nextval('log.message_id');
    NEW.id_digest := log.id_digest(NEW.id, NEW.hash);
    RETURN NEW;
END $$;

-- Holds every message that a statement wrote against the chain, as log.check_chain did: its digests and its hash are those of its
-- fields, and it follows its predecessor in place, in time and in the order of ids. That there is no other successor, nor another
-- first message, is the unique indexes' to see. Codes: CM001 not the head, CM002 a stated value is wrong, CM003 too early.
-- Then makes members of those whom the messages name, as log.enroll did; and files the messages for the seal and for search, and
-- tells of them, as log.announce did.
CREATE FUNCTION log.follow_messages() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    faulty BIGINT;
    wrong  RECORD;
    first  BIGINT;
    last   BIGINT;
    n      BIGINT;
    firsts BIGINT[];
    lasts  BIGINT[];
    done   BOOLEAN;
BEGIN
    SELECT a.id INTO faulty FROM added a
    LEFT JOIN log.messages p ON p.hash = a.prev_hash AND p.session_hash = a.session_hash AND p.sequence = a.sequence - 1
    WHERE ((p.id < a.id AND p.created_at <= a.created_at OR a.prev_hash IS NULL AND a.sequence = 1)
        AND a.content_digest = log.content_digest(a.salt, a.content, a.attachments, a.ambient)
        AND a.hash = log.message_hash(ROW(a.id, a.hash, a.session_hash, a.sequence, a.prev_hash, a.thread_hash, a.owner_id,
            a.players_id, a.master_player, a.role, a.event_type, a.importance, a.channel, a.source, a.content, a.attachments, a.ambient,
            a.salt, a.content_digest, a.hashtags, a.flag_id, a.master_item_id, a.item_id, a.loc_id, a.refs_digest, a.created_at,
            a.id_digest)::log.messages)
        AND NOT log.too_long(a.attachments) AND (a.ambient IS NULL OR NOT log.too_long(a.ambient))) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        SELECT a.*, p.hash IS NOT NULL AS linked, p.id AS before_id, p.created_at AS before_time, log.message_hash(a) AS want INTO wrong
        FROM log.messages a
        LEFT JOIN log.messages p ON p.hash = a.prev_hash AND p.session_hash = a.session_hash AND p.sequence = a.sequence - 1
        WHERE a.id = faulty;
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
    END IF;

    WITH enrolled AS (
        INSERT INTO log.members (player, session_hash, since_id, named_by)
        SELECT DISTINCT ON (n.session_hash, n.player) n.player, n.session_hash, n.id, n.owner_id
        FROM (
            SELECT a.id, a.session_hash, a.owner_id, a.owner_id AS player FROM added a WHERE a.event_type IS DISTINCT FROM 'erasure'
            UNION ALL SELECT a.id, a.session_hash, a.owner_id, a.master_player FROM added a WHERE a.master_player IS NOT NULL
            UNION ALL SELECT a.id, a.session_hash, a.owner_id, p.player FROM added a CROSS JOIN LATERAL unnest(a.players_id) AS p (player)
        ) n
        WHERE NOT EXISTS (SELECT FROM log.members m WHERE m.player = n.player AND m.session_hash = n.session_hash)
        ORDER BY n.session_hash, n.player, n.id -- the same for everyone, so that none wait for each other
        ON CONFLICT DO NOTHING
        RETURNING player
    )
    INSERT INTO log.participants (player)
    SELECT DISTINCT n.player::CHAR(64) AS player
    FROM (SELECT e.player FROM enrolled e UNION ALL SELECT a.owner_id FROM added a WHERE a.event_type = 'erasure') n
    WHERE NOT EXISTS (SELECT FROM log.participants p WHERE p.player = n.player::CHAR(64));

    SELECT min(a.id), max(a.id), count(*) INTO first, last, n FROM added a;
    IF n = 0 THEN
        RETURN NULL;
    ELSIF last - first < n THEN -- one run, mostly
        firsts := ARRAY[first];
        lasts := ARRAY[last];
        done := pg_notify('context_manager_log', first || '-' || last) IS NULL;
    ELSE
        SELECT array_agg(r.first_id ORDER BY r.first_id), array_agg(r.last_id ORDER BY r.first_id) INTO firsts, lasts
        FROM (
            SELECT min(i.id) AS first_id, max(i.id) AS last_id
            FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM added) i GROUP BY i.island
        ) r;
        PERFORM pg_notify('context_manager_log', string_agg(r.first_id || '-' || r.last_id, ',' ORDER BY r.place))
        FROM unnest(firsts, lasts) WITH ORDINALITY AS r (first_id, last_id, place)
        GROUP BY r.place / 150; -- a payload ends at 8,000 bytes
    END IF;
    WITH sealing AS (INSERT INTO seal.outbox (first_id, last_id) SELECT unnest(firsts), unnest(lasts)),
        embedding AS (INSERT INTO embedding.backlog (first_id, last_id) SELECT unnest(firsts), unnest(lasts))
    INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id)
    SELECT d.id, FALSE, unnest(firsts), unnest(lasts) FROM embedding.models d WHERE d.follows;
    RETURN NULL;
END $$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION log.follow_messages() FROM PUBLIC; -- as a trigger on a table of theirs, it would make members of anybody
CREATE INDEX models_follow ON embedding.models (id) WHERE follows; -- without, a plan that may not read the table costs so much that JIT begins
CREATE TRIGGER follow AFTER INSERT ON log.messages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION log.follow_messages();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER follow;

DROP FUNCTION log.begin_writing;
DROP FUNCTION log.check_chain;
DROP FUNCTION log.enroll;
DROP FUNCTION log.announce;
