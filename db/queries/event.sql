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
-- The threads of an agent with a user, the latest first: sessions that are called after a thread of theirs, by its id, which
-- stands in each message that is not erased. An erasure is a message of its session, and no event, as what it has erased.
SELECT t.hash::log.hash AS session_hash, t.thread_id::TEXT AS thread_id, f.created_at AS started_at, t.last_event_at::TIMESTAMPTZ AS last_event_at,
    (t.messages - 2 * (SELECT count(*) FROM log.messages e WHERE e.session_hash = t.hash AND e.event_type = 'erasure'))::BIGINT AS events
FROM (
    SELECT s.hash::CHAR(64) AS hash, n.thread_id, l.sequence AS messages, l.created_at AS last_event_at
    FROM (SELECT unnest(log.sessions_between(sqlc.narg('viewer')::bpchar, @agent::bpchar, @person::bpchar)) AS hash) s
    CROSS JOIN LATERAL (SELECT m.sequence, m.created_at FROM log.messages m WHERE m.session_hash = s.hash::CHAR(64) ORDER BY m.sequence DESC LIMIT 1) l
    CROSS JOIN LATERAL (SELECT m.ambient ->> 'thread_id' AS thread_id FROM log.messages m
        WHERE m.session_hash = s.hash::CHAR(64) AND m.ambient ->> 'thread_id' IS NOT NULL ORDER BY m.sequence LIMIT 1) n
    WHERE s.hash::CHAR(64) = log.event_session(@agent_key::TEXT, @person_key::TEXT, n.thread_id)
    ORDER BY l.created_at DESC, s.hash LIMIT @row_count
) t
JOIN log.messages f ON f.session_hash = t.hash AND f.sequence = 1
ORDER BY t.last_event_at DESC, t.hash;
