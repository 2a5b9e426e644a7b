-- The terms of the passages of these messages and records.
SELECT l.kind::TEXT, l.source_id, l.terms FROM embedding.lexical l
WHERE l.kind = 'context' AND l.source_id = ANY ($1::BIGINT[]) AND cardinality($1) > 0
UNION ALL
SELECT l.kind::TEXT, l.source_id, l.terms FROM embedding.lexical l
WHERE l.kind IN ('accountant', 'secretary') AND l.source_id = ANY ($2::BIGINT[]) AND cardinality($2) > 0
