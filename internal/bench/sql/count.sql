SELECT count(*) FROM log.messages
