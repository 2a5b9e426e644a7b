-- The newest message.
SELECT m.hash FROM log.messages m ORDER BY m.id DESC LIMIT 1
