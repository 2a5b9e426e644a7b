-- The seal: one Merkle tree (RFC 6962) over all messages, and the checkpoints that were signed over it.
-- docs/seal.md describes the formats; internal/seal computes them.

-- +goose Up
CREATE SCHEMA seal;

-- Messages that are committed and not yet in the tree, as runs of ids: one row a statement that wrote them, in the
-- same transaction. No index: the sequencer empties it several times a second.
CREATE TABLE seal.outbox (
    first_id BIGINT NOT NULL,
    last_id  BIGINT NOT NULL CHECK (last_id >= first_id)
);

-- What each leaf holds, so that a message that is gone can still be named. The first message is leaf 0.
CREATE TABLE seal.leaves (
    leaf_index   BIGINT PRIMARY KEY CHECK (leaf_index >= 0),
    session_hash log.hash NOT NULL,
    sequence     BIGINT NOT NULL CHECK (sequence >= 1),
    message_hash log.hash NOT NULL,
    UNIQUE (session_hash, sequence)
);

-- Full tiles of the tree, 256 hashes each, level 0 over leaves and each higher one over the roots of the tiles below.
-- What is right of the last full tile of a level follows from the leaves, or from the roots of the level below.
CREATE TABLE seal.tiles (
    level  SMALLINT NOT NULL CHECK (level BETWEEN 0 AND 7),
    n      BIGINT NOT NULL CHECK (n >= 0),
    root   log.hash NOT NULL,
    hashes BYTEA NOT NULL CHECK (octet_length(hashes) = 8192),
    PRIMARY KEY (level, n)
);
ALTER TABLE seal.tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- Each size that the tree has had, written with its leaves.
CREATE TABLE seal.trees (
    size     BIGINT PRIMARY KEY CHECK (size >= 1),
    root     log.hash NOT NULL,
    grown_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);

-- The names and public keys under which the tree was signed, the newest last. A second row is there because an
-- administrator went on with a tree that does not extend what had been signed under the name before.
CREATE TABLE seal.logs (
    id         INT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    origin     TEXT NOT NULL UNIQUE CHECK (octet_length(origin) BETWEEN 1 AND 256),
    public_key TEXT NOT NULL, -- the verifier key of a signed note: name+id+key
    reason     TEXT,          -- the administrator's, for all but the first
    refused    TEXT,          -- the checkpoint that the tree did not extend then
    began_at   TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);

-- Signed checkpoints: C2SP signed notes.
CREATE TABLE seal.checkpoints (
    origin    TEXT NOT NULL REFERENCES seal.logs (origin),
    size      BIGINT NOT NULL CHECK (size >= 1),
    root      log.hash NOT NULL,
    note      TEXT NOT NULL,
    signed_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (origin, size)
);
CREATE INDEX checkpoints_size ON seal.checkpoints (size);

-- What witnesses signed of them: one line of a signed note each.
CREATE TABLE seal.cosignatures (
    origin    TEXT NOT NULL,
    size      BIGINT NOT NULL,
    witness   TEXT NOT NULL CHECK (octet_length(witness) BETWEEN 1 AND 256), -- the name of its key
    line      TEXT NOT NULL,
    signed_at TIMESTAMPTZ NOT NULL, -- the witness's clock
    PRIMARY KEY (origin, size, witness),
    FOREIGN KEY (origin, size) REFERENCES seal.checkpoints (origin, size)
);
CREATE INDEX cosignatures_witness ON seal.cosignatures (witness, size);

-- Insert-only, as the log is. Replica mode must not skip it.
-- +goose StatementBegin
DO $$
DECLARE
    guarded TEXT;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['leaves', 'tiles', 'trees', 'logs', 'checkpoints', 'cosignatures'] LOOP
        EXECUTE format('CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON seal.%I FOR EACH ROW EXECUTE FUNCTION log.refuse_change()', guarded);
        EXECUTE format('CREATE TRIGGER immutable_all BEFORE TRUNCATE ON seal.%I FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change()', guarded);
        EXECUTE format('ALTER TABLE seal.%I ENABLE ALWAYS TRIGGER immutable', guarded);
        EXECUTE format('ALTER TABLE seal.%I ENABLE ALWAYS TRIGGER immutable_all', guarded);
    END LOOP;
END $$;
-- +goose StatementEnd

-- What was written before there was a tree waits for it.
INSERT INTO seal.outbox (first_id, last_id)
SELECT min(i.id), max(i.id)
FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM log.messages) i GROUP BY i.island;

-- Of each statement that writes messages: the runs of their ids go to the sequencer, and in one notification, never
-- one a message, to whoever listens. The payload lists them as "7-9,12-12".
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.announce() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    firsts BIGINT[];
    lasts  BIGINT[];
BEGIN
    SELECT array_agg(r.first_id ORDER BY r.first_id), array_agg(r.last_id ORDER BY r.first_id) INTO firsts, lasts
    FROM (
        SELECT min(i.id) AS first_id, max(i.id) AS last_id
        FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM added) i GROUP BY i.island
    ) r;
    INSERT INTO seal.outbox (first_id, last_id) SELECT unnest(firsts), unnest(lasts);
    PERFORM pg_notify('context_manager_log', string_agg(r.first_id || '-' || r.last_id, ',' ORDER BY r.place))
    FROM unnest(firsts, lasts) WITH ORDINALITY AS r (first_id, last_id, place)
    GROUP BY r.place / 150; -- a payload ends at 8,000 bytes
    RETURN NULL;
END $$;
-- +goose StatementEnd
