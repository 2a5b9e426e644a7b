-- Messages by their position in a session or a thread. An outline holds what positions follow from, whoever sees it: see outline.go.

-- name: OutlineState :one
-- Whether the last message of an outline is still there, where the log ends, and which transactions were under way then.
SELECT COALESCE((SELECT m.session_hash = @session_hash::bpchar AND m.created_at = @created_at FROM log.messages m WHERE m.id = @last::BIGINT), FALSE)::BOOLEAN AS kept,
    COALESCE((SELECT max(m.id) FROM log.messages m), 0)::BIGINT AS position,
    pg_snapshot_xmin(pg_current_snapshot())::TEXT::BIGINT AS oldest, pg_snapshot_xmax(pg_current_snapshot())::TEXT::BIGINT AS next;

-- name: OutlineOfThread :many
-- What a thread has behind an id, from a place on: a part at a time.
SELECT m.id, m.created_at, m.session_hash, m.event_type, m.importance, m.channel FROM log.messages m
WHERE m.thread_hash = @thread_hash::bpchar AND m.id > @settled::BIGINT AND (m.created_at, m.id) > (@at::TIMESTAMPTZ, @after::BIGINT)
ORDER BY m.created_at, m.id LIMIT @row_count;

-- name: OutlineOfSession :many
SELECT m.id, m.created_at, m.session_hash, m.event_type, m.importance, m.channel FROM log.messages m
WHERE m.session_hash = @session_hash::bpchar AND m.sequence > @after::BIGINT ORDER BY m.sequence LIMIT @row_count;

-- name: SessionsSeen :many
-- Those of the sessions that a player is a member of.
SELECT v.session_hash FROM log.members v WHERE v.player = @player::bpchar AND v.session_hash = ANY (@sessions::bpchar[]);

-- name: MessagesAt :many
-- Messages in the order of threads and sessions.
SELECT m.* FROM log.messages m WHERE m.id = ANY (@ids::BIGINT[])
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY m.created_at, m.id;

-- name: HashesAt :many
SELECT m.id, m.hash FROM log.messages m WHERE m.id = ANY (@ids::BIGINT[])
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash));

-- name: PlaceOfMessage :many
-- Where a message stands in the order of threads and sessions.
SELECT m.id, m.created_at FROM log.messages m WHERE m.hash = @hash::bpchar
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash));

-- name: MessagesHolding :many
-- The messages that have a passage with words: one of the terms of each.
SELECT DISTINCT l.source_id FROM embedding.lexical l WHERE l.kind = 'context'
    AND (sqlc.narg('keys')::TEXT IS NULL OR l.keys @@ CAST(sqlc.narg('keys')::TEXT AS query_int))
    AND (sqlc.narg('idle')::TEXT IS NULL OR l.terms @@ CAST(sqlc.narg('idle')::TEXT AS query_int));

-- name: MessagesOfSessionsHolding :many
-- The same of these sessions.
SELECT DISTINCT l.source_id FROM log.messages m JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = m.id
WHERE m.session_hash = ANY (@sessions::bpchar[])
    AND (sqlc.narg('keys')::TEXT IS NULL OR l.keys @@ CAST(sqlc.narg('keys')::TEXT AS query_int))
    AND (sqlc.narg('idle')::TEXT IS NULL OR l.terms @@ CAST(sqlc.narg('idle')::TEXT AS query_int));

-- name: MessagesOfParts :many
-- Those of a session or a thread that one of these players received, and one of those coordinated.
SELECT m.id FROM log.messages m
WHERE CASE WHEN @thread::BOOLEAN THEN m.thread_hash = @hash::bpchar ELSE m.session_hash = @hash END
    AND (sqlc.narg('receivers')::bpchar[] IS NULL OR m.players_id && sqlc.narg('receivers')::bpchar[])
    AND (sqlc.narg('leaders')::bpchar[] IS NULL OR m.master_player = ANY (sqlc.narg('leaders')::bpchar[]));
