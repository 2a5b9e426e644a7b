-- A table that costs what keeping a selection does, and the newest selection as JSON.
SELECT to_jsonb(s) - 'id' FROM memory.selections s ORDER BY s.created_at DESC LIMIT 1
