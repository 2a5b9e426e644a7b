-- The tiles that are filled from behind the size $1 to $2; with $3, those that a tree of $2 leaves does not fill, at
-- most 1,000 of them and without their hashes.
SELECT COALESCE(t.level, -1)::INT AS level, COALESCE(t.n, -1) AS n, t.root::TEXT, CASE WHEN $3::BOOLEAN THEN NULL ELSE t.hashes END
FROM seal.tiles t
WHERE CASE WHEN $3 THEN (t.level BETWEEN 0 AND 6 AND t.n >= 0 AND t.n < $2::BIGINT >> (8 * (t.level + 1))) IS NOT TRUE
    ELSE t.level BETWEEN 0 AND 6 AND t.n >= $1::BIGINT >> (8 * (t.level + 1)) AND t.n < $2::BIGINT >> (8 * (t.level + 1)) END
ORDER BY t.level, t.n LIMIT CASE WHEN $3 THEN 1000 END;
