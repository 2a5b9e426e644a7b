-- Search vectors: derived from messages and records, so they may be rebuilt at any time.

-- +goose Up
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS intarray;

CREATE SCHEMA embedding;

CREATE TABLE embedding.models (
    name       TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('lexical', 'dense')),
    dimensions INT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
INSERT INTO embedding.models (name, kind, dimensions) VALUES ('lexical-v1', 'lexical', 536870912);

-- The lexical vectors of the passages of messages (kind context) and records. A row repeats its message's
-- session and sequence, so that a search can be narrowed and neighbours found without reading the log.
CREATE TABLE embedding.lexical (
    kind         log.ref_type NOT NULL,
    source_id    BIGINT NOT NULL, -- id of the message or the record
    passage      INT NOT NULL,
    session_hash log.hash,
    sequence     BIGINT,
    vector       sparsevec(536870912) NOT NULL,
    terms        INT[] NOT NULL, -- the vector's dimensions, ascending
    PRIMARY KEY (kind, source_id, passage)
);
-- The vectors are read by every search, and wide: compression would only cost.
ALTER TABLE embedding.lexical ALTER COLUMN vector SET STORAGE EXTERNAL, ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE INDEX lexical_session ON embedding.lexical (session_hash);

-- What was written by others than the server, and has no vectors yet. A search takes these in before it ranks.
CREATE TABLE embedding.pending (
    kind log.ref_type NOT NULL,
    hash log.hash NOT NULL,
    PRIMARY KEY (kind, hash)
);

-- The server writes the vectors in the same transaction, and says so.
-- +goose StatementBegin
CREATE FUNCTION embedding.await() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('context_manager.embeds', TRUE) IS DISTINCT FROM 'on' THEN
        IF TG_TABLE_NAME = 'messages' THEN
            INSERT INTO embedding.pending (kind, hash) SELECT 'context', a.hash FROM added a;
        ELSE
            INSERT INTO embedding.pending (kind, hash) SELECT a.kind, a.hash FROM added a;
        END IF;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER await AFTER INSERT ON log.messages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION embedding.await();
CREATE TRIGGER await AFTER INSERT ON knowledge.records REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION embedding.await();

-- In replica mode, too: what is in the log can be found.
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER await;
ALTER TABLE knowledge.records ENABLE ALWAYS TRIGGER await;
