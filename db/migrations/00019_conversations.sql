-- What assistants know now of their conversations. All of a conversation outlives it in the log.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- A row is all that expires together, so that none of it outlives the rest. Whoever reads asks for what has not expired.
CREATE TABLE memory.conversations (
    id            TEXT COLLATE "C" PRIMARY KEY, -- {role}:{user_id}:{uuid}
    role          TEXT NOT NULL CHECK (role IN ('client', 'admin')),
    user_id       TEXT COLLATE "C" NOT NULL,
    person        CHAR(64) COLLATE "C" NOT NULL, -- the player whom the user is; a domain would have every row read
    assistant     CHAR(64) COLLATE "C" NOT NULL, -- the player who speaks as the assistant
    session_hash  CHAR(64) COLLATE "C" NOT NULL UNIQUE,
    history       JSONB NOT NULL DEFAULT '[]',
    state         JSONB NOT NULL DEFAULT '{}',
    created_at    TIMESTAMPTZ NOT NULL,
    last_activity TIMESTAMPTZ NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    CHECK (id LIKE role || ':%' AND split_part(id, ':', 2) = user_id)
) WITH (fillfactor = 70);
-- ANALYZE must not keep what was said, or confirmed: see 00009_erase.sql.
ALTER TABLE memory.conversations ALTER COLUMN history SET STATISTICS 0, ALTER COLUMN state SET STATISTICS 0;
CREATE INDEX conversations_user ON memory.conversations (role, user_id, last_activity);
CREATE INDEX conversations_expires_at ON memory.conversations (expires_at);
CREATE INDEX conversations_activity ON memory.conversations (last_activity, id);
CREATE INDEX conversations_person ON memory.conversations (person);
CREATE INDEX conversations_assistant ON memory.conversations (assistant);

-- What is erased from the log is forgotten here, too, by whatever statement the content goes.
-- +goose StatementBegin
CREATE FUNCTION memory.forget_turn() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE memory.conversations c SET history = COALESCE((
        SELECT jsonb_agg(t.turn ORDER BY t.place) FROM jsonb_array_elements(c.history) WITH ORDINALITY AS t (turn, place)
        WHERE t.turn ->> 'message' <> NEW.hash), '[]')
    WHERE c.session_hash = NEW.session_hash;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER forget_turn AFTER UPDATE ON log.messages FOR EACH ROW
    WHEN (OLD.content IS NOT NULL AND NEW.content IS NULL) EXECUTE FUNCTION memory.forget_turn();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER forget_turn;
