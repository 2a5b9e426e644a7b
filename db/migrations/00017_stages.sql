-- What a selection counted on its way: how much was in scope, how much of it was looked at, and what each rule left out.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql
-- Beside the receipt, which does not commit to it. NULL of what was kept before. Numbers only: nothing of any text.
ALTER TABLE memory.selections ADD COLUMN stages JSONB;
