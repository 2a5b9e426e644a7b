-- In ascending order of the lock, so that two writers never wait for each other.
SELECT count(pg_advisory_xact_lock(k.key))
FROM (SELECT DISTINCT log.session_lock(s.hash) AS key FROM unnest($1::TEXT[]) AS s (hash) ORDER BY 1) k
