-- The sources whose passages are in a sample of the whole log, once for each passage.
SELECT l.kind::TEXT, array_agg(l.source_id) FROM embedding.lexical l
WHERE l.draw >= 3 AND l.draw >= $1::SMALLINT GROUP BY l.kind
