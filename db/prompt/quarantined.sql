-- The messages of a conversation's turns that are in quarantine.
SELECT q.message::TEXT FROM memory.quarantines q
WHERE q.released_at IS NULL AND q.message = ANY (ARRAY(
    SELECT CAST(t.turn ->> 'message' AS CHAR(64)) FROM memory.conversations c CROSS JOIN jsonb_array_elements(c.history) AS t (turn) WHERE c.id = $1))
