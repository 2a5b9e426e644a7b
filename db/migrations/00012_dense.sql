-- Dense vectors: those of embedding providers' models, each model in a partition of its own.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql
-- Searching by an index with a filter needs iterative scans.
-- +goose StatementBegin
DO $$
DECLARE
    version TEXT := (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'vector');
BEGIN
    IF string_to_array(substring(version FROM '^[0-9]+[.][0-9]+'), '.')::INT[] < '{0,8}' THEN
        RAISE EXCEPTION 'pgvector 0.8 or newer is needed, and this database has %', version
            USING HINT = 'Install a newer pgvector, then: ALTER EXTENSION vector UPDATE';
    END IF;
END $$;
-- +goose StatementEnd

-- ---- models ----------------------------------------------------------------------------------------------

-- A dense model is what gives these vectors under that name: when a provider's answer to a known text changes, it is
-- another model, with a name of its own here.
ALTER TABLE embedding.models
    ADD COLUMN id INT NOT NULL GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN asked_as TEXT,               -- what the provider calls it
    ADD COLUMN probe halfvec,               -- what it makes of a known text
    ADD COLUMN follows BOOLEAN NOT NULL DEFAULT FALSE, -- whether it is to have all that is appended
    ADD COLUMN filed_xid XID8,              -- the transaction that made it follow
    ADD COLUMN wanted_at TIMESTAMPTZ,       -- when a server last started with it
    ADD COLUMN index_lease TIMESTAMPTZ,     -- until when a server has its index to build
    ADD COLUMN problem TEXT,                -- what keeps it from embedding; NULL while nothing does
    ADD CONSTRAINT models_dense CHECK (kind <> 'dense'
        OR asked_as IS NOT NULL AND probe IS NOT NULL AND wanted_at IS NOT NULL AND dimensions BETWEEN 1 AND 16000
            AND (filed_xid IS NOT NULL OR NOT follows)),
    ADD CONSTRAINT models_dense_follows CHECK (kind = 'dense' OR NOT follows);

-- The dense model that serves: one row, or none.
CREATE TABLE embedding.serving (
    one      BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    model_id INT NOT NULL REFERENCES embedding.models (id),
    since    TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Who adds, switches or drops models holds this lock. It spells "cmdn".
CREATE FUNCTION embedding.models_lock() RETURNS BIGINT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN x'636d646e'::BIGINT;

-- ---- vectors ---------------------------------------------------------------------------------------------

-- The key begins with what erasing knows; within a partition the model makes no difference.
CREATE TABLE embedding.dense (
    model_id     INT NOT NULL,
    kind         log.ref_type NOT NULL,
    source_id    BIGINT NOT NULL, -- id of the message (kind context) or the record
    session_hash log.hash,        -- of the message
    vector       halfvec NOT NULL,
    PRIMARY KEY (kind, source_id, model_id)
) PARTITION BY LIST (model_id);
-- Numbers without order do not compress.
ALTER TABLE embedding.dense ALTER COLUMN vector SET STORAGE EXTERNAL, ALTER COLUMN vector SET STATISTICS 0;
CREATE TRIGGER erased AFTER INSERT ON embedding.dense REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION embedding.refuse_erased();
ALTER TABLE embedding.dense ENABLE ALWAYS TRIGGER erased;

-- What has no vector of a model yet, as runs of ids. Who takes a run moves free_at ahead for as long as that may last;
-- who does not come back has lost it by then.
CREATE TABLE embedding.dense_backlog (
    id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model_id INT NOT NULL,
    records  BOOLEAN NOT NULL, -- ids of knowledge.records, or else of log.messages
    first_id BIGINT NOT NULL,
    last_id  BIGINT NOT NULL CHECK (last_id >= first_id),
    filed_at TIMESTAMPTZ NOT NULL DEFAULT now(), -- 1970 for what was there before
    free_at  TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    attempts INT NOT NULL DEFAULT 0, -- that failed though the provider took other texts
    cause    TEXT                    -- why it was put back last
);
CREATE INDEX dense_backlog_newest ON embedding.dense_backlog (model_id, records, last_id);

-- What the provider does not take, whatever is tried.
CREATE TABLE embedding.dense_refused (
    model_id   INT NOT NULL REFERENCES embedding.models (id) ON DELETE CASCADE,
    records    BOOLEAN NOT NULL,
    source_id  BIGINT NOT NULL,
    cause      TEXT NOT NULL,
    refused_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (records, source_id, model_id)
);

-- Adds a model with its partition, and gives its id. Its index is built once the log is embedded: an index that is
-- there slows every insert. ANALYZE keeps no samples of vectors. Attached and not made in place, the partition waits
-- for nobody who searches.
-- +goose StatementBegin
CREATE FUNCTION embedding.add_dense(name TEXT, asked_as TEXT, dimensions INT, probe halfvec) RETURNS INT LANGUAGE plpgsql AS $$
DECLARE
    added INT;
BEGIN
    INSERT INTO embedding.models AS m (name, kind, dimensions, asked_as, probe, wanted_at)
    VALUES (add_dense.name, 'dense', add_dense.dimensions, add_dense.asked_as, add_dense.probe, clock_timestamp()) RETURNING m.id INTO added;
    EXECUTE format($ddl$
        CREATE TABLE embedding.dense_%1$s (LIKE embedding.dense INCLUDING ALL,
            CONSTRAINT dense_%1$s_model CHECK (model_id = %1$s), CONSTRAINT dense_%1$s_dimensions CHECK (vector_dims(vector) = %2$s))
            WITH (toast_tuple_target = 8160);
        ALTER TABLE embedding.dense_%1$s ALTER COLUMN vector SET STATISTICS 0;
        CREATE TRIGGER erased AFTER INSERT ON embedding.dense_%1$s REFERENCING NEW TABLE AS added
            FOR EACH STATEMENT EXECUTE FUNCTION embedding.refuse_erased();
        ALTER TABLE embedding.dense_%1$s ENABLE ALWAYS TRIGGER erased;
        ALTER TABLE embedding.dense ATTACH PARTITION embedding.dense_%1$s FOR VALUES IN (%1$s)
        $ddl$, added, dimensions);
    RETURN added;
END $$;

-- Drops a model with all that it made.
CREATE FUNCTION embedding.drop_dense(model INT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM embedding.models m WHERE m.id = model AND m.kind = 'dense';
    DELETE FROM embedding.dense_backlog b WHERE b.model_id = model;
    EXECUTE format('DROP TABLE IF EXISTS embedding.dense_%s', model);
END $$;
-- +goose StatementEnd

-- ---- what is appended is to be embedded ------------------------------------------------------------------

-- As before, and the runs go to every dense model that follows the log as well.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    firsts BIGINT[];
    lasts  BIGINT[];
BEGIN
    SELECT ARRAY[min(a.id)], ARRAY[max(a.id)] INTO firsts, lasts FROM added a HAVING max(a.id) - min(a.id) < count(*);
    IF NOT FOUND THEN -- more than one run
        SELECT array_agg(r.first_id ORDER BY r.first_id), array_agg(r.last_id ORDER BY r.first_id) INTO firsts, lasts
        FROM (
            SELECT min(i.id) AS first_id, max(i.id) AS last_id
            FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM added) i GROUP BY i.island
        ) r;
    END IF;
    INSERT INTO seal.outbox (first_id, last_id) SELECT unnest(firsts), unnest(lasts);
    INSERT INTO embedding.backlog (first_id, last_id) SELECT unnest(firsts), unnest(lasts);
    INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id)
    SELECT d.id, FALSE, unnest(firsts), unnest(lasts) FROM embedding.models d WHERE d.follows;
    PERFORM pg_notify('context_manager_log', string_agg(r.first_id || '-' || r.last_id, ',' ORDER BY r.place))
    FROM unnest(firsts, lasts) WITH ORDINALITY AS r (first_id, last_id, place)
    GROUP BY r.place / 150; -- a payload ends at 8,000 bytes
    RETURN NULL;
END $$;

CREATE FUNCTION embedding.file_records() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id)
    SELECT d.id, TRUE, min(i.id), max(i.id)
    FROM embedding.models d CROSS JOIN (SELECT a.id, a.id - row_number() OVER (ORDER BY a.id) AS island FROM added a) i
    WHERE d.follows GROUP BY d.id, i.island;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER file AFTER INSERT ON knowledge.records REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION embedding.file_records();
ALTER TABLE knowledge.records ENABLE ALWAYS TRIGGER file;

-- ---- what is erased takes its vectors along --------------------------------------------------------------

-- By whatever statement a message's content goes, its dense vectors go with it.
-- +goose StatementBegin
CREATE FUNCTION embedding.forget() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM embedding.dense d WHERE d.kind = 'context' AND d.source_id = NEW.id;
    DELETE FROM embedding.dense_refused r WHERE NOT r.records AND r.source_id = NEW.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER forget AFTER UPDATE ON log.messages FOR EACH ROW
    WHEN (OLD.content IS NOT NULL AND NEW.content IS NULL) EXECUTE FUNCTION embedding.forget();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER forget;
