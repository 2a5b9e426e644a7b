-- The passages of these messages and records, by the terms that they hold, how many of each.
SELECT p.hits, count(*) FROM (
    SELECT l.terms & $1::INT[] AS hits FROM embedding.lexical l
    WHERE l.kind = 'context' AND l.source_id = ANY ($2::BIGINT[]) AND cardinality($2) > 0
    UNION ALL
    SELECT l.terms & $1 FROM embedding.lexical l
    WHERE l.kind IN ('accountant', 'secretary') AND l.source_id = ANY ($3::BIGINT[]) AND cardinality($3) > 0) p
GROUP BY p.hits ORDER BY p.hits
