-- What keeping a selection costs beside its row.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- A selection is kept unless a message in it was erased (code CM008), or one that it took or dropped was quarantined (CM009), since
-- it was made. The locks make erasures and quarantines that come later wait for the caller's transaction: that of erasures comes
-- first, see log.refuse_erased. One function before the row, which has what is kept at hand, does the work of two behind it.
-- +goose StatementBegin
CREATE FUNCTION memory.guard_selection() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'what is made of messages is kept in READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(log.erasure_lock());
    IF EXISTS (SELECT FROM log.messages m WHERE m.content IS NULL AND m.hash = ANY (
            ARRAY(SELECT (i.item ->> 'hash')::CHAR(64) FROM jsonb_array_elements(NEW.items) AS i (item))))
        OR (cardinality(NEW.nearest_messages) > 0 OR cardinality(NEW.unembedded_messages) > 0) AND EXISTS (
            SELECT FROM log.messages m WHERE m.content IS NULL AND m.id = ANY (NEW.nearest_messages || NEW.unembedded_messages)) THEN
        RAISE EXCEPTION 'a message was erased in the meantime' USING ERRCODE = 'CM008';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(memory.quarantine_lock());
    IF EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL) AND EXISTS (
        SELECT FROM jsonb_array_elements(NEW.items || COALESCE(NEW.dropped, '[]')) AS i (item)
        JOIN memory.quarantines q ON q.released_at IS NULL AND q.message = (i.item ->> 'hash')::CHAR(64)) THEN
        RAISE EXCEPTION 'a message was quarantined in the meantime' USING ERRCODE = 'CM009';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

DROP TRIGGER erased ON memory.selections;
DROP TRIGGER quarantined ON memory.selections;
DROP FUNCTION memory.refuse_erased(), memory.refuse_quarantined();
CREATE TRIGGER guard_made BEFORE INSERT ON memory.selections FOR EACH ROW EXECUTE FUNCTION memory.guard_selection();
ALTER TABLE memory.selections ENABLE ALWAYS TRIGGER guard_made;
