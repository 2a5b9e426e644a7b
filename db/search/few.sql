-- The messages of sessions or threads up to an id, each with its owner, its passages' vectors as Postgres sends them and, unless it
-- is erased, its hash; of too many, some. Then, without an id, what the owners are called.
WITH few AS MATERIALIZED (
    SELECT m.id, m.owner_id, CASE WHEN m.content IS NOT NULL THEN m.hash END AS hash FROM log.messages m WHERE m.%s = ANY ($1::TEXT[]::CHAR(64)[]) AND m.id <= $2::BIGINT LIMIT $3::BIGINT)
(SELECT f.id, sparsevec_send(l.vector), f.owner_id, f.hash, NULL, NULL FROM few f
LEFT JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = f.id
LIMIT $4::BIGINT)
UNION ALL
SELECT NULL, NULL, p.hash, NULL, p.key, p.name FROM (SELECT DISTINCT f.owner_id FROM few f) o JOIN core.players p ON p.hash = o.owner_id
