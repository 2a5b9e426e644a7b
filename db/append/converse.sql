UPDATE memory.conversations SET history = $2, state = $3, last_activity = $4, expires_at = $5 WHERE id = $1
