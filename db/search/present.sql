-- How many of these ids messages have.
SELECT count(*) FROM log.messages m WHERE m.id = ANY ($1::BIGINT[])
