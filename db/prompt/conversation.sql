-- A conversation that has not expired, if the viewer takes part in it.
SELECT c.* FROM memory.conversations c
WHERE c.id = $1 AND c.expires_at > $2 AND ($3::bpchar IS NULL OR $3::bpchar IN (c.assistant, c.person))
