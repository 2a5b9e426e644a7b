-- Of these messages, those that are nearest to $1. Without the cast that the index has, this is exact.
SELECT d.kind::TEXT, d.source_id, 1 - (d.vector <=> $1)
FROM embedding.dense_{model} d
WHERE d.kind = 'context' AND d.source_id = ANY ($5::BIGINT[]) AND d.source_id <= $3 AND d.source_id <> ALL ($4::BIGINT[])
ORDER BY d.vector <=> $1, d.source_id DESC LIMIT $2
