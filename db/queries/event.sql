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
SELECT t.session_hash::log.hash AS session_hash, t.thread_id::TEXT AS thread_id, t.started_at::TIMESTAMPTZ AS started_at,
    t.last_event_at::TIMESTAMPTZ AS last_event_at, t.events::BIGINT AS events
FROM log.threads_between(sqlc.narg('viewer')::bpchar, @agent::bpchar, @person::bpchar, @agent_key::TEXT, @person_key::TEXT, sqlc.narg('thread_id')::TEXT,
    @row_count::INT) AS t;
