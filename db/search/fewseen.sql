-- The same for a viewer, whose membership is asked about once for each session; then a row of nothing if there are more messages than
-- are looked through for those that they see.
WITH asked AS MATERIALIZED (
    SELECT m.id, m.owner_id, m.session_hash, CASE WHEN m.content IS NOT NULL THEN m.hash END AS hash FROM log.messages m WHERE m.%s = ANY ($1::TEXT[]::CHAR(64)[]) AND m.id <= $2::BIGINT LIMIT $6::BIGINT),
few AS MATERIALIZED (
    SELECT a.id, a.owner_id, a.hash FROM asked a WHERE a.session_hash IN (
        SELECT s.session_hash FROM (SELECT DISTINCT a.session_hash FROM asked a) s
        WHERE EXISTS (
            SELECT FROM log.members v
            WHERE v.player = CAST($5::TEXT AS CHAR(64)) AND v.session_hash = s.session_hash AND v.since_id <= $2 OFFSET 0))
    LIMIT $3::BIGINT)
(SELECT f.id, sparsevec_send(l.vector), f.owner_id, f.hash, NULL, NULL FROM few f
LEFT JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = f.id
LIMIT $4::BIGINT)
UNION ALL
SELECT NULL, NULL, p.hash, NULL, p.key, p.name FROM (SELECT DISTINCT f.owner_id FROM few f) o JOIN core.players p ON p.hash = o.owner_id
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL WHERE (SELECT count(*) FROM asked) >= $6
