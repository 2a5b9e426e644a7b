-- What the scope holds of the passages that satisfy an expression of words, the best first.
SELECT l.kind, l.source_id, max(-(l.vector <#> CAST($21::TEXT AS sparsevec))) AS product
FROM embedding.lexical_in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT, $14::BOOLEAN, $15::BOOLEAN, $16::TEXT[], $17::BIGINT, $18::BIGINT[], $19::BIGINT, $20::BIGINT[]) l
WHERE l.keys @@ CAST($22::TEXT AS query_int)
GROUP BY l.kind, l.source_id ORDER BY product DESC, l.kind, l.source_id DESC LIMIT $23
