-- Which of these players own one of these messages.
SELECT DISTINCT m.owner_id FROM log.messages m WHERE m.id = ANY ($1::BIGINT[]) AND m.owner_id = ANY ($2::TEXT[]::CHAR(64)[])
