-- Of the passages in scope that hold one of these words, how many hold each of the terms.
WITH passages AS MATERIALIZED (
    SELECT l.terms & $22::INT[] AS hits FROM embedding.lexical_in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT, $14::BOOLEAN, $15::BOOLEAN, $16::TEXT[], $17::BIGINT, $18::BIGINT[], $19::BIGINT, $20::BIGINT[]) l WHERE l.keys @@ CAST($21::TEXT AS query_int))
SELECT t.term, count(*) FROM passages p CROSS JOIN LATERAL unnest(p.hits) AS t (term) GROUP BY t.term
