-- What a search of few messages, and keeping what it selects, cost beside reading and writing: parts of statements that are seldom
-- needed are set up when they are.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- Ids of the last 4,096 up to one that no message has: some transaction may still bring it.
-- +goose StatementBegin
CREATE FUNCTION log.absent_up_to(newest BIGINT) RETURNS BIGINT[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT i.id FROM generate_series(GREATEST(newest - 4095, 1), newest) AS i (id)
        EXCEPT SELECT m.id FROM log.messages m WHERE m.id BETWEEN newest - 4095 AND newest ORDER BY id);
END $$;
-- +goose StatementEnd

-- As in 00033_selections_lean.sql. A lock that is had by an expression takes no plan, as PERFORM does; what is looked for behind it
-- is looked for by a statement, which sees what was committed before the lock was had.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION memory.guard_selection() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    locked TEXT;
    found  BOOLEAN := FALSE;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'what is made of messages is kept in READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    locked := pg_advisory_xact_lock_shared(log.erasure_lock())::TEXT;
    IF jsonb_array_length(NEW.items) > 0 THEN
        found := EXISTS (SELECT FROM log.messages m WHERE m.content IS NULL AND m.hash = ANY (
            ARRAY(SELECT (i.item ->> 'hash')::CHAR(64) FROM jsonb_array_elements(NEW.items) AS i (item))));
    END IF;
    IF NOT found AND (cardinality(NEW.nearest_messages) > 0 OR cardinality(NEW.unembedded_messages) > 0) THEN
        found := EXISTS (SELECT FROM log.messages m WHERE m.content IS NULL AND m.id = ANY (NEW.nearest_messages || NEW.unembedded_messages));
    END IF;
    IF found THEN
        RAISE EXCEPTION 'a message was erased in the meantime' USING ERRCODE = 'CM008';
    END IF;
    locked := pg_advisory_xact_lock_shared(memory.quarantine_lock())::TEXT;
    found := EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL);
    IF found THEN
        found := EXISTS (
            SELECT FROM jsonb_array_elements(NEW.items || COALESCE(NEW.dropped, '[]')) AS i (item)
            JOIN memory.quarantines q ON q.released_at IS NULL AND q.message = (i.item ->> 'hash')::CHAR(64));
    END IF;
    IF found THEN
        RAISE EXCEPTION 'a message was quarantined in the meantime' USING ERRCODE = 'CM009';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
