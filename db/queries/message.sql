-- Messages, one and many.

-- name: MessagesByHash :many
SELECT * FROM log.messages WHERE hash = ANY (@hashes::TEXT[]);
