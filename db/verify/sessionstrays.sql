-- The same as strays.sql for one session ($1), by the indexes of its messages.
SELECT r.message_hash::TEXT, r.position, m.session_hash::TEXT AS session_hash, m.sequence, TRUE AS message_exists
FROM log.messages m
JOIN log.message_refs r ON r.message_hash = m.hash
WHERE m.session_hash = $1::TEXT::CHAR(64)
    AND m.refs_digest = 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3'
UNION ALL
SELECT r.message_hash::TEXT, r.position, n.session_hash::TEXT, n.sequence - 1, FALSE
FROM log.messages n
JOIN log.message_refs r ON r.message_hash = n.prev_hash
WHERE n.session_hash = $1::TEXT::CHAR(64)
    AND NOT EXISTS (SELECT FROM log.messages m WHERE m.hash = n.prev_hash)
ORDER BY 1, 2;
