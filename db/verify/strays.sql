-- Refs that no message of the log has: of messages written without refs, and of messages that are missing. A missing
-- message's place is told by the one that names it as its predecessor.
-- The literal is log.refs_digest('{}', '{}').
SELECT r.message_hash::TEXT, r.position, COALESCE(m.session_hash, n.session_hash)::TEXT AS session_hash,
    COALESCE(m.sequence, n.sequence - 1) AS sequence, m.hash IS NOT NULL AS message_exists
FROM log.message_refs r
LEFT JOIN log.messages m ON m.hash = r.message_hash
LEFT JOIN LATERAL (
    SELECT s.session_hash, s.sequence FROM log.messages s
    WHERE m.hash IS NULL AND s.prev_hash = r.message_hash ORDER BY s.id LIMIT 1
) n ON TRUE
WHERE m.hash IS NULL OR m.refs_digest = 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3'
ORDER BY r.message_hash, r.position;
