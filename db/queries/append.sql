-- Locks of those who write. Appending itself has its statements in db/append.

-- name: LockSessions :exec
-- In ascending order of the lock, so that two writers never wait for each other; embeds says that this transaction
-- brings the search vectors of the records that it writes.
SELECT set_config('context_manager.embeds', 'on', TRUE), pg_advisory_xact_lock(k.key)
FROM (SELECT DISTINCT log.session_lock(s.hash) AS key FROM unnest(@sessions::TEXT[]) AS s (hash) ORDER BY 1) k;
