-- The same of what a player sees: sessions beyond $4 are not looked at.
SELECT m.channel AS name, count(*) AS messages FROM (
    SELECT n.channel FROM (SELECT v.session_hash FROM log.members v WHERE v.player = $3::CHAR(64) LIMIT $4::INT) s
    CROSS JOIN LATERAL (SELECT l.channel FROM log.messages l WHERE l.session_hash = s.session_hash) n LIMIT $1::INT) m
WHERE m.channel IS NOT NULL GROUP BY m.channel ORDER BY count(*) DESC, m.channel LIMIT $2::INT;
