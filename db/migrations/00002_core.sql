-- Components: what messages name by hash. A message may name one that no row describes.

-- +goose Up
CREATE SCHEMA core;

CREATE TABLE core.players (
    hash        log.hash PRIMARY KEY,
    namespace   TEXT NOT NULL CHECK (namespace IN ('ply', 'plu', 'plx')),
    key         TEXT NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
    name        TEXT CHECK (octet_length(name) <= 1024),
    description TEXT CHECK (octet_length(description) <= 65536),
    data        JSONB NOT NULL DEFAULT '{}' CHECK (octet_length(data::TEXT) <= 1048576),
    preferences TEXT[] NOT NULL DEFAULT '{}',
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (namespace, key)
);

CREATE TABLE core.hashtags (
    hash        log.hash PRIMARY KEY,
    namespace   TEXT NOT NULL CHECK (namespace IN ('hst', 'spe', 'vsn', 'vue', 'hsu')),
    key         TEXT NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
    name        TEXT CHECK (octet_length(name) <= 1024),
    description TEXT CHECK (octet_length(description) <= 65536),
    data        JSONB NOT NULL DEFAULT '{}' CHECK (octet_length(data::TEXT) <= 1048576),
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (namespace, key)
);

CREATE TABLE core.flags (
    hash        log.hash PRIMARY KEY,
    namespace   TEXT NOT NULL CHECK (namespace IN ('flg', 'flu')),
    key         TEXT NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
    name        TEXT CHECK (octet_length(name) <= 1024),
    description TEXT CHECK (octet_length(description) <= 65536),
    data        JSONB NOT NULL DEFAULT '{}' CHECK (octet_length(data::TEXT) <= 1048576),
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (namespace, key)
);

CREATE TABLE core.items (
    hash        log.hash PRIMARY KEY,
    namespace   TEXT NOT NULL CHECK (namespace IN ('itm', 'itu', 'itx')),
    key         TEXT NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
    name        TEXT CHECK (octet_length(name) <= 1024),
    description TEXT CHECK (octet_length(description) <= 65536),
    data        JSONB NOT NULL DEFAULT '{}' CHECK (octet_length(data::TEXT) <= 1048576),
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (namespace, key)
);

CREATE TABLE core.locations (
    hash        log.hash PRIMARY KEY,
    namespace   TEXT NOT NULL CHECK (namespace IN ('loc', 'lou', 'lox')),
    key         TEXT NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
    name        TEXT CHECK (octet_length(name) <= 1024),
    description TEXT CHECK (octet_length(description) <= 65536),
    data        JSONB NOT NULL DEFAULT '{}' CHECK (octet_length(data::TEXT) <= 1048576),
    updated_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (namespace, key)
);

-- A hash names one component, whatever its kind: this table holds that across the five.
CREATE TABLE core.names (
    hash      log.hash PRIMARY KEY,
    namespace TEXT NOT NULL
);

-- +goose StatementBegin
CREATE FUNCTION core.claim_name() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM core.names n WHERE n.hash = OLD.hash;
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND (NEW.hash <> OLD.hash OR NEW.namespace <> OLD.namespace) THEN
        RAISE EXCEPTION 'a component keeps its hash and namespace' USING ERRCODE = 'CM004', COLUMN = 'hash';
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO core.names (hash, namespace) VALUES (NEW.hash, NEW.namespace);
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- AFTER: an INSERT … ON CONFLICT DO UPDATE that finds its row must claim nothing.
CREATE TRIGGER claim AFTER INSERT OR UPDATE OR DELETE ON core.players FOR EACH ROW EXECUTE FUNCTION core.claim_name();
CREATE TRIGGER claim AFTER INSERT OR UPDATE OR DELETE ON core.hashtags FOR EACH ROW EXECUTE FUNCTION core.claim_name();
CREATE TRIGGER claim AFTER INSERT OR UPDATE OR DELETE ON core.flags FOR EACH ROW EXECUTE FUNCTION core.claim_name();
CREATE TRIGGER claim AFTER INSERT OR UPDATE OR DELETE ON core.items FOR EACH ROW EXECUTE FUNCTION core.claim_name();
CREATE TRIGGER claim AFTER INSERT OR UPDATE OR DELETE ON core.locations FOR EACH ROW EXECUTE FUNCTION core.claim_name();

CREATE VIEW core.components AS
    SELECT hash, namespace, key, name, description, data, preferences FROM core.players
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.hashtags
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.flags
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.items
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.locations;

-- Creates a component, or changes it where an argument is not NULL; gives its hash. It keeps the hash it has: another
-- one stated is CM001.
-- +goose StatementBegin
CREATE FUNCTION core.upsert(
    kind_table TEXT, new_namespace TEXT, new_key TEXT, new_hash CHAR(64), stated BOOLEAN,
    new_name TEXT, new_description TEXT, new_data JSONB, new_preferences TEXT[]
) RETURNS CHAR(64) LANGUAGE plpgsql AS $$
DECLARE
    kept CHAR(64);
BEGIN
    EXECUTE format('INSERT INTO core.%I AS c (hash, namespace, key, name, description, data)
        VALUES ($1, $2, $3, $4, $5, COALESCE($6, ''{}''))
        ON CONFLICT (namespace, key) DO UPDATE SET name = COALESCE($4, c.name), description = COALESCE($5, c.description),
            data = COALESCE($6, c.data), updated_at = now()
        RETURNING c.hash', kind_table)
        INTO kept USING new_hash, new_namespace, new_key, new_name, new_description, new_data;
    IF stated AND kept <> new_hash THEN
        RAISE EXCEPTION 'the component %:% has another hash', new_namespace, new_key USING ERRCODE = 'CM001', COLUMN = 'hash';
    END IF;
    IF new_preferences IS NOT NULL THEN
        UPDATE core.players p SET preferences = new_preferences WHERE p.hash = kept;
    END IF;
    RETURN kept;
END $$;
-- +goose StatementEnd

CREATE VIEW core.ply AS SELECT hash, key, name, description, data, preferences FROM core.players WHERE namespace = 'ply';
CREATE VIEW core.plu AS SELECT hash, key, name, description, data, preferences FROM core.players WHERE namespace = 'plu';
CREATE VIEW core.plx AS SELECT hash, key, name, description, data, preferences FROM core.players WHERE namespace = 'plx';
CREATE VIEW core.hst AS SELECT hash, key, name, description, data FROM core.hashtags WHERE namespace = 'hst';
CREATE VIEW core.spe AS SELECT hash, key, name, description, data FROM core.hashtags WHERE namespace = 'spe';
CREATE VIEW core.vsn AS SELECT hash, key, name, description, data FROM core.hashtags WHERE namespace = 'vsn';
CREATE VIEW core.vue AS SELECT hash, key, name, description, data FROM core.hashtags WHERE namespace = 'vue';
CREATE VIEW core.hsu AS SELECT hash, key, name, description, data FROM core.hashtags WHERE namespace = 'hsu';
CREATE VIEW core.flg AS SELECT hash, key, name, description, data FROM core.flags WHERE namespace = 'flg';
CREATE VIEW core.flu AS SELECT hash, key, name, description, data FROM core.flags WHERE namespace = 'flu';
CREATE VIEW core.itm AS SELECT hash, key, name, description, data FROM core.items WHERE namespace = 'itm';
CREATE VIEW core.itu AS SELECT hash, key, name, description, data FROM core.items WHERE namespace = 'itu';
CREATE VIEW core.itx AS SELECT hash, key, name, description, data FROM core.items WHERE namespace = 'itx';
CREATE VIEW core.loc AS SELECT hash, key, name, description, data FROM core.locations WHERE namespace = 'loc';
CREATE VIEW core.lou AS SELECT hash, key, name, description, data FROM core.locations WHERE namespace = 'lou';
CREATE VIEW core.lox AS SELECT hash, key, name, description, data FROM core.locations WHERE namespace = 'lox';

-- The log as events, for tools that know nothing of chains. The agent is the receiver of what a user says, and
-- the sender of everything else.
CREATE VIEW public.ia_nest_events AS
    SELECT m.id, m.source, COALESCE(agent.key, e.agent) AS agent, COALESCE(person.key, e.person) AS user_id, m.channel,
        COALESCE(m.ambient ->> 'thread_id', m.thread_hash) AS thread_id, m.event_type::TEXT AS event_type, m.role, m.importance,
        ARRAY(SELECT COALESCE(h.key, t.hash) FROM unnest(m.hashtags) WITH ORDINALITY AS t (hash, position)
            LEFT JOIN core.hashtags h ON h.hash = t.hash ORDER BY t.position) AS tags,
        m.content, m.attachments AS payload, m.created_at
    FROM log.messages m
    CROSS JOIN LATERAL (SELECT
        CASE WHEN m.role = 'user' THEN m.players_id[1] ELSE m.owner_id END AS agent,
        CASE WHEN m.role = 'user' THEN m.owner_id ELSE m.players_id[1] END AS person) e
    LEFT JOIN core.players agent ON agent.hash = e.agent
    LEFT JOIN core.players person ON person.hash = e.person;
