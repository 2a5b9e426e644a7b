-- Leaves whose place no message has, of one session ($1) or of all, ascending by session and sequence; with the highest
-- sequence of the session's messages, NULL if there are none.
SELECT l.session_hash::TEXT, COALESCE(l.sequence, 0), COALESCE(l.leaf_index, -1), l.message_hash::TEXT,
    (SELECT max(m.sequence) FROM log.messages m WHERE m.session_hash = l.session_hash) AS last
FROM seal.leaves l
WHERE ($1::TEXT IS NULL OR l.session_hash = $1::CHAR(64))
    AND NOT EXISTS (SELECT FROM log.messages m WHERE m.session_hash = l.session_hash AND m.sequence = l.sequence)
ORDER BY l.session_hash, l.sequence;
