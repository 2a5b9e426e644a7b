-- The same for so many messages that the index is worth it: what is near and not among them is passed over.
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector::halfvec({dimensions}) <=> $1::halfvec({dimensions}))
FROM embedding.dense_{model} d
WHERE d.kind = 'context' AND d.source_id = ANY ($6::BIGINT[]) AND d.source_id <= $3 AND d.source_id <> ALL ($4::BIGINT[])
    AND $5::BIGINT IS NOT NULL
ORDER BY d.vector::halfvec({dimensions}) <=> $1::halfvec({dimensions}) LIMIT $2
