-- The same among a thread's.
SELECT l.source_id, -(l.vector <#> $1::sparsevec) AS product FROM embedding.lexical l
JOIN log.messages m ON m.id = l.source_id
WHERE l.kind = 'context' AND m.thread_hash = $3::CHAR(64)
ORDER BY product DESC, l.source_id DESC LIMIT $2
