-- What agents asked for and got.

-- +goose Up
CREATE SCHEMA memory;

CREATE TABLE memory.selections (
    id              UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    receipt         log.hash NOT NULL,
    request         JSONB NOT NULL,
    policy          JSONB NOT NULL,
    log_position    BIGINT NOT NULL, -- the highest id of a message that was visible
    log_size        BIGINT NOT NULL, -- how many messages were visible
    items           JSONB NOT NULL,
    dropped         JSONB NOT NULL,
    rendered        TEXT NOT NULL,
    tokens          INT NOT NULL,
    embedding_model TEXT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL
);
CREATE INDEX selections_created_at ON memory.selections (created_at, id);
