-- What a selection has to keep so that it can be computed again: docs/selection.md, "Replay".

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql
ALTER TABLE memory.selections
    -- A receipt covers the policy's bytes, and JSONB orders keys its own way. What was kept before stays as it is: nothing
    -- here goes through the table.
    ALTER COLUMN policy DROP NOT NULL,
    ADD COLUMN policy_text      TEXT,
    ADD COLUMN searched_at      TIMESTAMPTZ, -- by the database's clock, as components have it: created_at is by the server's
    ADD COLUMN previous         UUID REFERENCES memory.selections (id), -- whose beginning was kept
    -- What the search could see of the log and the records. Without a record position the receipt is of version 2 or 1.
    ADD COLUMN record_position  BIGINT,
    ADD COLUMN absent           BIGINT[] NOT NULL DEFAULT '{}', -- ids below log_position that no message had
    -- The query's dense vector, and what was nearest to it: an approximate search may not find the same again. Only ids,
    -- for how near an erased message was to many queries would tell what it said.
    ADD COLUMN dense_model      TEXT,
    ADD COLUMN dense_vector     REAL[],
    ADD COLUMN nearest_messages BIGINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN nearest_records  BIGINT[] NOT NULL DEFAULT '{}',
    -- Candidates that had no dense vector then, and may have one when this is computed again.
    ADD COLUMN unembedded_messages BIGINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN unembedded_records  BIGINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN notices          TEXT[] NOT NULL DEFAULT '{}',
    ADD COLUMN unchanged_tokens INT NOT NULL DEFAULT 0,
    ADD CONSTRAINT selections_vector_of_model CHECK ((dense_model IS NULL) = (dense_vector IS NULL)) NOT VALID,
    ADD CONSTRAINT selections_near_with_vector CHECK (dense_vector IS NOT NULL
        OR nearest_messages = '{}' AND nearest_records = '{}' AND unembedded_messages = '{}' AND unembedded_records = '{}') NOT VALID,
    ADD CONSTRAINT selections_one_policy CHECK ((policy IS NULL) <> (policy_text IS NULL)) NOT VALID;
CREATE INDEX selections_previous ON memory.selections (previous) WHERE previous IS NOT NULL;

-- What is erased is not to be found again by what was near to it: its id goes from there, too, by whatever statement the
-- content goes. ANALYZE must not keep the most common ids either.
ALTER TABLE memory.selections ALTER COLUMN nearest_messages SET STATISTICS 0, ALTER COLUMN unembedded_messages SET STATISTICS 0;
CREATE INDEX selections_near ON memory.selections USING gin (nearest_messages, unembedded_messages) WHERE dense_model IS NOT NULL;
-- +goose StatementBegin
CREATE FUNCTION memory.forget() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE memory.selections s SET nearest_messages = array_remove(s.nearest_messages, NEW.id),
        unembedded_messages = array_remove(s.unembedded_messages, NEW.id)
    WHERE s.dense_model IS NOT NULL AND (s.nearest_messages @> ARRAY[NEW.id] OR s.unembedded_messages @> ARRAY[NEW.id]);
    RETURN NULL;
END $$;

-- As before, and of these lists as well.
CREATE OR REPLACE FUNCTION memory.refuse_erased() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM log.refuse_erased(NEW.nearest_messages || NEW.unembedded_messages,
        ARRAY(SELECT i.item ->> 'hash' FROM jsonb_array_elements(NEW.items) AS i (item)));
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER forget_near AFTER UPDATE ON log.messages FOR EACH ROW
    WHEN (OLD.content IS NOT NULL AND NEW.content IS NULL) EXECUTE FUNCTION memory.forget();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER forget_near;

-- When a component was changed, whoever did it, from psql too, and not when it was written again as it was: a replay
-- names components that have changed since as a cause.
-- +goose StatementBegin
CREATE FUNCTION core.touch() RETURNS TRIGGER LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    NEW.updated_at := OLD.updated_at;
    IF NEW IS DISTINCT FROM OLD THEN
        NEW.updated_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER touch BEFORE UPDATE ON core.players FOR EACH ROW EXECUTE FUNCTION core.touch();
CREATE TRIGGER touch BEFORE UPDATE ON core.hashtags FOR EACH ROW EXECUTE FUNCTION core.touch();
CREATE TRIGGER touch BEFORE UPDATE ON core.flags FOR EACH ROW EXECUTE FUNCTION core.touch();
CREATE TRIGGER touch BEFORE UPDATE ON core.items FOR EACH ROW EXECUTE FUNCTION core.touch();
CREATE TRIGGER touch BEFORE UPDATE ON core.locations FOR EACH ROW EXECUTE FUNCTION core.touch();
