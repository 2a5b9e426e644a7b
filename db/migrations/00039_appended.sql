-- Messages as a writer sends them: one list of rows. As a list a column it took Postgres ten times as long to put the rows together.

-- +goose Up
CREATE TYPE log.appended AS (
    hash TEXT, session_hash TEXT, sequence BIGINT, prev_hash TEXT, thread_hash TEXT, owner_id TEXT, players_id TEXT, master_player TEXT,
    role TEXT, event_type TEXT, importance SMALLINT, channel TEXT, source TEXT, content TEXT, attachments TEXT, ambient TEXT, salt BYTEA,
    content_digest TEXT, hashtags TEXT, flag_id TEXT, master_item_id TEXT, item_id TEXT, loc_id TEXT, refs_digest TEXT,
    created_at TIMESTAMPTZ);
COMMENT ON TYPE log.appended IS 'A message on its way into log.messages, in its order: without what the log gives.';
