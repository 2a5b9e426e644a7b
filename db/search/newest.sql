-- The newest messages that the scope holds, and the newest records: how well they match, the best first.
WITH messages AS MATERIALIZED (
    SELECT m.id FROM log.in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT) m
    WHERE $14::BOOLEAN AND m.id <= $16::BIGINT AND m.id <> ALL ($17::BIGINT[]) ORDER BY m.id DESC LIMIT $20
), records AS MATERIALIZED (
    SELECT r.id FROM knowledge.records r
    WHERE r.kind = ANY ($15::TEXT[]::log.ref_type[]) AND r.id <= $18::BIGINT AND ($10 IS NULL OR r.created_at >= $10)
        AND ($11 IS NULL OR r.created_at < $11) ORDER BY r.id DESC LIMIT $20)
SELECT p.kind, p.source_id, max(p.product) AS product FROM (
    SELECT l.kind, l.source_id, -(l.vector <#> CAST($19::TEXT AS sparsevec)) AS product
    FROM messages m JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = m.id
    UNION ALL
    SELECT l.kind, l.source_id, -(l.vector <#> CAST($19::TEXT AS sparsevec))
    FROM records r JOIN embedding.lexical l ON l.kind IN ('accountant', 'secretary') AND l.source_id = r.id) p
GROUP BY p.kind, p.source_id ORDER BY product DESC, p.kind, p.source_id DESC LIMIT $21
