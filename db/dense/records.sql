-- Records of these kinds and times that are nearest to $1, exactly.
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector <=> $1)
FROM embedding.dense_{model} d
WHERE d.kind = ANY ($4::TEXT[]::log.ref_type[]) AND d.kind <> 'context' AND d.source_id <= $3
    AND ($5::TIMESTAMPTZ IS NULL AND $6::TIMESTAMPTZ IS NULL OR EXISTS (
        SELECT FROM knowledge.records r WHERE r.id = d.source_id AND ($5 IS NULL OR r.created_at >= $5) AND ($6 IS NULL OR r.created_at < $6)))
ORDER BY d.vector <=> $1, d.kind, d.source_id DESC LIMIT $2
