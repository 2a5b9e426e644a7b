-- The newest selection.
SELECT s.* FROM memory.selections s ORDER BY s.created_at DESC LIMIT 1
