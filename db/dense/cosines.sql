-- The cosines of messages ($2) and records ($3) with $1.
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector <=> $1) FROM embedding.dense_{model} d
WHERE d.kind = 'context' AND d.source_id = ANY ($2::BIGINT[])
UNION ALL
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector <=> $1) FROM embedding.dense_{model} d
WHERE d.kind IN ('accountant', 'secretary') AND d.source_id = ANY ($3::BIGINT[])
