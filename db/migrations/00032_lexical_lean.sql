-- What making search vectors costs beside the vectors themselves.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- A search gets a session's passages by its messages, in the log: neither these nor their index are read by anything else.
ALTER TABLE embedding.lexical DROP COLUMN session_hash, DROP COLUMN sequence;
-- Taking words out of the list into the index was half of what the index cost, and is less the more come together. To look through
-- four times as many takes a search of all a few milliseconds at most.
ALTER INDEX embedding.lexical_keys SET (gin_pending_list_limit = 4096);
