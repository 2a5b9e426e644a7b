-- The time, and ids for so many messages, ascending. With the sessions locked: so the order of ids is the order of
-- each chain.
SELECT clock_timestamp(), ARRAY(SELECT nextval('log.message_id') FROM generate_series(1, $1::INT))
