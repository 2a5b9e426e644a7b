-- How well the messages match that stand at most some places before or after these in their sessions, as far as the
-- scope holds them.
WITH around AS MATERIALIZED (
    SELECT DISTINCT n.id FROM log.messages m CROSS JOIN LATERAL (
        SELECT s.id FROM log.in_scope(
        $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT) s
        WHERE s.session_hash = m.session_hash AND s.sequence BETWEEN m.sequence - $18::INT AND m.sequence + $19::INT
            AND s.id <= $14::BIGINT AND s.id <> ALL ($15::BIGINT[]) OFFSET 0) n
    WHERE m.id = ANY ($17::BIGINT[]))
SELECT l.kind, l.source_id, max(-(l.vector <#> CAST($16::TEXT AS sparsevec)))
FROM around a JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = a.id GROUP BY l.kind, l.source_id
