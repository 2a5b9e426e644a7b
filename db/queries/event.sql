-- Events, by the session that those of an agent with a user have for each thread.

-- name: LastEvents :many
-- What the two have said last before a place, the newest first. Whoever else speaks there, or speaks as the other, is left out.
SELECT m.* FROM log.messages m
WHERE m.session_hash = @session_hash::bpchar AND m.event_type = 'message' AND m.role IN ('user', 'assistant') AND m.content IS NOT NULL
    AND m.sequence < @before::BIGINT
    AND log.event_agent(m.role, m.owner_id, m.players_id) = @agent::bpchar AND log.event_person(m.role, m.owner_id, m.players_id) = @person::bpchar
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY m.sequence DESC LIMIT @row_count;

-- name: ImportantEvents :many
-- The most important of what the two have said before a place, the newest first of those that matter as much: those that come
-- behind one of an importance and a place, in this order.
SELECT m.* FROM log.messages m
WHERE m.session_hash = @session_hash::bpchar AND m.event_type = 'message' AND m.role IN ('user', 'assistant') AND m.content IS NOT NULL
    AND m.importance > 0 AND m.sequence < @before::BIGINT AND (m.importance, m.sequence) < (@importance::SMALLINT, @place::BIGINT)
    AND log.event_agent(m.role, m.owner_id, m.players_id) = @agent::bpchar AND log.event_person(m.role, m.owner_id, m.players_id) = @person::bpchar
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY m.importance DESC, m.sequence DESC LIMIT @row_count;

-- name: EventPlayers :many
-- Whom events call so; none if they have not named both.
SELECT a.hash AS agent, p.hash AS person FROM core.players a CROSS JOIN core.players p
WHERE a.namespace = 'ply' AND a.key = @agent::TEXT AND p.namespace = 'plu' AND p.key = @person::TEXT;

-- name: UserThreads :many
-- The threads of an agent with a user, the latest first, or the one that is called so: sessions that are called after a thread of
-- theirs, by its id, which stands in each event that is not erased. An erasure is a message of its session, and no event, as what
-- it has erased.
SELECT t.hash::log.hash AS session_hash, n.thread_id::TEXT AS thread_id, f.created_at AS started_at, n.created_at AS last_event_at,
    (l.sequence - 2 * (SELECT count(*) FROM log.messages e WHERE e.session_hash = t.hash::CHAR(64) AND e.event_type = 'erasure'))::BIGINT AS events
FROM (SELECT unnest(CASE WHEN sqlc.narg('thread_id')::TEXT IS NULL
    THEN log.latest_threads(sqlc.narg('viewer')::bpchar, @agent::bpchar, @person::bpchar, @agent_key::TEXT, @person_key::TEXT, @row_count::INT)
    ELSE ARRAY[log.event_session(@agent_key::TEXT, @person_key::TEXT, sqlc.narg('thread_id')::TEXT)] END) AS hash) t
CROSS JOIN LATERAL (SELECT m.ambient ->> 'thread_id' AS thread_id, m.created_at FROM log.messages m
    WHERE m.session_hash = t.hash::CHAR(64) AND t.hash = log.event_session(@agent_key::TEXT, @person_key::TEXT, m.ambient ->> 'thread_id')
        AND log.event_agent(m.role, m.owner_id, m.players_id) = @agent::bpchar AND log.event_person(m.role, m.owner_id, m.players_id) = @person::bpchar
    ORDER BY m.sequence DESC LIMIT 1) n
CROSS JOIN LATERAL (SELECT m.sequence FROM log.messages m WHERE m.session_hash = t.hash::CHAR(64) ORDER BY m.sequence DESC LIMIT 1) l
CROSS JOIN LATERAL (SELECT m.created_at FROM log.messages m WHERE m.session_hash = t.hash::CHAR(64) AND m.sequence = 1) f
WHERE sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
    SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = t.hash::CHAR(64))
ORDER BY n.created_at DESC, t.hash;
