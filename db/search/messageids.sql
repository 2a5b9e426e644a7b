-- The messages that a scope holds up to an id, some of them if there are too many.
SELECT m.id FROM log.in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT) m
WHERE $14::BIGINT IS NULL OR m.id <= $14 LIMIT $15
