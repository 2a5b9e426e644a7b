-- The messages that a scope holds beyond what it held in an earlier state of the log: of those after the last one of then ($14), at
-- most $16, and those that were absent then ($15), and the others of sessions that the viewer has come into with one of them. With it,
-- how many were looked at, the hash of the last one of then, and that of the newest.
WITH added AS MATERIALIZED (
    (SELECT m.id FROM log.messages m WHERE m.id > $14::BIGINT ORDER BY m.id LIMIT $16::BIGINT)
    UNION ALL
    SELECT m.id FROM log.messages m WHERE m.id = ANY ($15::BIGINT[])
)
SELECT (SELECT count(*) FROM added),
    (SELECT m.hash FROM log.messages m WHERE m.id = $14),
    (SELECT m.hash FROM log.messages m ORDER BY m.id DESC LIMIT 1),
    ARRAY(
        SELECT m.id FROM log.in_scope(
            $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
            $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT) m
        WHERE m.id = ANY (ARRAY(SELECT a.id FROM added a))
        UNION
        SELECT m.id FROM log.in_scope(
            $1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
            $10::TIMESTAMPTZ, $11::TIMESTAMPTZ, $12::TEXT, $13::BIGINT) m
        WHERE m.session_hash = ANY (ARRAY(
            SELECT v.session_hash::CHAR(64) FROM log.members v
            WHERE v.player = $12::TEXT::CHAR(64) AND v.since_id IN (SELECT a.id FROM added a))))
