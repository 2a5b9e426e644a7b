-- What a viewer sees of the log: the highest id of a message, how many there are, and which is the newest. A chain has as
-- many messages as its last one says.
SELECT COALESCE(max(l.id), 0), COALESCE(sum(l.sequence), 0)::BIGINT, (array_agg(l.hash ORDER BY l.id DESC))[1]
FROM log.members v
CROSS JOIN LATERAL (
    SELECT m.id, m.sequence, m.hash FROM log.messages m WHERE m.session_hash = v.session_hash ORDER BY m.sequence DESC LIMIT 1) l
WHERE v.player = CAST($1::TEXT AS CHAR(64))
