-- The latest threads of an agent with a user, by index, however many they have.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- What came as an event and is not erased, by the two that it is between.
CREATE INDEX messages_pair ON log.messages (
    log.pair_key(log.event_agent(role, owner_id, players_id), log.event_person(role, owner_id, players_id)), created_at, id)
    WHERE ambient ? 'thread_id';

-- The latest threads of the two, which are called by these keys, and what is shown of each; or the one that is called so. With a
-- viewer, of those that they take part in. A few hundred are gone through by their names, however many events each has. Of more, the
-- events of the two are gone through from the newest on, and those of a thread that was met are passed over. It has its owner's rights, and looks for itself whether the viewer takes part: behind policies no
-- index leads to what is between two, and each policy on the way would go through all sessions of theirs.
DROP FUNCTION log.sessions_between;
-- +goose StatementBegin
CREATE FUNCTION log.threads_between(viewer CHAR(64), agent CHAR(64), person CHAR(64), agent_key TEXT, person_key TEXT, called TEXT, most INT)
RETURNS TABLE (session_hash CHAR(64), thread_id TEXT, started_at TIMESTAMPTZ, last_event_at TIMESTAMPTZ, events BIGINT)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    threads CHAR(64)[] := '{}';
    latest  RECORD;
    pair    TEXT := log.pair_key(agent, person);
    at      TIMESTAMPTZ := 'infinity';
    place   BIGINT := 0;
    few     INT := GREATEST(200, most);
    names   TEXT[] := '{}';
    name    TEXT := '';
BEGIN
    IF log.viewer() IS NOT NULL AND log.viewer() IS DISTINCT FROM viewer OR viewer IS NULL AND current_setting('role') = 'cm_player' THEN
        RETURN;
    END IF;
    IF called IS NOT NULL THEN
        threads := ARRAY[log.event_session(agent_key, person_key, called)];
    END IF;
    WHILE called IS NULL AND cardinality(names) <= few LOOP
        SELECT log.event_thread(m.ambient, m.thread_hash) INTO name FROM log.messages m
        WHERE log.pair_key(log.event_agent(m.role, m.owner_id, m.players_id), log.event_person(m.role, m.owner_id, m.players_id)) = pair
            AND log.event_thread(m.ambient, m.thread_hash) > name
        ORDER BY log.event_thread(m.ambient, m.thread_hash) LIMIT 1;
        EXIT WHEN NOT FOUND;
        names := names || name;
    END LOOP;
    IF cardinality(names) BETWEEN 1 AND few THEN
        -- A name of more than 200 bytes stands there as the thread's hash; and so does an erased event's.
        threads := ARRAY(SELECT t.hash FROM (
                SELECT log.event_session(agent_key, person_key, c.name) AS hash FROM unnest(names) AS c (name)
                UNION SELECT m.session_hash FROM unnest(names) AS c (name) JOIN log.messages m ON m.session_hash = c.name::CHAR(64)
                WHERE length(c.name) = 64 AND m.sequence <= 100 AND octet_length(m.ambient ->> 'thread_id') > 200) t
            CROSS JOIN LATERAL (SELECT m.created_at, m.id FROM log.messages m
                WHERE m.session_hash = t.hash AND m.ambient ? 'thread_id' AND log.event_agent(m.role, m.owner_id, m.players_id) = agent
                    AND log.event_person(m.role, m.owner_id, m.players_id) = person
                ORDER BY m.sequence DESC LIMIT 1) l
            WHERE viewer IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = viewer AND v.session_hash = t.hash)
            ORDER BY l.created_at DESC, l.id DESC LIMIT most);
    END IF;
    WHILE called IS NULL AND cardinality(names) > few AND cardinality(threads) < most LOOP
        SELECT m.session_hash::CHAR(64) AS session, m.created_at, m.id INTO latest FROM log.messages m
        WHERE log.pair_key(log.event_agent(m.role, m.owner_id, m.players_id), log.event_person(m.role, m.owner_id, m.players_id)) = pair
            AND m.ambient ? 'thread_id' AND (m.created_at, m.id) < (at, place) AND m.session_hash <> ALL (threads)
            AND log.event_agent(m.role, m.owner_id, m.players_id) = agent AND log.event_person(m.role, m.owner_id, m.players_id) = person
            AND m.session_hash = log.event_session(agent_key, person_key, m.ambient ->> 'thread_id')
            AND (viewer IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = viewer AND v.session_hash = m.session_hash))
        ORDER BY m.created_at DESC, m.id DESC LIMIT 1;
        EXIT WHEN NOT FOUND;
        threads := threads || latest.session;
        at := latest.created_at;
        place := latest.id;
    END LOOP;
    RETURN QUERY
        SELECT t.hash, n.thread_id, f.created_at, n.created_at,
            l.sequence - 2 * (SELECT count(*) FROM log.messages e WHERE e.session_hash = t.hash AND e.event_type = 'erasure')
        FROM unnest(threads) WITH ORDINALITY AS t (hash, place)
        CROSS JOIN LATERAL (SELECT m.ambient ->> 'thread_id' AS thread_id, m.created_at FROM log.messages m
            WHERE m.session_hash = t.hash AND t.hash = log.event_session(agent_key, person_key, m.ambient ->> 'thread_id')
                AND log.event_agent(m.role, m.owner_id, m.players_id) = agent AND log.event_person(m.role, m.owner_id, m.players_id) = person
            ORDER BY m.sequence DESC LIMIT 1) n
        CROSS JOIN LATERAL (SELECT m.sequence FROM log.messages m WHERE m.session_hash = t.hash ORDER BY m.sequence DESC LIMIT 1) l
        CROSS JOIN LATERAL (SELECT m.created_at FROM log.messages m WHERE m.session_hash = t.hash ORDER BY m.sequence LIMIT 1) f
        WHERE viewer IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = viewer AND v.session_hash = t.hash)
        ORDER BY t.place;
END $$;
-- +goose StatementEnd
