-- The passages of a sample that the scope holds, by the terms that they hold, how many of each.
SELECT l.terms & $22::INT[] AS hits, count(*) FROM embedding.lexical_in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT, $14::BOOLEAN, $15::BOOLEAN, $16::TEXT[], $17::BIGINT, $18::BIGINT[], $19::BIGINT, $20::BIGINT[]) l
WHERE l.draw >= 3 AND l.draw >= $21::SMALLINT GROUP BY hits ORDER BY hits
