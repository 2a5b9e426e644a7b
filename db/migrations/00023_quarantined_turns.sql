-- The function costs a prompt a third of its time in the database, half of that for settings of its own, though mostly nothing
-- is in quarantine.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- As in 00020_events.sql, without settings: every name says where it is looked up, so that no search_path can lead it
-- elsewhere.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION memory.quarantined_turns(history JSONB) RETURNS TEXT[] LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL) THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT q.message::pg_catalog.text FROM memory.quarantines q
        WHERE q.released_at IS NULL AND q.message OPERATOR(pg_catalog.=) ANY (ARRAY(
            SELECT CAST(t.turn OPERATOR(pg_catalog.->>) 'message' AS CHAR(64)) FROM pg_catalog.jsonb_array_elements(history) AS t (turn))));
END $$;
-- +goose StatementEnd
