-- Sessions begin where nothing came before. Threads are found by going from each to the next in their index; those beyond
-- $1 are not looked for.
WITH RECURSIVE threads AS (
    (SELECT m.thread_hash AS hash, 1 AS n FROM log.messages m WHERE m.thread_hash IS NOT NULL ORDER BY m.thread_hash LIMIT 1)
    UNION ALL
    SELECT x.hash, t.n + 1 FROM threads t CROSS JOIN LATERAL (
        SELECT m.thread_hash AS hash FROM log.messages m WHERE m.thread_hash > t.hash ORDER BY m.thread_hash LIMIT 1) x
    WHERE t.n <= $1::INT
)
SELECT (SELECT count(*) FROM log.messages m WHERE m.prev_hash IS NULL) AS sessions,
    (SELECT count(*) FROM threads) AS threads,
    (SELECT count(*) FROM core.players) AS players,
    (SELECT count(*) FROM memory.selections) AS selections;
