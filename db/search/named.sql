-- Players that words may name, by the whole name or its first word, of those that a viewer knows.
WITH named AS (
    SELECT p.hash::CHAR(64) AS hash, COALESCE(p.name, p.key) AS name FROM core.players p
    WHERE lower(p.name) = ANY ($1::TEXT[]) OR lower(split_part(p.name, ' ', 1)) = ANY ($1) OR p.name IS NULL AND lower(p.key) = ANY ($1))
SELECT n.hash, n.name FROM named n
WHERE $3::TEXT IS NULL OR n.hash = CAST($3::TEXT AS CHAR(64))
    OR n.hash IN (SELECT unnest(log.players_known_to(CAST($3::TEXT AS CHAR(64)), ARRAY(SELECT hash FROM named))))
ORDER BY n.hash LIMIT $2
