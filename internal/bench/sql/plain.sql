-- The same table with the same indexes and constraints, and without a chain: no triggers.
CREATE TABLE plain_messages (LIKE log.messages INCLUDING ALL)
