-- The messages of sessions or threads up to an id, each with its owner, what they are called, and its passages' vectors as Postgres
-- sends them; of too many, some. The ids are noted for what reads the texts next, unless they are too many.
WITH few AS MATERIALIZED (
    SELECT m.id, m.owner_id FROM log.messages m WHERE m.%s = ANY ($1::TEXT[]::CHAR(64)[]) AND m.id <= $2::BIGINT LIMIT $3::BIGINT),
noted AS MATERIALIZED (
    SELECT set_config('context_manager.few', CASE WHEN count(*) < $3 THEN COALESCE(array_agg(f.id), '{}')::TEXT ELSE '{}' END, TRUE) FROM few f)
SELECT f.id, sparsevec_send(l.vector), f.owner_id, p.key, p.name FROM noted CROSS JOIN few f
LEFT JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = f.id
LEFT JOIN core.players p ON p.hash = f.owner_id
LIMIT $4::BIGINT
