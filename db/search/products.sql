-- How well the best passage of each of these messages and records matches, the best first. The query's vector is read once: a
-- plan for any would read its text for each passage.
SELECT p.kind, p.source_id, max(p.product) AS product FROM (
    SELECT l.kind, l.source_id, -(l.vector <#> (SELECT CAST($1::TEXT AS sparsevec))) AS product FROM embedding.lexical l
    WHERE l.kind = 'context' AND l.source_id = ANY ($2::BIGINT[]) AND cardinality($2) > 0
    UNION ALL
    SELECT l.kind, l.source_id, -(l.vector <#> (SELECT CAST($1::TEXT AS sparsevec))) FROM embedding.lexical l
    WHERE l.kind IN ('accountant', 'secretary') AND l.source_id = ANY ($3::BIGINT[]) AND cardinality($3) > 0) p
GROUP BY p.kind, p.source_id ORDER BY product DESC, p.kind, p.source_id DESC LIMIT $4
