-- Players that words may name, by the whole name or its first word.
SELECT p.hash, COALESCE(p.name, p.key) FROM core.players p
WHERE lower(p.name) = ANY ($1::TEXT[]) OR lower(split_part(p.name, ' ', 1)) = ANY ($1) OR p.name IS NULL AND lower(p.key) = ANY ($1)
ORDER BY p.hash LIMIT $2
