-- The conversations that something is added to, until the transaction ends.
SELECT c.id, c.person, c.assistant, c.history, c.state, c.created_at, c.last_activity, c.expires_at
FROM memory.conversations c WHERE c.id = ANY ($1::TEXT[]) ORDER BY c.id FOR UPDATE
