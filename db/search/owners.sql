-- The names of the owners of messages.
SELECT p.hash, p.key, p.name FROM core.players p
WHERE p.hash IN (SELECT m.owner_id FROM log.messages m WHERE m.id = ANY ($1::BIGINT[]))
