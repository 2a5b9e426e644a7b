-- By their times the events of a thread are in the order of the chain, each is shown in the name of who it is from, and one that
-- is refused is told by its column.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- A time that is not up to that of a session's head, which may be NULL, as db/appendplace.go has it: who orders a session by time gets
-- it in the order of its chain, however many of its messages came at once. After the last of all times there is none.
CREATE FUNCTION log.behind(head TIMESTAMPTZ, at TIMESTAMPTZ) RETURNS TIMESTAMPTZ
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN at <= head THEN LEAST(head + INTERVAL '1 microsecond', '9999-12-31 23:59:59.999999+00') ELSE at END;

-- As before, but for the time that it gives.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.complete(m log.messages) RETURNS log.messages LANGUAGE plpgsql
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
        m.created_at := log.behind(head.created_at, clock_timestamp());
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

-- As in 00020_events.sql, but for what the log itself would refuse by names of its own.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.check_event(e public.ia_nest_events) RETURNS VOID LANGUAGE plpgsql STABLE AS $$
DECLARE
    wrong TEXT;
BEGIN
    SELECT c.field || ' ' || c.problem INTO wrong FROM (VALUES
        ('id', 'is given by the log', e.id IS NULL),
        ('source', 'is missing, or has more than 200 bytes', octet_length(e.source) BETWEEN 1 AND 200),
        ('agent', 'is missing, or has more than 200 bytes', octet_length(e.agent) BETWEEN 1 AND 200),
        ('user_id', 'is missing, or has more than 200 bytes', octet_length(e.user_id) BETWEEN 1 AND 200),
        ('user_id', 'begins with "client:" or "admin:", which is for users of conversations', e.user_id !~ '^(client|admin):'),
        ('thread_id', 'is missing, or has more than 200 bytes', octet_length(e.thread_id) BETWEEN 1 AND 200),
        ('event_type', 'is none of message, error, system, tool', e.event_type IN ('message', 'error', 'system', 'tool')),
        ('role', 'is none of user, assistant, system, tool', e.role IN ('user', 'assistant', 'system', 'tool')),
        ('importance', 'is outside of 0 to 2', e.importance BETWEEN 0 AND 2),
        ('tags', 'are more than 256, or one of them is empty or has more than 200 bytes', cardinality(e.tags) <= 256
            AND NOT EXISTS (SELECT FROM unnest(e.tags) AS t (tag) WHERE (octet_length(t.tag) BETWEEN 1 AND 200) IS NOT TRUE)),
        ('content', 'is missing', e.content <> ''),
        ('content', 'has more than 1048576 bytes', octet_length(e.content) <= 1048576),
        ('payload', 'is not a JSON object', jsonb_typeof(e.payload) = 'object'),
        ('payload', 'has more than 1048576 bytes as text', octet_length(e.payload::TEXT) <= 1048576),
        ('payload', 'has a message id of more than 215 bytes', COALESCE(octet_length(log.event_key(e, '')), 0) <= 224),
        ('channel', 'has more than 256 bytes', e.channel IS NULL OR octet_length(e.channel) <= 256),
        ('created_at', 'is more than five minutes ahead, or infinite', e.created_at IS NULL
            OR isfinite(e.created_at) AND e.created_at <= clock_timestamp() + INTERVAL '5 minutes'),
        ('created_at', 'is before the year 1', e.created_at IS NULL OR e.created_at >= '0001-01-01 00:00:00+00')
    ) AS c (field, problem, ok) WHERE c.ok IS NOT TRUE LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'ia_nest_events.%', wrong USING ERRCODE = 'check_violation', COLUMN = split_part(wrong, ' ', 1);
    END IF;
END $$;
-- +goose StatementEnd

-- As in 00022_same_events.sql, but for the time of what comes late.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.append_event() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    given    TEXT := to_char(NEW.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'); -- whatever the session's zone is
    agent    CHAR(64);
    person   CHAR(64);
    session  CHAR(64);
    sender   CHAR(64);
    receiver CHAR(64);
    began_by CHAR(64);
    tags     CHAR(64)[];
    sent_as  TEXT;
    sent     CHAR(64);
    known    RECORD;
    message  CHAR(64);
BEGIN
    NEW.event_type := COALESCE(NEW.event_type, 'message');
    NEW.importance := COALESCE(NEW.importance, 0);
    NEW.tags := COALESCE(NEW.tags, '{}');
    NEW.payload := COALESCE(NEW.payload, '{}');
    PERFORM log.check_event(NEW);
    PERFORM set_config('idle_in_transaction_session_timeout', '10s', TRUE); -- others wait for what it locks
    session := log.event_session(NEW.agent, NEW.user_id, NEW.thread_id);
    agent := core.named('players', 'ply', NEW.agent);
    person := core.named('players', 'plu', NEW.user_id);
    sender := CASE WHEN NEW.role = 'user' THEN person ELSE agent END;
    receiver := CASE WHEN NEW.role = 'user' THEN agent ELSE person END;
    FOR message IN SELECT core.named('hashtags', 'hsu', t.tag) FROM unnest(NEW.tags) AS t (tag) LOOP
        IF message = ANY (tags) IS NOT TRUE THEN
            tags := tags || message;
        END IF;
    END LOOP;

    PERFORM pg_advisory_xact_lock(log.session_lock(session));
    sent_as := log.event_key(NEW, session);
    sent := log.sha256(jsonb_build_array('context-manager/event/v1', session, NEW.source, NEW.channel, NEW.event_type, NEW.role,
        NEW.importance, NEW.tags, NEW.content, NEW.payload, given)::TEXT);
    SELECT k.message_hash, k.fingerprint INTO known FROM log.append_keys k WHERE k.owner_id = sender AND k.key = sent_as;
    IF FOUND AND known.fingerprint <> sent AND NOT EXISTS (SELECT FROM log.messages m WHERE m.hash = known.message_hash
            AND m.session_hash = session AND m.thread_hash = session AND m.owner_id = sender AND m.players_id = ARRAY[receiver]
            AND m.role = NEW.role AND m.event_type = NEW.event_type::log.event_type AND m.importance = NEW.importance AND m.source = NEW.source
            AND m.channel IS NOT DISTINCT FROM NEW.channel AND m.hashtags = COALESCE(tags, '{}') AND m.content = NEW.content
            AND m.attachments::TEXT = NEW.payload::TEXT AND (m.ambient ->> 'created_at')::TIMESTAMPTZ IS NOT DISTINCT FROM NEW.created_at) THEN
        RAISE EXCEPTION 'ia_nest_events.payload: the id of the message stands for something else already' USING
            ERRCODE = 'unique_violation', COLUMN = 'payload';
    ELSIF FOUND THEN
        message := known.message_hash;
    ELSE
        SELECT m.owner_id INTO began_by FROM log.messages m WHERE m.session_hash = session AND m.prev_hash IS NULL;
        IF began_by <> agent AND began_by <> person THEN
            RAISE EXCEPTION 'ia_nest_events.thread_id: neither agent nor user has begun the thread' USING
                ERRCODE = 'unique_violation', COLUMN = 'thread_id';
        END IF;
        INSERT INTO log.messages (session_hash, thread_hash, owner_id, players_id, role, event_type, importance, channel, source, content,
            attachments, ambient, hashtags, created_at)
        SELECT session, session, sender, ARRAY[receiver], NEW.role,
            NEW.event_type::log.event_type, NEW.importance, NEW.channel, NEW.source, NEW.content, NEW.payload,
            jsonb_strip_nulls(jsonb_build_object('thread_id', NEW.thread_id, 'delivered_by_login', session_user, 'created_at', given)),
            COALESCE(tags, '{}'), CASE WHEN NEW.created_at IS NOT NULL THEN log.behind((SELECT h.created_at FROM log.messages h
                WHERE h.session_hash = session ORDER BY h.sequence DESC LIMIT 1), NEW.created_at) END
        RETURNING hash INTO message;
        IF sent_as IS NOT NULL THEN
            INSERT INTO log.append_keys (owner_id, key, fingerprint, message_hash) VALUES (sender, sent_as, sent, message);
        END IF;
    END IF;
    SELECT m.id, m.content, m.attachments, m.created_at INTO NEW.id, NEW.content, NEW.payload, NEW.created_at
        FROM log.messages m WHERE m.hash = message; -- which may be erased since
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- What the two of an event are called: an agent and a user by the key that events have for them, everybody else by their hash, so
-- that no user comes to speak as the agent whose name they have taken. Nobody has no name.
CREATE VIEW log.agent_names AS
    SELECT p.hash::CHAR(64) AS hash, p.key COLLATE "C" AS name FROM core.players p WHERE p.namespace = 'ply'
    UNION ALL
    SELECT n.player, n.player::TEXT FROM log.participants n
    WHERE NOT EXISTS (SELECT FROM core.players p WHERE p.hash = n.player AND p.namespace = 'ply')
        AND NOT EXISTS (SELECT FROM log.participants o WHERE o.player = n.player AND o.id < n.id)
    UNION ALL
    SELECT ''::CHAR(64), NULL::TEXT;
CREATE VIEW log.person_names AS
    SELECT p.hash::CHAR(64) AS hash, p.key COLLATE "C" AS name FROM core.players p WHERE p.namespace = 'plu'
    UNION ALL
    SELECT n.player, n.player::TEXT FROM log.participants n
    WHERE NOT EXISTS (SELECT FROM core.players p WHERE p.hash = n.player AND p.namespace = 'plu')
        AND NOT EXISTS (SELECT FROM log.participants o WHERE o.player = n.player AND o.id < n.id)
    UNION ALL
    SELECT ''::CHAR(64), NULL::TEXT;

-- As in 00020_events.sql, but for the names.
CREATE OR REPLACE VIEW public.ia_nest_events AS
    SELECT m.id, m.source, a.name AS agent, p.name AS user_id, m.channel, log.event_thread(m.ambient, m.thread_hash) AS thread_id,
        m.event_type::TEXT AS event_type, m.role, m.importance,
        ARRAY(SELECT COALESCE(h.key, t.hash) FROM unnest(m.hashtags) WITH ORDINALITY AS t (hash, position)
            LEFT JOIN core.hashtags h ON h.hash = t.hash ORDER BY t.position) AS tags,
        m.content, m.attachments AS payload, m.created_at
    FROM log.agent_names a CROSS JOIN log.person_names p
    JOIN log.messages m
        ON log.pair_key(log.event_agent(m.role, m.owner_id, m.players_id), log.event_person(m.role, m.owner_id, m.players_id))
            = log.pair_key(a.hash, p.hash)
        AND log.event_agent(m.role, m.owner_id, m.players_id) = a.hash AND log.event_person(m.role, m.owner_id, m.players_id) = p.hash
    WHERE m.content IS NOT NULL;
DROP VIEW log.player_names;
