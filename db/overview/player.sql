-- What a viewer sees: sessions beyond $2 are not looked at, and threads are counted among $3 messages at most.
-- Players are counted among those of $4 places in these sessions. Sequences have no gaps, so a session is as long as its last message says.
WITH mine AS MATERIALIZED (
    SELECT v.session_hash FROM log.members v WHERE v.player = $1::CHAR(64) LIMIT $2::INT + 1
)
SELECT (SELECT count(*) FROM mine) AS sessions,
    (SELECT COALESCE(sum(l.sequence), 0) FROM mine s CROSS JOIN LATERAL (
        SELECT m.sequence FROM log.messages m WHERE m.session_hash = s.session_hash ORDER BY m.sequence DESC LIMIT 1) l)::BIGINT AS messages,
    (SELECT count(DISTINCT x.thread_hash) FROM (
        SELECT m.thread_hash FROM mine s CROSS JOIN LATERAL (
            SELECT n.thread_hash FROM log.messages n WHERE n.session_hash = s.session_hash) m LIMIT $3::INT) x) AS threads,
    (SELECT count(*) FROM core.players p WHERE p.hash = $1::CHAR(64) OR p.hash = ANY (k.players)) AS players, k.more,
    (SELECT count(*) FROM memory.selections s WHERE s.viewer = $1::CHAR(64)) AS selections
FROM log.some_players_known_to($1::CHAR(64), $2::INT, $4::INT) k;
