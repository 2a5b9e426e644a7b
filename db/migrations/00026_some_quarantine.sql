-- Mostly nothing is in quarantine. To find that out by memory.quarantined_turns costs a prompt a tenth of its time in the
-- database; to look takes a third of that.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- A row if something is in quarantine, and nothing about it. It has its owner's rights: players may not read the table.
CREATE VIEW memory.some_quarantine AS
    SELECT TRUE AS held WHERE EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL);
