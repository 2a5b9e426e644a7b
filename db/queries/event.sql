-- Events, by the session that those of an agent with a user have for each thread.

-- name: LastEvents :many
-- What the two have said last, the newest first.
SELECT m.* FROM log.messages m
WHERE m.session_hash = @session_hash::bpchar AND m.event_type = 'message' AND m.role IN ('user', 'assistant') AND m.content IS NOT NULL
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY m.sequence DESC LIMIT @row_count OFFSET @skipped;

-- name: ImportantEvents :many
-- The most important of what the two have said before a place, the newest first of those that matter as much.
SELECT m.* FROM log.messages m
WHERE m.session_hash = @session_hash::bpchar AND m.event_type = 'message' AND m.role IN ('user', 'assistant') AND m.content IS NOT NULL
    AND m.importance > 0 AND m.sequence < @before::BIGINT
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY m.importance DESC, m.sequence DESC LIMIT @row_count OFFSET @skipped;

-- name: EventPlayers :many
-- Whom events call so; none if they have not named both.
SELECT a.hash AS agent, p.hash AS person FROM core.players a CROSS JOIN core.players p
WHERE a.namespace = 'ply' AND a.key = @agent::TEXT AND p.namespace = 'plu' AND p.key = @person::TEXT;

-- name: UserThreads :many
-- The threads of an agent with a user, the latest first. A thread's id stands in each of its messages that is not erased; how
-- an event came in changes nothing of whom it is between.
SELECT s.hash::log.hash AS session_hash, n.thread_id::TEXT AS thread_id, f.created_at AS started_at, l.created_at AS last_event_at,
    (l.sequence - (SELECT count(*) FROM log.messages e WHERE e.session_hash = s.hash::CHAR(64) AND e.event_type = 'erasure'))::BIGINT AS events
FROM (SELECT unnest(log.sessions_between(sqlc.narg('viewer')::bpchar, @agent::bpchar, @person::bpchar)) AS hash) s
JOIN log.messages f ON f.session_hash = s.hash::CHAR(64) AND f.sequence = 1
CROSS JOIN LATERAL (SELECT m.sequence, m.created_at FROM log.messages m WHERE m.session_hash = s.hash::CHAR(64) ORDER BY m.sequence DESC LIMIT 1) l
CROSS JOIN LATERAL (SELECT m.ambient ->> 'thread_id' AS thread_id FROM log.messages m
    WHERE m.session_hash = s.hash::CHAR(64) AND m.ambient ->> 'thread_id' IS NOT NULL ORDER BY m.sequence LIMIT 1) n
WHERE f.thread_hash = f.session_hash
    AND log.event_agent(f.role, f.owner_id, f.players_id) = @agent AND log.event_person(f.role, f.owner_id, f.players_id) = @person
ORDER BY l.created_at DESC, s.hash LIMIT @row_count;
