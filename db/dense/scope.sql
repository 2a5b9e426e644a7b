-- What is nearest to $1 of the messages of a scope. OFFSET keeps the planner from looking for the whole scope first.
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector::halfvec({dimensions}) <=> $1::halfvec({dimensions}))
FROM embedding.dense_{model} d
WHERE d.kind = 'context' AND d.source_id <= $3 AND d.source_id <> ALL ($4::BIGINT[]) AND $5::BIGINT IS NOT NULL
    AND EXISTS (SELECT FROM log.in_scope($6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) m WHERE m.id = d.source_id OFFSET 0)
ORDER BY d.vector::halfvec({dimensions}) <=> $1::halfvec({dimensions}) LIMIT $2
