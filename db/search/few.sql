-- The messages of sessions or threads up to an id, each with its passages' vectors as Postgres sends them; of too many, some.
SELECT m.id, sparsevec_send(l.vector) FROM (
    SELECT m.id FROM log.messages m WHERE m.%s = ANY ($1::TEXT[]::CHAR(64)[]) AND m.id <= $2::BIGINT LIMIT $3::BIGINT) m
LEFT JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = m.id
LIMIT $4::BIGINT
