-- How long each message that was appended since a moment ($1) waited for the first checkpoint that covers it, in
-- milliseconds: half of them at most the first, 99 of 100 at most the second.
SELECT count(*),
    COALESCE(percentile_disc(0.5) WITHIN GROUP (ORDER BY w.ms), 0),
    COALESCE(percentile_disc(0.99) WITHIN GROUP (ORDER BY w.ms), 0)
FROM (
    SELECT EXTRACT(EPOCH FROM c.signed_at - m.created_at)::FLOAT8 * 1000 AS ms
    FROM log.messages m
    JOIN seal.leaves l ON l.session_hash = m.session_hash AND l.sequence = m.sequence
    CROSS JOIN LATERAL (
        SELECT k.signed_at FROM seal.checkpoints k WHERE k.size > l.leaf_index ORDER BY k.size LIMIT 1) c
    WHERE m.created_at >= $1
) w
