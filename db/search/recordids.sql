-- The records that a scope holds up to an id, some of them if there are too many.
SELECT r.id FROM knowledge.records r
WHERE r.kind = ANY ($1::TEXT[]::log.ref_type[]) AND ($2::TIMESTAMPTZ IS NULL OR r.created_at >= $2)
    AND ($3::TIMESTAMPTZ IS NULL OR r.created_at < $3) AND ($4::BIGINT IS NULL OR r.id <= $4) LIMIT $5
