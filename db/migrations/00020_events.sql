-- Events, for tools that know nothing of chains: public.ia_nest_events is read by index, and takes a plain INSERT.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql
LOCK TABLE log.messages IN SHARE ROW EXCLUSIVE MODE; -- whom the log names is gathered below, and noted from then on

-- Whom messages have named, so that a name can be looked up that no row of core.players has. Two who name somebody first at the
-- same time both say so, since the one would else wait for as long as the other takes: the row with the least id counts.
CREATE TABLE log.participants (
    id     BIGINT GENERATED ALWAYS AS IDENTITY,
    player CHAR(64) COLLATE "C" NOT NULL -- a domain would have every row read
);
CREATE INDEX participants_player ON log.participants (player, id);
CREATE INDEX participants_name ON log.participants ((player::TEXT));
CREATE INDEX players_key ON core.players (key COLLATE "C");
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.participants FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON log.participants FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.participants ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.participants ENABLE ALWAYS TRIGGER immutable_all;
INSERT INTO log.participants (player) SELECT player FROM log.members UNION SELECT owner_id FROM log.messages WHERE event_type = 'erasure';

-- As before, and notes whom the log has not named yet.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.enroll() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
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
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- The agent of an event is the receiver of what a user says, and the sender of everything else; the person is the other one.
-- Nobody, if a message has no receiver, is ''.
CREATE FUNCTION log.event_agent(role TEXT, owner_id CHAR(64), players_id CHAR(64)[]) RETURNS CHAR(64)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN role = 'user' THEN COALESCE(players_id[1], '') ELSE owner_id END;
CREATE FUNCTION log.event_person(role TEXT, owner_id CHAR(64), players_id CHAR(64)[]) RETURNS CHAR(64)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN role = 'user' THEN owner_id ELSE COALESCE(players_id[1], '') END;
-- Both in short, for an index.
CREATE FUNCTION log.pair_key(agent CHAR(64), person CHAR(64)) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN left(agent::TEXT, 12) || left(person::TEXT, 12);
-- What a thread is called: the key that whoever wrote it has for it, of up to 200 bytes, or else its hash.
CREATE FUNCTION log.event_thread(ambient JSONB, thread_hash CHAR(64)) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN octet_length(ambient ->> 'thread_id') <= 200 THEN ambient ->> 'thread_id' ELSE thread_hash::TEXT END;

CREATE INDEX messages_events ON log.messages (
    log.pair_key(log.event_agent(role, owner_id, players_id), log.event_person(role, owner_id, players_id)),
    log.event_thread(ambient, thread_hash), created_at);

-- ANALYZE must not keep what threads are called: see 00009_erase.sql.
ALTER INDEX log.messages_events ALTER COLUMN 2 SET STATISTICS 0;
-- For the events of a thread that matter, however long it is.
CREATE INDEX messages_important ON log.messages (session_hash, importance, sequence) WHERE importance > 0;

-- For the erasure of a message.
CREATE INDEX append_keys_message ON log.append_keys (message_hash) WHERE fingerprint IS NOT NULL;

-- Sessions that both take part in, and the viewer, too, if there is one: who reads as a player sees no membership but their
-- own. It has its owner's rights.
-- +goose StatementBegin
CREATE FUNCTION log.sessions_between(viewer CHAR(64), one CHAR(64), other CHAR(64)) RETURNS CHAR(64)[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF log.viewer() IS NOT NULL AND log.viewer() IS DISTINCT FROM viewer THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT a.session_hash::CHAR(64) FROM log.members a JOIN log.members b ON b.session_hash = a.session_hash
        WHERE a.player = one AND b.player = other AND (viewer IS NULL OR EXISTS (
            SELECT FROM log.members v WHERE v.player = viewer AND v.session_hash = a.session_hash)));
END $$;
-- +goose StatementEnd

-- What players are called: their key, or their hash as long as they have none. Nobody has no name.
CREATE VIEW log.player_names AS
    SELECT p.hash::CHAR(64) AS hash, p.key COLLATE "C" AS name FROM core.players p
    UNION ALL
    SELECT n.player, n.player::TEXT FROM log.participants n
    WHERE NOT EXISTS (SELECT FROM core.players p WHERE p.hash = n.player)
        AND NOT EXISTS (SELECT FROM log.participants o WHERE o.player = n.player AND o.id < n.id)
    UNION ALL
    SELECT ''::CHAR(64), NULL::TEXT;

-- The names are joined as they are asked for: two of them lead to the messages between two by index. What was erased is no
-- event any more. It has its owner's rights, unlike the views that players read: a tool may read the log so, or not at all.
DROP VIEW public.ia_nest_events;
CREATE VIEW public.ia_nest_events AS
    SELECT m.id, m.source, a.name AS agent, p.name AS user_id, m.channel, log.event_thread(m.ambient, m.thread_hash) AS thread_id,
        m.event_type::TEXT AS event_type, m.role, m.importance,
        ARRAY(SELECT COALESCE(h.key, t.hash) FROM unnest(m.hashtags) WITH ORDINALITY AS t (hash, position)
            LEFT JOIN core.hashtags h ON h.hash = t.hash ORDER BY t.position) AS tags,
        m.content, m.attachments AS payload, m.created_at
    FROM log.player_names a CROSS JOIN log.player_names p
    JOIN log.messages m
        ON log.pair_key(log.event_agent(m.role, m.owner_id, m.players_id), log.event_person(m.role, m.owner_id, m.players_id))
            = log.pair_key(a.hash, p.hash)
        AND log.event_agent(m.role, m.owner_id, m.players_id) = a.hash AND log.event_person(m.role, m.owner_id, m.players_id) = p.hash
    WHERE m.content IS NOT NULL;

-- The hash of a component by its name, which is made if it is not there.
-- +goose StatementBegin
CREATE FUNCTION core.named(kind_table TEXT, of_namespace TEXT, of_key TEXT) RETURNS CHAR(64) LANGUAGE plpgsql AS $$
DECLARE
    found CHAR(64);
    look  TEXT := format('SELECT c.hash FROM core.%I c WHERE c.namespace = $1 AND c.key = $2', kind_table);
BEGIN
    EXECUTE look INTO found USING of_namespace, of_key;
    IF found IS NULL THEN
        BEGIN
            found := core.upsert(kind_table, of_namespace, of_key, log.sha256(of_namespace || ':' || of_key), FALSE, NULL, NULL, NULL, NULL);
        EXCEPTION WHEN unique_violation THEN -- somebody has added it meanwhile, whose hash was met before the key
            EXECUTE look INTO found USING of_namespace, of_key;
            IF found IS NULL THEN
                RAISE;
            END IF;
        END;
    END IF;
    RETURN found;
END $$;
-- +goose StatementEnd

-- The thread, and the session, of an agent's conversation with a user: docs/events.md.
CREATE FUNCTION log.event_session(agent TEXT, user_id TEXT, thread_id TEXT) RETURNS CHAR(64)
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN log.sha256(format(E'context-manager/events/v1\n%s %s\n%s %s\n%s %s\n', octet_length(agent), agent,
        octet_length(user_id), user_id, octet_length(thread_id), thread_id));

-- What makes an event one that can be sent again: the id that its payload gives it. NULL if it has none.
CREATE FUNCTION log.event_key(e public.ia_nest_events, session CHAR(64)) RETURNS TEXT
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT 'event:' || left($2::TEXT, 32) || ':' || k.kind || ':' || k.id
    FROM (VALUES ('f', $1.payload ->> 'frontend_message_id', jsonb_typeof($1.payload -> 'frontend_message_id'), $1.role = 'user'),
        ('b', $1.payload ->> 'backend_message_id', jsonb_typeof($1.payload -> 'backend_message_id'), $1.role <> 'user')) AS k (kind, id, type, own)
    WHERE k.type IN ('string', 'number') AND k.id <> '' ORDER BY k.own DESC LIMIT 1
$$;

-- What an event must be, as POST /hooks/events has it. Says which field is wrong.
-- +goose StatementBegin
CREATE FUNCTION log.check_event(e public.ia_nest_events) RETURNS VOID LANGUAGE plpgsql STABLE AS $$
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
        ('payload', 'is not a JSON object', jsonb_typeof(e.payload) = 'object'),
        ('payload', 'has a message id of more than 215 bytes', COALESCE(octet_length(log.event_key(e, '')), 0) <= 224),
        ('channel', 'has more than 256 bytes', e.channel IS NULL OR octet_length(e.channel) <= 256),
        ('created_at', 'is more than five minutes ahead, or infinite', e.created_at IS NULL
            OR isfinite(e.created_at) AND e.created_at <= clock_timestamp() + INTERVAL '5 minutes')
    ) AS c (field, problem, ok) WHERE c.ok IS NOT TRUE LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'ia_nest_events.%', wrong USING ERRCODE = 'check_violation', COLUMN = split_part(wrong, ' ', 1);
    END IF;
END $$;
-- +goose StatementEnd

-- Appends an event as a message, as POST /hooks/events does, or finds the message that it has become before. It has its
-- owner's rights: a tool needs no others than INSERT and SELECT on the view.
-- +goose StatementBegin
CREATE FUNCTION log.append_event() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    given    TEXT := to_char(NEW.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'); -- whatever the session's zone is
    agent    CHAR(64);
    person   CHAR(64);
    session  CHAR(64);
    sender   CHAR(64);
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
    IF FOUND AND known.fingerprint <> sent THEN
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
        SELECT session, session, sender, ARRAY[CASE WHEN NEW.role = 'user' THEN agent ELSE person END], NEW.role,
            NEW.event_type::log.event_type, NEW.importance, NEW.channel, NEW.source, NEW.content, NEW.payload,
            jsonb_strip_nulls(jsonb_build_object('thread_id', NEW.thread_id, 'delivered_by_login', session_user, 'created_at', given)),
            COALESCE(tags, '{}'), GREATEST(NEW.created_at, (SELECT h.created_at FROM log.messages h WHERE h.session_hash = session
                AND NEW.created_at IS NOT NULL ORDER BY h.sequence DESC LIMIT 1))
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
CREATE TRIGGER append INSTEAD OF INSERT ON public.ia_nest_events FOR EACH ROW EXECUTE FUNCTION log.append_event();

-- The messages of a conversation's turns that are in quarantine, for a prompt, which has to be quick: in the statement that reads
-- the conversation. It has its owner's rights, since players may not read quarantines.
-- +goose StatementBegin
CREATE FUNCTION memory.quarantined_turns(history JSONB) RETURNS TEXT[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL) THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT q.message::TEXT FROM memory.quarantines q WHERE q.released_at IS NULL AND q.message = ANY (ARRAY(
        SELECT CAST(t.turn ->> 'message' AS CHAR(64)) FROM jsonb_array_elements(history) AS t (turn))));
END $$;
-- +goose StatementEnd
