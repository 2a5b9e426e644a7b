-- The same for a viewer, whose membership is asked about once for each session. If there are more messages than are looked
-- through for those that they see, a last row says so with id 0, and none is noted.
WITH asked AS MATERIALIZED (
    SELECT m.id, m.owner_id, m.session_hash, CASE WHEN m.content IS NOT NULL THEN m.hash END AS hash FROM log.messages m WHERE m.%s = ANY ($1::TEXT[]::CHAR(64)[]) AND m.id <= $2::BIGINT LIMIT $6::BIGINT),
sessions AS MATERIALIZED (SELECT DISTINCT a.session_hash FROM asked a),
seen AS MATERIALIZED (
    SELECT s.session_hash FROM sessions s WHERE EXISTS (
        SELECT FROM log.members v
        WHERE v.player = CAST($5::TEXT AS CHAR(64)) AND v.session_hash = s.session_hash AND v.since_id <= $2 OFFSET 0)),
few AS MATERIALIZED (
    SELECT a.id, a.owner_id, a.hash FROM asked a WHERE a.session_hash IN (SELECT s.session_hash FROM seen s) LIMIT $3::BIGINT),
noted AS MATERIALIZED (
    SELECT set_config('context_manager.few', CASE WHEN count(*) < $3 AND (SELECT count(*) FROM asked) < $6 THEN COALESCE(array_agg(f.id), '{}')::TEXT ELSE '{}' END, TRUE) FROM few f)
(SELECT f.id, sparsevec_send(l.vector), f.owner_id, f.hash, NULL, NULL FROM noted CROSS JOIN few f
LEFT JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = f.id
LIMIT $4::BIGINT)
UNION ALL
SELECT NULL, NULL, p.hash, NULL, p.key, p.name FROM (SELECT DISTINCT f.owner_id FROM few f) o JOIN core.players p ON p.hash = o.owner_id
UNION ALL
SELECT 0, NULL, NULL, NULL, NULL, NULL FROM asked HAVING count(*) >= $6
