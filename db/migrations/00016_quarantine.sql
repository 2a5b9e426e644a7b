-- Quarantine, and the sessions where it stands on record what administrators do. docs/quarantine.md and docs/audit.md.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- ---- audit -----------------------------------------------------------------------------------------------

-- Where the server records what a player does. Nobody else is named there, and the server lets nobody append to it.
CREATE TABLE log.audit_sessions (
    player       log.hash PRIMARY KEY,
    session_hash log.hash NOT NULL UNIQUE
);
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.audit_sessions FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON log.audit_sessions FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.audit_sessions ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.audit_sessions ENABLE ALWAYS TRIGGER immutable_all;

-- Where the events of a player go, or will.
CREATE FUNCTION log.audit_session(player CHAR(64)) RETURNS CHAR(64) LANGUAGE sql STABLE
    RETURN COALESCE((SELECT a.session_hash FROM log.audit_sessions a WHERE a.player = audit_session.player), log.sha256('audit:' || player));

-- Appends an event to a player's audit session, in the caller's transaction, and gives it.
-- +goose StatementBegin
CREATE FUNCTION log.audit(player CHAR(64), content TEXT, attachments JSONB) RETURNS SETOF log.messages LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    session CHAR(64);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'what is done is recorded in READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    SELECT a.session_hash INTO session FROM log.audit_sessions a WHERE a.player = audit.player;
    IF NOT FOUND THEN
        session := log.sha256('audit:' || player);
        PERFORM pg_advisory_xact_lock(log.session_lock(session));
        -- The name can be guessed, so somebody may have begun the session before, to look on. Then it is another.
        IF EXISTS (SELECT FROM log.members m WHERE m.session_hash = session AND m.player <> audit.player) THEN
            session := log.sha256('audit:' || player || ':' || gen_random_uuid());
        END IF;
        INSERT INTO log.audit_sessions (player, session_hash) VALUES (audit.player, session) ON CONFLICT DO NOTHING;
        SELECT a.session_hash INTO STRICT session FROM log.audit_sessions a WHERE a.player = audit.player;
    END IF;
    RETURN QUERY INSERT INTO log.messages (session_hash, owner_id, event_type, channel, source, content, attachments)
        VALUES (session, player, 'system', 'audit', 'context-manager', content, attachments) RETURNING *;
END $$;
-- +goose StatementEnd

-- What stands there is there for good: whom it speaks of has most reason to erase it. Code CM007, as of what cannot be erased.
-- +goose StatementBegin
CREATE FUNCTION log.keep_audit() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM log.audit_sessions a WHERE a.session_hash = NEW.session_hash) THEN
        RAISE EXCEPTION 'what is on record of somebody''s acts cannot be erased' USING ERRCODE = 'CM007';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER keep_audit BEFORE INSERT ON log.messages FOR EACH ROW WHEN (NEW.event_type = 'erasure') EXECUTE FUNCTION log.keep_audit();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER keep_audit;

-- ---- quarantine ------------------------------------------------------------------------------------------

-- Messages that are in no new selection, from a quarantine to its release. What was stays on record.
CREATE TABLE memory.quarantines (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message        log.hash NOT NULL,
    message_id     BIGINT NOT NULL,
    reason         TEXT NOT NULL CHECK (octet_length(reason) BETWEEN 1 AND 1024),
    placed_by      log.hash NOT NULL,
    placed_at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    event          log.hash NOT NULL, -- the SYSTEM message that says so
    released_by    log.hash,
    released_at    TIMESTAMPTZ,
    release_reason TEXT CHECK (octet_length(release_reason) BETWEEN 1 AND 1024),
    release_event  log.hash,
    CHECK ((released_at IS NULL) = (released_by IS NULL) AND (released_at IS NULL) = (release_reason IS NULL)
        AND (released_at IS NULL) = (release_event IS NULL))
);
CREATE UNIQUE INDEX quarantines_active ON memory.quarantines (message) INCLUDE (message_id) WHERE released_at IS NULL;
CREATE INDEX quarantines_message ON memory.quarantines (message, id);

-- Who quarantines holds this lock to the end, and who keeps a selection shares it: so either the selection is without the
-- message, or the quarantine finds it. It is taken after all other locks. It spells "cmqu".
CREATE FUNCTION memory.quarantine_lock() RETURNS BIGINT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN x'636d7175'::BIGINT;

-- A quarantine is of a message that is there, on record, and changes once: when it is released, on record too.
-- +goose StatementBegin
CREATE FUNCTION memory.guard_quarantine() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    before memory.quarantines := OLD;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM pg_advisory_xact_lock(memory.quarantine_lock());
        IF NEW.released_at IS NULL AND EXISTS (SELECT FROM log.messages m WHERE m.hash = NEW.message AND m.id = NEW.message_id)
            AND EXISTS (SELECT FROM log.messages m WHERE m.hash = NEW.event AND m.event_type = 'system' AND m.owner_id = NEW.placed_by) THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        before.released_by := NEW.released_by;
        before.released_at := NEW.released_at;
        before.release_reason := NEW.release_reason;
        before.release_event := NEW.release_event;
        IF OLD.released_at IS NULL AND NEW.released_at IS NOT NULL AND before *= NEW AND EXISTS (
            SELECT FROM log.messages m WHERE m.hash = NEW.release_event AND m.event_type = 'system' AND m.owner_id = NEW.released_by) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'memory.quarantines is kept as it was: % is refused', TG_OP USING ERRCODE = 'CM004';
END $$;

-- A selection that was made while a message that it took or dropped was quarantined is not kept. Code CM009: make it again.
CREATE FUNCTION memory.refuse_quarantined() RETURNS TRIGGER LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(memory.quarantine_lock());
    IF EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL) AND EXISTS (
        SELECT FROM jsonb_array_elements(NEW.items || COALESCE(NEW.dropped, '[]')) AS i (item)
        JOIN memory.quarantines q ON q.released_at IS NULL AND q.message = (i.item ->> 'hash')::CHAR(64)) THEN
        RAISE EXCEPTION 'a message was quarantined in the meantime' USING ERRCODE = 'CM009';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON memory.quarantines FOR EACH ROW EXECUTE FUNCTION memory.guard_quarantine();
CREATE TRIGGER guard_all BEFORE TRUNCATE ON memory.quarantines FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE memory.quarantines ENABLE ALWAYS TRIGGER guard;
ALTER TABLE memory.quarantines ENABLE ALWAYS TRIGGER guard_all;

-- After "erased", by its name: that one's lock comes first. See log.refuse_erased.
CREATE TRIGGER quarantined AFTER INSERT ON memory.selections FOR EACH ROW EXECUTE FUNCTION memory.refuse_quarantined();
ALTER TABLE memory.selections ENABLE ALWAYS TRIGGER quarantined;
