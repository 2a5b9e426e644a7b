-- What is nearest to $1 of these kinds, in a state of the log.
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector::halfvec({dimensions}) <=> $1::halfvec({dimensions}))
FROM embedding.dense_{model} d
WHERE d.kind = ANY ($6::TEXT[]::log.ref_type[])
    AND (d.kind = 'context' AND d.source_id <= $3 AND d.source_id <> ALL ($4::BIGINT[]) OR d.kind <> 'context' AND d.source_id <= $5)
ORDER BY d.vector::halfvec({dimensions}) <=> $1::halfvec({dimensions}) LIMIT $2
