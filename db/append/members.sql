-- Which of these players are members of these sessions, pair by pair, and which of these of the session of a message with this hash.
-- LIMIT keeps the plan from reading all the sessions of a player.
SELECT v.player, v.session_hash
FROM (
    SELECT unnest($1::TEXT[])::CHAR(64) AS player, unnest($2::TEXT[])::CHAR(64) AS session_hash
    UNION
    SELECT n.player, r.session_hash
    FROM (SELECT unnest($3::TEXT[])::CHAR(64) AS player, unnest($4::TEXT[])::CHAR(64) AS hash) n
    JOIN log.messages r ON r.hash = n.hash
) w
CROSS JOIN LATERAL (
    SELECT m.player, m.session_hash FROM log.members m WHERE m.player = w.player AND m.session_hash = w.session_hash LIMIT 1) v
