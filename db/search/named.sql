-- Players that words may name, by the whole name or its first word, of those that a viewer knows.
SELECT p.hash, COALESCE(p.name, p.key) FROM core.players p
WHERE (lower(p.name) = ANY ($1::TEXT[]) OR lower(split_part(p.name, ' ', 1)) = ANY ($1) OR p.name IS NULL AND lower(p.key) = ANY ($1))
    AND ($3::TEXT IS NULL OR EXISTS (
        SELECT FROM log.members o JOIN log.members v ON v.session_hash = o.session_hash
        WHERE o.player = p.hash AND v.player = CAST($3::TEXT AS CHAR(64))))
ORDER BY p.hash LIMIT $2
