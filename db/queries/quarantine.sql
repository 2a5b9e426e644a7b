-- Quarantine, and the record of what administrators do.

-- name: Audit :one
-- Appends an event to a player's audit session.
SELECT e.* FROM log.audit(CAST(@player::TEXT AS CHAR(64)), @content::TEXT, @attachments::JSONB) e;

-- name: LockForErasure :exec
-- Locks a message's session and a player's audit session, in the order that all writers keep.
SELECT count(pg_advisory_xact_lock(k.key)) FROM (
    SELECT DISTINCT log.session_lock(s.hash) AS key FROM (
        SELECT m.session_hash::TEXT AS hash FROM log.messages m WHERE m.hash = CAST(@message::TEXT AS CHAR(64))
        UNION ALL SELECT log.audit_session(CAST(@player::TEXT AS CHAR(64)))::TEXT) s
    ORDER BY 1) k;

-- name: SessionsRead :many
-- The sessions in a list and those of messages, and whether they are a player's own: begun by them, for themself or for
-- another, or where somebody else has named them first. What an administrator appends to a session that is there makes them a
-- member, as owner or as master player for another, and makes it not their own.
SELECT r.hash::log.hash AS session_hash, EXISTS (
    SELECT FROM log.members v JOIN log.messages m ON m.id = v.since_id
    WHERE v.player = CAST(@player::TEXT AS CHAR(64)) AND v.session_hash = r.hash AND (m.sequence = 1
        OR m.owner_id <> v.player AND m.master_player IS DISTINCT FROM v.player AND NOT COALESCE(m.source LIKE '%; by ' || v.player, FALSE))) AS own
FROM (
    SELECT unnest(CAST(@sessions::TEXT[] AS CHAR(64)[])) AS hash
    UNION SELECT m.session_hash::CHAR(64) FROM log.messages m WHERE m.hash = ANY (CAST(@messages::TEXT[] AS CHAR(64)[]))) r
ORDER BY r.hash;

-- name: PlaceQuarantine :many
-- None if there is one in force already.
INSERT INTO memory.quarantines (message, message_id, reason, placed_by, event)
SELECT m.hash, m.id, @reason::TEXT, @placed_by::TEXT, @event::TEXT FROM log.messages m WHERE m.hash = CAST(@message::TEXT AS CHAR(64))
ON CONFLICT (message) WHERE released_at IS NULL DO NOTHING
RETURNING *;

-- name: ReleaseQuarantine :many
-- None if there is none in force.
UPDATE memory.quarantines SET released_by = @released_by::TEXT, released_at = clock_timestamp(), release_reason = @reason::TEXT, release_event = @event::TEXT
WHERE message = CAST(@message::TEXT AS CHAR(64)) AND released_at IS NULL
RETURNING *;

-- name: NewestQuarantine :many
-- The quarantine of a message that is in force, or was last.
SELECT q.* FROM memory.quarantines q WHERE q.message = CAST(@message::TEXT AS CHAR(64)) ORDER BY q.id DESC LIMIT 1;

-- name: Quarantines :many
SELECT q.* FROM memory.quarantines q
WHERE (sqlc.narg('active')::BOOLEAN IS NULL OR (q.released_at IS NULL) = sqlc.narg('active'))
    AND (sqlc.narg('after')::BIGINT IS NULL OR q.id < sqlc.narg('after'))
ORDER BY q.id DESC LIMIT @row_count;

-- name: CountQuarantines :one
SELECT count(*) FROM memory.quarantines q WHERE sqlc.narg('active')::BOOLEAN IS NULL OR (q.released_at IS NULL) = sqlc.narg('active');

-- name: InQuarantine :many
-- Which of these messages, of those that a viewer sees, are in quarantine.
SELECT q.message FROM memory.quarantines q
WHERE q.released_at IS NULL AND q.message = ANY (CAST(@hashes::TEXT[] AS CHAR(64)[]))
    AND (sqlc.narg('viewer')::TEXT IS NULL OR EXISTS (
        SELECT FROM log.messages m JOIN log.members v ON v.session_hash = m.session_hash AND v.player = CAST(sqlc.narg('viewer')::TEXT AS CHAR(64))
        WHERE m.hash = q.message));

-- name: SelectionsWith :many
-- Selections that hold a message or a record, the latest first, and where it stands in them.
SELECT s.id::TEXT AS id, s.receipt, s.viewer, s.created_at, COALESCE((
    SELECT (i.item ->> 'position')::INT FROM jsonb_array_elements(s.items) AS i (item)
    WHERE i.item ->> 'hash' = @source::TEXT LIMIT 1), 0)::INT AS position
FROM memory.selections s
WHERE jsonb_path_query_array(s.items, '$[*].hash') ? @source::TEXT
    AND (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar)
    AND (sqlc.narg('after_id')::TEXT IS NULL OR (s.created_at, s.id) < (sqlc.narg('after_time')::TIMESTAMPTZ, CAST(sqlc.narg('after_id')::TEXT AS UUID)))
ORDER BY s.created_at DESC, s.id DESC LIMIT @row_count;

-- name: CountSelectionsWith :one
SELECT count(*) FROM memory.selections s WHERE jsonb_path_query_array(s.items, '$[*].hash') ? @source::TEXT
    AND (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar);

-- name: QuarantinedSince :many
-- Messages of a scope, or of a list, that were there at a position of the log and have come into quarantine, or out of it,
-- since a moment.
SELECT m.hash FROM log.messages m
WHERE m.id <= @position AND m.id <> ALL (@absent::BIGINT[])
    AND m.id IN (
        SELECT q.message_id FROM memory.quarantines q GROUP BY q.message_id
        HAVING bool_or(q.released_at IS NULL) <> bool_or(q.placed_at <= @searched AND (q.released_at IS NULL OR q.released_at > @searched))
            OR bool_or(q.released_at IS NULL) AND bool_or(q.message = ANY (CAST(@chosen::TEXT[] AS CHAR(64)[]))))
    AND (m.hash = ANY (CAST(@hashes::TEXT[] AS CHAR(64)[]))
        OR @messages::BOOLEAN AND EXISTS (SELECT FROM log.in_scope(
            sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
            sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
            sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::TEXT, sqlc.narg('joined')::BIGINT) i WHERE i.id = m.id))
ORDER BY m.id LIMIT @row_count;
