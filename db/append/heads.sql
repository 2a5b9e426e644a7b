-- The last message of each of these sessions that has any, and whether the session is an audit session.
SELECT h.session_hash, h.hash, h.sequence, h.created_at,
    EXISTS (SELECT FROM log.audit_sessions a WHERE a.session_hash = h.session_hash)
FROM unnest($1::TEXT[]::CHAR(64)[]) AS s (hash)
CROSS JOIN LATERAL (
    SELECT m.session_hash, m.hash, m.sequence, m.created_at FROM log.messages m
    WHERE m.session_hash = s.hash ORDER BY m.sequence DESC LIMIT 1) h
