-- How many passages these messages and records have (term 0), and how many of them hold each of the terms.
WITH passages AS MATERIALIZED (
    SELECT l.terms & $1::INT[] AS hits FROM embedding.lexical l WHERE l.kind = 'context' AND l.source_id = ANY ($2::BIGINT[]) AND cardinality($2) > 0
    UNION ALL
    SELECT l.terms & $1 FROM embedding.lexical l WHERE l.kind IN ('accountant', 'secretary') AND l.source_id = ANY ($3::BIGINT[]) AND cardinality($3) > 0)
SELECT 0 AS term, count(*) FROM passages
UNION ALL
SELECT t.term, count(*) FROM passages p CROSS JOIN LATERAL unnest(p.hits) AS t (term) GROUP BY t.term
