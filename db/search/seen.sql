-- What a viewer sees of the log: the highest id of a message, how many there are, and which is the newest. A chain has as
-- many messages as its last one says.
WITH heads AS MATERIALIZED (
    SELECT l.id, l.sequence FROM log.members v
    CROSS JOIN LATERAL (
        SELECT m.id, m.sequence FROM log.messages m WHERE m.session_hash = v.session_hash ORDER BY m.sequence DESC LIMIT 1) l
    WHERE v.player = CAST($1::TEXT AS CHAR(64)))
SELECT COALESCE(h.id, 0), h.size, (SELECT m.hash FROM log.messages m WHERE m.id = h.id)
FROM (SELECT max(id) AS id, COALESCE(sum(sequence), 0)::BIGINT AS size FROM heads) h
