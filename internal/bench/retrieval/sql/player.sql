-- The same among those that a player takes part in.
SELECT l.source_id, -(l.vector <#> $1::sparsevec) AS product FROM embedding.lexical l
JOIN log.messages m ON m.id = l.source_id
WHERE l.kind = 'context' AND (m.owner_id = $3::CHAR(64) OR m.players_id && ARRAY[$3::CHAR(64)] OR m.master_player = $3::CHAR(64))
ORDER BY product DESC, l.source_id DESC LIMIT $2
