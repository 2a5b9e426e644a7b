-- The immutable log: messages chained by session, and what each was sent with.
-- docs/chain.md describes the format of the hashes; internal/chain computes the same in Go.

-- +goose Up
-- +goose StatementBegin
DO $$ BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the database must be encoded in UTF8, and is in %', current_setting('server_encoding');
    END IF;
END $$;
-- +goose StatementEnd

CREATE SCHEMA log;

CREATE DOMAIN log.hash AS CHAR(64) COLLATE "C"
    CONSTRAINT hash_is_lower_case_hex CHECK (VALUE ~ '^[0-9a-f]+$');

-- One dimension from 1, no NULL; each element is 64 characters by its type, so one class of characters will do.
CREATE DOMAIN log.hashes AS CHAR(64)[] COLLATE "C"
    CONSTRAINT hashes_are_a_list CHECK (
        COALESCE(array_ndims(VALUE), 1) = 1 AND COALESCE(array_lower(VALUE, 1), 1) = 1
        AND array_position(VALUE, NULL) IS NULL AND array_to_string(VALUE, '') ~ '^[0-9a-f]*$')
    CONSTRAINT hashes_are_few CHECK (cardinality(VALUE) <= 256);

CREATE TYPE log.event_type AS ENUM ('message', 'error', 'system', 'tool', 'erasure');
CREATE TYPE log.ref_type AS ENUM ('context', 'accountant', 'secretary');

CREATE SEQUENCE log.message_id;

CREATE TABLE log.messages (
    -- Given by the trigger once the session is locked: so the order of ids is the order of the chain.
    id             BIGINT PRIMARY KEY,
    hash           log.hash NOT NULL UNIQUE,
    session_hash   log.hash NOT NULL,
    sequence       BIGINT NOT NULL CHECK (sequence >= 1),
    prev_hash      log.hash,
    thread_hash    log.hash,
    owner_id       log.hash NOT NULL,
    players_id     log.hashes NOT NULL DEFAULT '{}',
    master_player  log.hash,
    role           TEXT CHECK (octet_length(role) <= 64),
    event_type     log.event_type NOT NULL DEFAULT 'message',
    importance     SMALLINT NOT NULL DEFAULT 0 CHECK (importance BETWEEN 0 AND 2),
    channel        TEXT CHECK (octet_length(channel) <= 256),
    source         TEXT CHECK (octet_length(source) <= 256),
    content        TEXT NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 1048576),
    -- At most 1048576 bytes each as text: log.chain_message sees to it, which has the text at hand. A CHECK would
    -- write it once more.
    attachments    JSONB NOT NULL DEFAULT '{}',
    ambient        JSONB,
    salt           BYTEA NOT NULL CHECK (octet_length(salt) = 16),
    content_digest log.hash NOT NULL,
    hashtags       log.hashes NOT NULL DEFAULT '{}',
    flag_id        log.hash,
    master_item_id log.hash,
    item_id        log.hashes NOT NULL DEFAULT '{}',
    loc_id         log.hash,
    refs_digest    log.hash NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL
        CHECK (created_at >= '0001-01-01 00:00:00+00' AND created_at < '10000-01-01 00:00:00+00'),
    -- Binds id, which the hash cannot cover: see log.id_digest.
    id_digest      log.hash NOT NULL,
    UNIQUE (session_hash, sequence),
    -- Makes a fork impossible, whoever writes.
    UNIQUE NULLS NOT DISTINCT (session_hash, prev_hash)
);

CREATE INDEX messages_thread ON log.messages (thread_hash, created_at, id);
CREATE INDEX messages_owner ON log.messages (owner_id, id);
CREATE INDEX messages_master_player ON log.messages (master_player, id) WHERE master_player IS NOT NULL;
CREATE INDEX messages_prev_hash ON log.messages (prev_hash);
CREATE INDEX messages_created_at ON log.messages (created_at, id);
CREATE INDEX messages_flag ON log.messages (flag_id, id) WHERE flag_id IS NOT NULL;
CREATE INDEX messages_location ON log.messages (loc_id, id) WHERE loc_id IS NOT NULL;
CREATE INDEX messages_hashtags ON log.messages USING gin (hashtags);
CREATE INDEX messages_players ON log.messages USING gin (players_id);
CREATE INDEX messages_items ON log.messages USING gin (item_id);

CREATE TABLE log.message_refs (
    message_hash log.hash NOT NULL,
    position     INT NOT NULL CHECK (position BETWEEN 1 AND 1000),
    ref_hash     log.hash NOT NULL,
    ref_type     log.ref_type NOT NULL,
    thread_hash  log.hash,
    PRIMARY KEY (message_hash, position),
    UNIQUE (message_hash, ref_hash)
);

CREATE INDEX message_refs_ref ON log.message_refs (ref_hash, message_hash);
CREATE INDEX message_refs_type ON log.message_refs (ref_type);
CREATE INDEX message_refs_thread ON log.message_refs (thread_hash) WHERE thread_hash IS NOT NULL;

-- Which message an idempotency key of an owner stands for, and what was asked with it.
CREATE TABLE log.append_keys (
    owner_id     log.hash NOT NULL,
    key          TEXT NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
    fingerprint  log.hash NOT NULL,
    message_hash log.hash NOT NULL,
    PRIMARY KEY (owner_id, key)
);

-- ---- digests ---------------------------------------------------------------------------------------------
-- These define the format; the trigger below calls them, so there is no second definition in SQL. What they use
-- is STABLE in Postgres' catalogue, so they are STABLE too: only then are they expanded in place.

CREATE FUNCTION log.sha256(data TEXT) RETURNS CHAR(64)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN encode(sha256(convert_to(data, 'UTF8')), 'hex');

-- F(x) of each, one after the other: a 4-byte length and the bytes; FFFFFFFF alone for NULL. This is how Postgres
-- sends the elements of an array, after 20 bytes that describe the array.
CREATE FUNCTION log.frames(VARIADIC fields BYTEA[]) RETURNS BYTEA
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN substr(array_send(fields), 21);

-- A(list): a 4-byte count and F of each. One decode of all digits at once: each hash has 64 of them.
CREATE FUNCTION log.frame_hashes(list CHAR(64)[]) RETURNS BYTEA
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN cardinality(list) = 0 THEN '\x00000000'::BYTEA
        ELSE int4send(cardinality(list)) || decode('00000020' || array_to_string(list, '00000020'), 'hex') END;

CREATE FUNCTION log.content_preimage(salt BYTEA, content TEXT, attachments JSONB, ambient JSONB) RETURNS BYTEA
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN 'context-manager/content/v1\012'::BYTEA || salt || log.frames(
        convert_to(content, 'UTF8'), convert_to(attachments::TEXT, 'UTF8'), convert_to(ambient::TEXT, 'UTF8'));

CREATE FUNCTION log.content_digest(salt BYTEA, content TEXT, attachments JSONB, ambient JSONB) RETURNS CHAR(64)
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(log.content_preimage(salt, content, attachments, ambient)), 'hex');

-- The digest of a message's refs, for writers in SQL that state it with the message:
-- log.refs_digest(ARRAY['context', 'secretary'], ARRAY[hash, hash]).
CREATE FUNCTION log.refs_digest(types TEXT[], hashes TEXT[]) RETURNS CHAR(64)
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (
        SELECT encode(sha256('context-manager/refs/v1\012'::BYTEA || int4send(COALESCE(cardinality(types), 0))
            || COALESCE(string_agg(log.frames(convert_to(r.type, 'UTF8'), decode(r.hash, 'hex')), ''::BYTEA
                ORDER BY r.position), ''::BYTEA)), 'hex')
        FROM ROWS FROM (unnest(types), unnest(hashes)) WITH ORDINALITY AS r (type, hash, position));

CREATE FUNCTION log.preimage(m log.messages) RETURNS BYTEA
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN 'context-manager/message/v1\012'::BYTEA
        || log.frames(decode(m.session_hash, 'hex'), int8send(m.sequence), decode(m.prev_hash, 'hex'),
            decode(m.thread_hash, 'hex'), decode(m.owner_id, 'hex'))
        || log.frame_hashes(m.players_id)
        || log.frames(decode(m.master_player, 'hex'), convert_to(m.role, 'UTF8'), convert_to(m.event_type::TEXT, 'UTF8'),
            int2send(m.importance), convert_to(m.channel, 'UTF8'), convert_to(m.source, 'UTF8'),
            decode(m.content_digest, 'hex'))
        || log.frame_hashes(m.hashtags)
        || log.frames(decode(m.flag_id, 'hex'), decode(m.master_item_id, 'hex'))
        || log.frame_hashes(m.item_id)
        || log.frames(decode(m.loc_id, 'hex'), decode(m.refs_digest, 'hex'),
            int8send((EXTRACT(EPOCH FROM m.created_at) * 1000000)::BIGINT));

CREATE FUNCTION log.message_hash(m log.messages) RETURNS CHAR(64)
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(log.preimage(m)), 'hex');

CREATE FUNCTION log.id_digest(id BIGINT, hash TEXT) RETURNS CHAR(64)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(sha256('context-manager/id/v1\012'::BYTEA || int8send(id) || decode(hash, 'hex')), 'hex');

-- ---- the chain, for every writer -------------------------------------------------------------------------

-- Writers lock their sessions by this key, in ascending order, before they insert.
CREATE FUNCTION log.session_lock(session_hash TEXT) RETURNS BIGINT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN hashtextextended(session_hash, 0);

-- Fills in what a writer leaves out and refuses what a writer states wrongly. Codes, for programs:
-- CM001 not the head, CM002 a stated value is wrong, CM003 too early, CM004 the log is immutable,
-- CM005 refs differ from their digest.
-- The settings: names mean what they mean here, whatever the writer's search_path says; plans are made once, even
-- where the session asks for a plan a query, which cost four times the whole trigger; and they use the index, even
-- if they are made while the log is one page.
-- +goose StatementBegin
CREATE FUNCTION log.chain_message() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    head    RECORD;
    covered BYTEA;
    want    CHAR(64);
BEGIN
    IF NEW.id IS NOT NULL OR NEW.id_digest IS NOT NULL THEN
        RAISE EXCEPTION 'id and id_digest are given by the log' USING ERRCODE = 'CM002', COLUMN = 'id';
    END IF;
    PERFORM pg_advisory_xact_lock(log.session_lock(NEW.session_hash));
    SELECT m.hash, m.sequence, m.created_at INTO head
        FROM log.messages m WHERE m.session_hash = NEW.session_hash ORDER BY m.sequence DESC LIMIT 1;

    IF NEW.prev_hash IS NOT NULL AND NEW.prev_hash IS DISTINCT FROM head.hash THEN
        RAISE EXCEPTION 'prev_hash is not the head of the session' USING ERRCODE = 'CM001', COLUMN = 'prev_hash';
    END IF;
    NEW.prev_hash := head.hash;
    IF NEW.sequence IS NOT NULL AND NEW.sequence <> COALESCE(head.sequence, 0) + 1 THEN
        RAISE EXCEPTION 'sequence is not the next one of the session, %', COALESCE(head.sequence, 0) + 1
            USING ERRCODE = 'CM001', COLUMN = 'sequence';
    END IF;
    NEW.sequence := COALESCE(head.sequence, 0) + 1;

    IF NEW.created_at IS NULL THEN
        NEW.created_at := GREATEST(clock_timestamp(), head.created_at);
    ELSIF NEW.created_at < head.created_at THEN
        RAISE EXCEPTION 'created_at is before the last message of the session' USING ERRCODE = 'CM003', COLUMN = 'created_at';
    ELSIF NOT isfinite(NEW.created_at) THEN
        RAISE EXCEPTION 'created_at is infinite' USING ERRCODE = 'CM002', COLUMN = 'created_at';
    END IF;

    NEW.salt := COALESCE(NEW.salt, substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16));
    covered := log.content_preimage(NEW.salt, NEW.content, NEW.attachments, NEW.ambient);
    IF octet_length(covered) - octet_length(NEW.content) > 1048576 THEN
        IF octet_length(NEW.attachments::TEXT) > 1048576 THEN
            RAISE EXCEPTION 'attachments have more than 1048576 bytes as text' USING ERRCODE = 'check_violation',
                SCHEMA = 'log', TABLE = 'messages', CONSTRAINT = 'messages_attachments_check';
        ELSIF octet_length(NEW.ambient::TEXT) > 1048576 THEN
            RAISE EXCEPTION 'ambient has more than 1048576 bytes as text' USING ERRCODE = 'check_violation',
                SCHEMA = 'log', TABLE = 'messages', CONSTRAINT = 'messages_ambient_check';
        END IF;
    END IF;
    want := encode(sha256(covered), 'hex');
    IF NEW.content_digest IS NOT NULL AND NEW.content_digest <> want THEN
        RAISE EXCEPTION 'content_digest is not the digest of the content' USING ERRCODE = 'CM002', COLUMN = 'content_digest';
    END IF;
    NEW.content_digest := want;
    -- The literal is log.refs_digest('{}', '{}').
    NEW.refs_digest := COALESCE(NEW.refs_digest, 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3');

    want := log.message_hash(NEW);
    IF NEW.hash IS NOT NULL AND NEW.hash <> want THEN
        RAISE EXCEPTION 'hash is not the hash of the message' USING ERRCODE = 'CM002', COLUMN = 'hash';
    END IF;
    NEW.hash := want;
    NEW.id := nextval('log.message_id');
    NEW.id_digest := log.id_digest(NEW.id, NEW.hash);
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER chain BEFORE INSERT ON log.messages FOR EACH ROW EXECUTE FUNCTION log.chain_message();

-- A ref belongs to its message's thread.
-- +goose StatementBegin
CREATE FUNCTION log.place_ref() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    thread CHAR(64);
BEGIN
    SELECT m.thread_hash INTO thread FROM log.messages m WHERE m.hash = NEW.message_hash;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'message_hash names no message' USING ERRCODE = 'CM005', COLUMN = 'message_hash';
    END IF;
    IF NEW.thread_hash IS NOT NULL AND NEW.thread_hash IS DISTINCT FROM thread THEN
        RAISE EXCEPTION 'thread_hash is not that of the message' USING ERRCODE = 'CM002', COLUMN = 'thread_hash';
    END IF;
    NEW.thread_hash := thread;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER place BEFORE INSERT ON log.message_refs FOR EACH ROW EXECUTE FUNCTION log.place_ref();

-- At commit a message's refs are what its hash covers: none is missing, none was added later.
-- +goose StatementBegin
CREATE FUNCTION log.check_refs() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    message CHAR(64);
    found   RECORD;
BEGIN
    IF TG_TABLE_NAME = 'messages' THEN
        message := NEW.hash;
    ELSE
        message := NEW.message_hash;
        -- Of a message's refs, the check of the last one is the check of all.
        IF EXISTS (SELECT FROM log.message_refs r WHERE r.message_hash = message AND r.position > NEW.position) THEN
            RETURN NULL;
        END IF;
    END IF;
    SELECT count(*) AS refs, COALESCE(max(r.position), 0) AS last,
        log.refs_digest(array_agg(r.ref_type::TEXT ORDER BY r.position), array_agg(r.ref_hash::TEXT ORDER BY r.position)) AS digest
        INTO found FROM log.message_refs r WHERE r.message_hash = message;
    IF found.refs <> found.last
        OR found.digest IS DISTINCT FROM (SELECT m.refs_digest FROM log.messages m WHERE m.hash = message) THEN
        RAISE EXCEPTION 'refs differ from what the message was written with'
            USING ERRCODE = 'CM005', COLUMN = 'refs_digest',
            HINT = 'State refs_digest = log.refs_digest(types, hashes) with the message, and insert its refs in the same transaction.';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE CONSTRAINT TRIGGER refs AFTER INSERT ON log.message_refs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION log.check_refs();
-- The literal is log.refs_digest('{}', '{}'): a message without refs needs no check.
CREATE CONSTRAINT TRIGGER refs AFTER INSERT ON log.messages
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.refs_digest <> 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3')
    EXECUTE FUNCTION log.check_refs();

-- ---- nothing changes -------------------------------------------------------------------------------------

-- +goose StatementBegin
CREATE FUNCTION log.refuse_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%.% is immutable: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP USING ERRCODE = 'CM004';
END $$;
-- +goose StatementEnd

CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.messages FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON log.messages FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.message_refs FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON log.message_refs FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.append_keys FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON log.append_keys FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

-- One notification a statement, never one a message. The payload lists the ids as "7-9,12-12".
-- +goose StatementBegin
CREATE FUNCTION log.announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('context_manager_log', string_agg(runs.run, ',' ORDER BY runs.first))
    FROM (
        SELECT min(i.id) AS first, min(i.id) || '-' || max(i.id) AS run, row_number() OVER (ORDER BY min(i.id)) AS place
        FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM added) i GROUP BY i.island
    ) runs
    GROUP BY runs.place / 150; -- a payload ends at 8,000 bytes
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER announce AFTER INSERT ON log.messages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION log.announce();

-- Replica mode skips ordinary triggers; these it must not skip.
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER chain;
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER refs;
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER immutable_all;
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER announce;
ALTER TABLE log.message_refs ENABLE ALWAYS TRIGGER place;
ALTER TABLE log.message_refs ENABLE ALWAYS TRIGGER refs;
ALTER TABLE log.message_refs ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.message_refs ENABLE ALWAYS TRIGGER immutable_all;
ALTER TABLE log.append_keys ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.append_keys ENABLE ALWAYS TRIGGER immutable_all;

-- For clients of version 7 of the log.
CREATE VIEW log.messages_v7 AS
    SELECT id, hash, session_hash, thread_hash, owner_id AS sender_id, players_id[1] AS receiver_id,
        master_player AS leader_id, role, content, attachments, prev_hash, hashtags, ambient, created_at
    FROM log.messages;
