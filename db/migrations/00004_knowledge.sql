-- Knowledge: records of the ledgers and the secretary, immutable and addressed by their hash.

-- +goose Up
CREATE SCHEMA knowledge;

CREATE TABLE knowledge.records (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash       log.hash NOT NULL UNIQUE,
    kind       log.ref_type NOT NULL CHECK (kind IN ('accountant', 'secretary')),
    book       TEXT NOT NULL CHECK (octet_length(book) BETWEEN 1 AND 256),
    title      TEXT NOT NULL CHECK (octet_length(title) BETWEEN 1 AND 1024),
    content    TEXT NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 1048576),
    data       JSONB NOT NULL DEFAULT '{}' CHECK (octet_length(data::TEXT) <= 1048576),
    verified   BOOLEAN NOT NULL DEFAULT TRUE,
    created_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
        CHECK (created_at >= '0001-01-01 00:00:00+00' AND created_at < '10000-01-01 00:00:00+00')
);

CREATE INDEX records_kind ON knowledge.records (kind, id);

CREATE FUNCTION knowledge.record_hash(r knowledge.records) RETURNS CHAR(64)
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256('context-manager/record/v1\012'::BYTEA || log.frames(
        convert_to(r.kind::TEXT, 'UTF8'), convert_to(r.book, 'UTF8'), convert_to(r.title, 'UTF8'),
        convert_to(r.content, 'UTF8'), convert_to(r.data::TEXT, 'UTF8'), boolsend(r.verified))), 'hex');

-- +goose StatementBegin
CREATE FUNCTION knowledge.hash_record() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    want CHAR(64) := knowledge.record_hash(NEW);
BEGIN
    IF NEW.hash IS NOT NULL AND NEW.hash <> want THEN
        RAISE EXCEPTION 'hash is not the hash of the record' USING ERRCODE = 'CM002', COLUMN = 'hash';
    END IF;
    NEW.hash := want;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER hash BEFORE INSERT ON knowledge.records FOR EACH ROW EXECUTE FUNCTION knowledge.hash_record();
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON knowledge.records FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON knowledge.records FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

ALTER TABLE knowledge.records ENABLE ALWAYS TRIGGER hash;
ALTER TABLE knowledge.records ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE knowledge.records ENABLE ALWAYS TRIGGER immutable_all;
