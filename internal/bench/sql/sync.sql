-- As many rows as the log has, so that the indexes are as deep.
INSERT INTO plain_messages SELECT m.* FROM log.messages m WHERE m.id > $1 ORDER BY m.id
