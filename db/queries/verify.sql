-- The check of chains: what is not streamed. The stream is verify/messages.sql.

-- name: CountMessages :one
SELECT count(*) FROM log.messages m
WHERE (sqlc.narg(session)::TEXT IS NULL OR m.session_hash = sqlc.narg(session)::CHAR(64));

-- name: CountRefs :one
SELECT count(*) FROM log.message_refs;

-- name: WaitingRuns :many
-- The ids that wait for the tree, as runs without overlaps, ascending.
SELECT lower(w.run)::BIGINT AS first_id, (upper(w.run) - 1)::BIGINT AS last_id
FROM (SELECT unnest(range_agg(int8range(o.first_id, o.last_id, '[]'))) AS run
    FROM seal.outbox o WHERE o.first_id <= o.last_id AND o.last_id < 9223372036854775807) w
ORDER BY 1;

-- name: WaitingGone :one
-- How many of the ids that wait for the tree no message has, with the lowest and the highest.
SELECT count(*) AS messages, COALESCE(min(w.id), 0)::BIGINT AS first_id, COALESCE(max(w.id), 0)::BIGINT AS last_id
FROM (SELECT generate_series(o.first_id, o.last_id) AS id FROM seal.outbox o) w
WHERE NOT EXISTS (SELECT FROM log.messages m WHERE m.id = w.id);

-- name: LogKeys :many
SELECT COALESCE(g.origin, '')::TEXT AS origin, COALESCE(g.public_key, '')::TEXT AS public_key FROM seal.logs g ORDER BY g.id;

-- name: NextPlace :one
-- The place after a given one, read without the columns that may be damaged.
SELECT m.session_hash::TEXT AS session_hash, m.sequence, m.hash::TEXT AS hash, COALESCE(m.prev_hash, '')::TEXT AS prev_hash
FROM log.messages m
WHERE (sqlc.narg(session)::TEXT IS NULL OR m.session_hash = sqlc.narg(session)::CHAR(64))
    AND (sqlc.narg(after_session)::TEXT IS NULL
        OR (m.session_hash, m.sequence) > (sqlc.narg(after_session)::CHAR(64), sqlc.narg(after_sequence)::BIGINT))
ORDER BY m.session_hash, m.sequence
LIMIT 1;
