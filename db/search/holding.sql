-- Of the passages in scope that hold one of these words, how many hold each of the terms.
WITH passages AS MATERIALIZED (
    SELECT l.terms & $20::INT[] AS hits FROM embedding.lexical_in_scope(
    $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::BOOLEAN, $13::BOOLEAN, $14::TEXT[], $15::BIGINT, $16::BIGINT[], $17::BIGINT, $18::BIGINT[]) l WHERE l.keys @@ CAST($19::TEXT AS query_int))
SELECT t.term, count(*) FROM passages p CROSS JOIN LATERAL unnest(p.hits) AS t (term) GROUP BY t.term
