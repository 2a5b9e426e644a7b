-- The messages with the greatest inner product ($2 of them), by a look at all.
SELECT l.source_id, -(l.vector <#> $1::sparsevec) AS product FROM embedding.lexical l
WHERE l.kind = 'context' ORDER BY product DESC, l.source_id DESC LIMIT $2
