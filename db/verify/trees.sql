-- The sizes that the tree is recorded with, from behind $1 to $2; with $3, those that are not from 1 to $2, at most
-- 1,000 of them.
SELECT COALESCE(t.size, 0) AS size, t.root::TEXT
FROM seal.trees t
WHERE CASE WHEN $3::BOOLEAN THEN (t.size BETWEEN 1 AND $2) IS NOT TRUE ELSE t.size > $1 AND t.size <= $2 END
ORDER BY t.size LIMIT CASE WHEN $3 THEN 1000 END;
