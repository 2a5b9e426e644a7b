-- Erasing: the one way past "nothing changes", and what keeps what is gone from coming back.
-- docs/chain.md, "Erasure", says what goes, what stays, and how a verifier tells an erasure from tampering.

-- +goose Up
-- ---- content that may be gone ----------------------------------------------------------------------------

-- All of them are there (ambient is optional), or none is.
ALTER TABLE log.messages
    ALTER COLUMN content DROP NOT NULL,
    ALTER COLUMN attachments DROP NOT NULL,
    ALTER COLUMN salt DROP NOT NULL,
    ADD CONSTRAINT messages_erased_whole CHECK ((content IS NULL) = (attachments IS NULL)
        AND (content IS NULL) = (salt IS NULL) AND (content IS NOT NULL OR ambient IS NULL));

-- What was erased, and what erased it: few, and looked for by every check and by whoever writes search vectors.
CREATE INDEX messages_erased ON log.messages (id) WHERE content IS NULL;
CREATE INDEX messages_erasure ON log.messages (session_hash, sequence) WHERE event_type = 'erasure';

-- A fingerprint is a digest without salt, so it goes with the content: the key stands for its message then, whatever
-- is sent with it.
ALTER TABLE log.append_keys ALTER COLUMN fingerprint DROP NOT NULL;

-- Receipts of version 2 commit to the block by a salted digest: see docs/selection.md. Without a digest the receipt is
-- of version 1.
ALTER TABLE memory.selections
    ADD COLUMN rendered_digest log.hash,
    ADD COLUMN rendered_salt BYTEA CHECK (octet_length(rendered_salt) = 16),
    ADD COLUMN erased BOOLEAN NOT NULL DEFAULT FALSE, -- whether the text of an item is gone
    ADD CONSTRAINT selections_salt_goes_with_text
        CHECK ((rendered_salt IS NULL) = (rendered_digest IS NULL OR erased));
CREATE INDEX selections_items ON memory.selections USING gin (jsonb_path_query_array(items, '$[*].hash'));

-- ANALYZE keeps samples of what columns hold: of these, it must not.
ALTER TABLE log.messages ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN attachments SET STATISTICS 0,
    ALTER COLUMN ambient SET STATISTICS 0, ALTER COLUMN salt SET STATISTICS 0;
ALTER TABLE log.append_keys ALTER COLUMN fingerprint SET STATISTICS 0;
ALTER TABLE embedding.lexical ALTER COLUMN vector SET STATISTICS 0, ALTER COLUMN terms SET STATISTICS 0;
ALTER TABLE memory.selections ALTER COLUMN items SET STATISTICS 0, ALTER COLUMN rendered SET STATISTICS 0,
    ALTER COLUMN rendered_salt SET STATISTICS 0;
-- The samples that are there go, where the role may do that; they are never looked at again either way.
-- +goose StatementBegin
DO $$ BEGIN
    DELETE FROM pg_statistic s USING pg_attribute a
    WHERE a.attrelid = s.starelid AND a.attnum = s.staattnum AND a.attstattarget = 0
        AND s.starelid IN ('log.messages'::REGCLASS, 'log.append_keys'::REGCLASS, 'embedding.lexical'::REGCLASS,
            'memory.selections'::REGCLASS);
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'a superuser should remove what pg_statistic holds of log.messages.content';
END $$;
-- +goose StatementEnd

-- ---- the one change that is let through ------------------------------------------------------------------

-- An erasure holds this lock; whoever keeps something that was made of messages' texts shares it from before reading
-- them. So either the erasure is seen, or it finds what was kept. It spells "cmix".
CREATE FUNCTION log.erasure_lock() RETURNS BIGINT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN x'636d6978'::BIGINT;

-- Lets content, attachments, ambient and salt go, all of them and nothing else, of a message that a later ERASURE
-- message of its session names by a CONTEXT ref. That message is part of the chain and cannot be taken back, so no
-- setting of a session opens this way without a trace.
-- +goose StatementBegin
CREATE FUNCTION log.guard_message() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    bare log.messages := OLD;
BEGIN
    bare.content := NULL;
    bare.attachments := NULL;
    bare.ambient := NULL;
    bare.salt := NULL;
    IF TG_OP = 'UPDATE' AND OLD.content IS NOT NULL AND OLD.event_type <> 'erasure' AND bare *= NEW AND EXISTS (
        SELECT FROM log.message_refs r JOIN log.messages e ON e.hash = r.message_hash
        WHERE r.ref_hash = OLD.hash AND r.ref_type = 'context' AND e.event_type = 'erasure'
            AND e.session_hash = OLD.session_hash AND e.sequence > OLD.sequence) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'log.messages is immutable: % is refused', TG_OP USING ERRCODE = 'CM004';
END $$;
-- +goose StatementEnd

DROP TRIGGER immutable ON log.messages;
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.messages FOR EACH ROW EXECUTE FUNCTION log.guard_message();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER immutable;

-- At commit an ERASURE message tells the truth: what it names in its session is erased, with all that was made of it. So
-- whoever may write and update, and does by hand what log.erase does, has to do all of it.
-- +goose StatementBegin
CREATE FUNCTION log.check_erasure() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off AS $$
BEGIN
    IF NEW.refs_digest IS DISTINCT FROM (
        SELECT log.refs_digest(array_agg(r.ref_type::TEXT ORDER BY r.position), array_agg(r.ref_hash::TEXT ORDER BY r.position))
        FROM log.message_refs r WHERE r.message_hash = NEW.hash) THEN
        RAISE EXCEPTION 'refs differ from what the message was written with' USING ERRCODE = 'CM005', COLUMN = 'refs_digest';
    ELSIF EXISTS (
        SELECT FROM log.message_refs r JOIN log.messages m ON m.hash = r.ref_hash
        WHERE r.message_hash = NEW.hash AND r.ref_type = 'context' AND m.session_hash = NEW.session_hash
            AND (m.content IS NOT NULL
                OR EXISTS (SELECT FROM log.append_keys k WHERE k.message_hash = m.hash AND k.fingerprint IS NOT NULL)
                OR EXISTS (SELECT FROM embedding.lexical l WHERE l.kind = 'context' AND l.source_id = m.id)
                OR EXISTS (SELECT FROM memory.selections o
                    WHERE jsonb_path_query_array(o.items, '$[*].hash') ? m.hash::TEXT AND NOT o.erased))) THEN
        RAISE EXCEPTION 'an ERASURE message names what was not erased' USING ERRCODE = 'CM002', COLUMN = 'event_type',
            HINT = 'Messages are erased by log.erase(message, eraser, reason).';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE CONSTRAINT TRIGGER erasure AFTER INSERT ON log.messages
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.event_type = 'erasure') EXECUTE FUNCTION log.check_erasure();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER erasure;

-- Lets the fingerprint of an erased message go, and nothing else.
-- +goose StatementBegin
CREATE FUNCTION log.guard_key() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    bare log.append_keys := OLD;
BEGIN
    bare.fingerprint := NULL;
    IF TG_OP = 'UPDATE' AND OLD.fingerprint IS NOT NULL AND bare *= NEW
        AND EXISTS (SELECT FROM log.messages m WHERE m.hash = OLD.message_hash AND m.content IS NULL) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'log.append_keys is immutable: % is refused', TG_OP USING ERRCODE = 'CM004';
END $$;

CREATE FUNCTION log.refuse_key() RETURNS TRIGGER LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'a key comes with its fingerprint' USING ERRCODE = 'not_null_violation',
        SCHEMA = 'log', TABLE = 'append_keys', COLUMN = 'fingerprint';
END $$;
-- +goose StatementEnd

DROP TRIGGER immutable ON log.append_keys;
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.append_keys FOR EACH ROW EXECUTE FUNCTION log.guard_key();
CREATE TRIGGER whole BEFORE INSERT ON log.append_keys FOR EACH ROW WHEN (NEW.fingerprint IS NULL) EXECUTE FUNCTION log.refuse_key();
ALTER TABLE log.append_keys ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.append_keys ENABLE ALWAYS TRIGGER whole;

-- ---- what is gone does not come back ---------------------------------------------------------------------

-- Of these messages, one that is erased; NULL if none is. It waits for an erasure that is under way, and one that
-- comes later waits for the caller's transaction. That needs a look at the log as it is now, not as it was when a
-- transaction of a higher isolation began. Code CM008: erased in the meantime.
-- +goose StatementBegin
CREATE FUNCTION log.refuse_erased(ids BIGINT[], hashes TEXT[]) RETURNS VOID LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'what is made of messages is kept in READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(log.erasure_lock());
    IF EXISTS (SELECT FROM log.messages m WHERE m.content IS NULL AND m.id = ANY (ids))
        OR EXISTS (SELECT FROM log.messages m WHERE m.content IS NULL AND m.hash = ANY (hashes::CHAR(64)[])) THEN
        RAISE EXCEPTION 'a message was erased in the meantime' USING ERRCODE = 'CM008';
    END IF;
END $$;

CREATE FUNCTION embedding.refuse_erased() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    ids BIGINT[] := ARRAY(SELECT DISTINCT a.source_id FROM added a WHERE a.kind = 'context');
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM log.refuse_erased(ids, '{}');
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION memory.refuse_erased() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM log.refuse_erased('{}', ARRAY(SELECT i.item ->> 'hash' FROM jsonb_array_elements(NEW.items) AS i (item)));
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER erased AFTER INSERT ON embedding.lexical REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION embedding.refuse_erased();
CREATE TRIGGER erased AFTER INSERT ON memory.selections FOR EACH ROW EXECUTE FUNCTION memory.refuse_erased();
ALTER TABLE embedding.lexical ENABLE ALWAYS TRIGGER erased;
ALTER TABLE memory.selections ENABLE ALWAYS TRIGGER erased;

-- ---- erasing ---------------------------------------------------------------------------------------------

-- A selection's block without the text of the item at a place. No text can begin a line as an item does, so the lines
-- that do are the items; a block of another form goes as a whole.
CREATE FUNCTION memory.without(rendered TEXT, items JSONB, place BIGINT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (
        SELECT CASE WHEN count(*) = jsonb_array_length(items) + 1
            THEN string_agg(CASE WHEN l.place = without.place + 1 THEN '[erased]' ELSE l.line END, E'\n- ' ORDER BY l.place)
            ELSE '[erased]' END
        FROM string_to_table(rendered, E'\n- ') WITH ORDINALITY AS l (line, place));

-- Erases a message on the record, for good: appends an ERASURE message to its session that says who and why, and
-- removes content, attachments, ambient and salt with everything that was made of them. Gives the ERASURE message.
-- All in the caller's transaction, which should be short: it holds the session's lock. In READ COMMITTED, since an older
-- snapshot would not show all that is to be removed.
-- Codes: CM002 reason is empty or long, CM006 there is no such message, CM007 it is erased, or cannot be.
-- +goose StatementBegin
CREATE FUNCTION log.erase(message CHAR(64), eraser CHAR(64), reason TEXT) RETURNS SETOF log.messages LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET context_manager.embeds = 'off' AS $$
DECLARE
    target  log.messages;
    erasure log.messages;
    keys    log.append_keys[];
BEGIN
    IF COALESCE(octet_length(reason), 0) NOT BETWEEN 1 AND 1024 THEN
        RAISE EXCEPTION 'reason has 1 to 1024 bytes' USING ERRCODE = 'CM002', COLUMN = 'reason';
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'an erasure is done in READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    SELECT * INTO target FROM log.messages m WHERE m.hash = message;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no such message' USING ERRCODE = 'CM006';
    END IF;
    -- No index leads from a message to its keys, and none is written later: so they are looked for before the locks.
    keys := ARRAY(SELECT k FROM log.append_keys k WHERE k.message_hash = message AND k.fingerprint IS NOT NULL);
    PERFORM pg_advisory_xact_lock(log.session_lock(target.session_hash));
    PERFORM pg_advisory_xact_lock(log.erasure_lock());
    SELECT * INTO STRICT target FROM log.messages m WHERE m.hash = message;
    IF target.event_type = 'erasure' THEN
        RAISE EXCEPTION 'an ERASURE message cannot be erased' USING ERRCODE = 'CM007';
    ELSIF target.content IS NULL THEN
        RAISE EXCEPTION 'the message was erased before' USING ERRCODE = 'CM007';
    END IF;

    INSERT INTO log.messages (session_hash, thread_hash, owner_id, event_type, content, attachments, refs_digest)
    VALUES (target.session_hash, target.thread_hash, eraser, 'erasure', reason,
        jsonb_build_object('erased', message, 'sequence', target.sequence), log.refs_digest(ARRAY['context'], ARRAY[message::TEXT]))
    RETURNING * INTO erasure;
    INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type) VALUES (erasure.hash, 1, message, 'context');

    UPDATE log.messages m SET content = NULL, attachments = NULL, ambient = NULL, salt = NULL WHERE m.hash = message;
    UPDATE log.append_keys k SET fingerprint = NULL FROM unnest(keys) AS w WHERE k.owner_id = w.owner_id AND k.key = w.key;
    DELETE FROM embedding.lexical l WHERE l.kind = 'context' AND l.source_id = target.id;
    DELETE FROM embedding.pending p WHERE p.kind = 'context' AND p.hash = message;
    UPDATE memory.selections s SET erased = TRUE, rendered_salt = NULL,
        rendered = memory.without(s.rendered, s.items, i.place),
        items = jsonb_set(s.items, ARRAY[(i.place - 1)::TEXT, 'explanation', 'matchedTerms'], '[]')
    FROM memory.selections o CROSS JOIN LATERAL jsonb_array_elements(o.items) WITH ORDINALITY AS i (item, place)
    WHERE jsonb_path_query_array(o.items, '$[*].hash') ? message AND i.item ->> 'hash' = message AND s.id = o.id;
    RETURN NEXT erasure;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION log.erase FROM PUBLIC;
