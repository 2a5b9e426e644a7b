-- Messages that are in no new selection.
SELECT q.message_id FROM memory.quarantines q WHERE q.released_at IS NULL
