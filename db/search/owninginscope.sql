-- Which of these players own a message that the scope holds.
SELECT p.hash FROM unnest($16::TEXT[]::CHAR(64)[]) AS p (hash) WHERE EXISTS (
    SELECT FROM log.in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT) m
    WHERE m.owner_id = p.hash AND m.id <= $14::BIGINT AND m.id <> ALL ($15::BIGINT[]) OFFSET 0)
