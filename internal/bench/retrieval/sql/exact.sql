-- The messages with the greatest inner product ($2 of them), by a look at all.
SELECT l.source_id, -(l.vector <#> CAST($1::TEXT AS sparsevec)) AS product FROM embedding.lexical l
WHERE l.kind = 'context' ORDER BY l.vector <#> CAST($1::TEXT AS sparsevec), l.source_id DESC LIMIT $2
