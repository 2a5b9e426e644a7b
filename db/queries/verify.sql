-- The check of chains: what is not streamed. The stream is verify/messages.sql.

-- name: CountMessages :one
SELECT count(*) FROM log.messages m
WHERE (sqlc.narg(session)::TEXT IS NULL OR m.session_hash = sqlc.narg(session)::CHAR(64));

-- name: CountRefs :one
SELECT count(*) FROM log.message_refs;

-- name: NextPlace :one
-- The place after a given one, read without the columns that may be damaged.
SELECT m.session_hash::TEXT AS session_hash, m.sequence, m.hash::TEXT AS hash, COALESCE(m.prev_hash, '')::TEXT AS prev_hash
FROM log.messages m
WHERE (sqlc.narg(session)::TEXT IS NULL OR m.session_hash = sqlc.narg(session)::CHAR(64))
    AND (sqlc.narg(after_session)::TEXT IS NULL
        OR (m.session_hash, m.sequence) > (sqlc.narg(after_session)::CHAR(64), sqlc.narg(after_sequence)::BIGINT))
ORDER BY m.session_hash, m.sequence
LIMIT 1;
