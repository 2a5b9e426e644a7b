-- Who owns the first message of these sessions.
SELECT m.session_hash, m.owner_id FROM log.messages m WHERE m.session_hash = ANY ($1::TEXT[]::CHAR(64)[]) AND m.prev_hash IS NULL
