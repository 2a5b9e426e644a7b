-- The channels of the log's latest messages, $1 of them, the most used first.
SELECT m.channel AS name, count(*) AS messages FROM (
    SELECT l.channel FROM log.messages l ORDER BY l.id DESC LIMIT $1::INT) m
WHERE m.channel IS NOT NULL GROUP BY m.channel ORDER BY count(*) DESC, m.channel LIMIT $2::INT;
