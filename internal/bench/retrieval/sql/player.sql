-- The same among those that a player takes part in.
SELECT l.source_id, -(l.vector <#> CAST($1::TEXT AS sparsevec)) AS product FROM embedding.lexical l
JOIN log.messages m ON m.id = l.source_id
WHERE l.kind = 'context' AND (m.owner_id = CAST($3::TEXT AS CHAR(64)) OR m.players_id && ARRAY[CAST($3::TEXT AS CHAR(64))]
    OR m.master_player = CAST($3::TEXT AS CHAR(64)))
ORDER BY l.vector <#> CAST($1::TEXT AS sparsevec), l.source_id DESC LIMIT $2
