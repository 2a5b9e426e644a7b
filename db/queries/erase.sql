-- Erasing.

-- name: Erase :many
SELECT e.* FROM log.erase(@message::bpchar, @eraser::bpchar, @reason::TEXT) e;

-- name: ErasuresOf :many
-- What erased these messages: of each, the first that says so.
SELECT DISTINCT ON (r.ref_hash) r.ref_hash AS erased, sqlc.embed(e)
FROM log.message_refs r
JOIN log.messages e ON e.hash = r.message_hash AND e.event_type = 'erasure'
JOIN log.messages m ON m.hash = r.ref_hash AND m.session_hash = e.session_hash AND m.sequence < e.sequence AND m.content IS NULL
WHERE r.ref_hash = ANY (@hashes::bpchar[]) AND r.ref_type = 'context'
ORDER BY r.ref_hash, e.sequence;
