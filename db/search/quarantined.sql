-- Messages that are in no new selection, as one row: it is read at each search.
SELECT COALESCE(array_agg(q.message_id ORDER BY q.message_id), '{}') FROM memory.quarantines q WHERE q.released_at IS NULL
