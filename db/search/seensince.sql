-- What a viewer sees ($1) beyond what they saw in an earlier state of the log: of the messages after the last one of then
-- ($2), and of those that were absent then ($3), how many were looked at, at most $5 of the first; how many more they see,
-- a session that they have come into as a whole; and which is the newest, and still the newest of then ($4).
WITH added AS MATERIALIZED (
    (SELECT m.id, m.session_hash, m.sequence, m.hash FROM log.messages m WHERE m.id > $2 ORDER BY m.id LIMIT $5)
    UNION ALL
    SELECT m.id, m.session_hash, m.sequence, m.hash FROM log.messages m WHERE m.id = ANY ($3::BIGINT[])
), seen AS MATERIALIZED (
    SELECT a.id, a.session_hash, a.sequence, a.hash, v.since_id FROM added a
    CROSS JOIN LATERAL ( -- not all sessions of the player
        SELECT v.since_id FROM log.members v WHERE v.player = CAST($1::TEXT AS CHAR(64)) AND v.session_hash = a.session_hash OFFSET 0) v
), sessions AS (
    SELECT CASE WHEN bool_or(s.id = s.since_id) THEN max(s.sequence) ELSE count(*) END AS messages FROM seen s GROUP BY s.session_hash
), newest AS (
    SELECT s.id, s.hash FROM seen s ORDER BY s.id DESC LIMIT 1
)
SELECT (SELECT count(*) FROM added), COALESCE((SELECT sum(messages) FROM sessions), 0)::BIGINT,
    COALESCE((SELECT id FROM newest), 0), (SELECT hash FROM newest), (SELECT m.hash FROM log.messages m WHERE m.id = $4)
