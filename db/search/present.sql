-- How many of these ids messages have that a viewer sees.
SELECT count(*) FROM log.messages m
WHERE m.id = ANY ($1::BIGINT[]) AND ($2::TEXT IS NULL OR EXISTS (
    SELECT FROM log.members v WHERE v.player = CAST($2::TEXT AS CHAR(64)) AND v.session_hash = m.session_hash))
