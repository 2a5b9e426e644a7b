-- Tokens: docs/tokens.md. Of a token only the SHA-256 is here.

-- +goose Up
CREATE SCHEMA auth;

CREATE TABLE auth.tokens (
    id            UUID PRIMARY KEY DEFAULT gen_random_uuid(), -- random, so that it tells nothing of other tokens
    digest        BYTEA NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    role          TEXT NOT NULL CHECK (role IN ('admin', 'agent', 'client', 'hook')),
    player        log.hash NOT NULL,
    scopes        TEXT[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['log:read', 'log:append', 'context:select',
        'memory:write', 'events:ingest', 'verify', 'tokens:manage', 'erase']),
    note          TEXT NOT NULL DEFAULT '' CHECK (octet_length(note) <= 256),
    creator       log.hash NOT NULL,
    creator_token UUID REFERENCES auth.tokens (id), -- NULL: that of the data directory's file
    created_at    TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    expires_at    TIMESTAMPTZ NOT NULL,
    revoked_at    TIMESTAMPTZ,
    revoker       log.hash,
    last_used_at  TIMESTAMPTZ,
    CONSTRAINT tokens_lifetime CHECK (expires_at > created_at AND expires_at <= created_at + INTERVAL '366 days'),
    CONSTRAINT tokens_revoked_by CHECK ((revoked_at IS NULL) = (revoker IS NULL))
);
CREATE INDEX tokens_created ON auth.tokens (created_at, id);
CREATE INDEX tokens_of_player ON auth.tokens (player, created_at, id);
CREATE INDEX tokens_live ON auth.tokens (player, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX tokens_creator ON auth.tokens (creator_token) WHERE creator_token IS NOT NULL;

-- A token is what it was made as: it can be used and revoked, and a revocation is for good.
-- +goose StatementBegin
CREATE FUNCTION auth.keep_token() RETURNS TRIGGER LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    allowed auth.tokens := OLD;
BEGIN
    allowed.last_used_at := NEW.last_used_at;
    IF OLD.revoked_at IS NULL THEN
        allowed.revoked_at := NEW.revoked_at;
        allowed.revoker := NEW.revoker;
    END IF;
    IF NEW IS DISTINCT FROM allowed THEN
        RAISE EXCEPTION 'auth.tokens: only last_used_at changes, and a revocation is for good' USING ERRCODE = 'CM004';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER keep BEFORE UPDATE ON auth.tokens FOR EACH ROW EXECUTE FUNCTION auth.keep_token();
CREATE TRIGGER immutable BEFORE DELETE ON auth.tokens FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON auth.tokens FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE auth.tokens ENABLE ALWAYS TRIGGER keep;
ALTER TABLE auth.tokens ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE auth.tokens ENABLE ALWAYS TRIGGER immutable_all;
