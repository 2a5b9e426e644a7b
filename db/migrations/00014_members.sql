-- Who sees what: membership in sessions, which is the only source of visibility. docs/authorization.md has the rules.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- Who has sent, received or coordinated a message of a session, and since which message; to have erased one is not to take
-- part. Only members append to a session that is there, which the server sees to with the session locked; so nobody gets in who was not named by one.
CREATE TABLE log.members (
    player       log.hash NOT NULL,
    session_hash log.hash NOT NULL,
    since_id     BIGINT NOT NULL,   -- the id of the first message that names them
    named_by     log.hash NOT NULL, -- its owner
    PRIMARY KEY (player, session_hash)
);
CREATE INDEX members_session ON log.members (session_hash, player);

-- Follows from the messages, whoever writes them. Most are members already.
-- +goose StatementBegin
CREATE FUNCTION log.enroll() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    INSERT INTO log.members (player, session_hash, since_id, named_by)
    SELECT DISTINCT ON (n.session_hash, n.player) n.player, n.session_hash, n.id, n.owner_id
    FROM (
        SELECT a.id, a.session_hash, a.owner_id, a.owner_id AS player FROM added a WHERE a.event_type IS DISTINCT FROM 'erasure'
        UNION ALL SELECT a.id, a.session_hash, a.owner_id, a.master_player FROM added a WHERE a.master_player IS NOT NULL
        UNION ALL SELECT a.id, a.session_hash, a.owner_id, p.player FROM added a CROSS JOIN LATERAL unnest(a.players_id) AS p (player)
    ) n
    WHERE NOT EXISTS (SELECT FROM log.members m WHERE m.player = n.player AND m.session_hash = n.session_hash)
    ORDER BY n.session_hash, n.player, n.id -- the same for everyone, so that none wait for each other
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER enroll AFTER INSERT ON log.messages REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION log.enroll();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER enroll;

CREATE TRIGGER immutable BEFORE UPDATE OR DELETE ON log.members FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER immutable_all BEFORE TRUNCATE ON log.members FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
ALTER TABLE log.members ENABLE ALWAYS TRIGGER immutable;
ALTER TABLE log.members ENABLE ALWAYS TRIGGER immutable_all;

INSERT INTO log.members (player, session_hash, since_id, named_by)
SELECT DISTINCT ON (n.player, m.session_hash) n.player, m.session_hash, m.id, m.owner_id
FROM log.messages m CROSS JOIN LATERAL unnest(m.players_id || m.owner_id || m.master_player) AS n (player)
WHERE n.player IS NOT NULL AND (m.event_type IS DISTINCT FROM 'erasure' OR n.player <> m.owner_id) ORDER BY n.player, m.session_hash, m.id;

-- Which messages a scope holds, as before, of those that a viewer sees: all if there is none, else those of the sessions
-- that they were a member of by a message up to an id (NULL: by any). What sessions or threads lead to is looked up one by
-- one; else their own sessions lead to it.
DROP FUNCTION embedding.lexical_in_scope;
DROP FUNCTION log.in_scope;
CREATE FUNCTION log.in_scope(
    sessions CHAR(64)[], threads CHAR(64)[], players CHAR(64)[], owners CHAR(64)[], hashtags CHAR(64)[],
    flags CHAR(64)[], items CHAR(64)[], locations CHAR(64)[], event_types TEXT[],
    since TIMESTAMPTZ, until TIMESTAMPTZ, viewer CHAR(64), joined BIGINT
) RETURNS SETOF log.messages LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT m.* FROM log.messages m
    WHERE ($1 IS NULL OR m.session_hash = ANY ($1))
        AND ($2 IS NULL OR m.thread_hash = ANY ($2))
        AND ($3 IS NULL OR m.owner_id = ANY ($3) OR m.players_id && $3 OR m.master_player = ANY ($3))
        AND ($4 IS NULL OR m.owner_id = ANY ($4))
        AND ($5 IS NULL OR m.hashtags && $5)
        AND ($6 IS NULL OR m.flag_id = ANY ($6))
        AND ($7 IS NULL OR m.item_id && $7 OR m.master_item_id = ANY ($7))
        AND ($8 IS NULL OR m.loc_id = ANY ($8))
        AND ($9 IS NULL OR m.event_type = ANY ($9::log.event_type[]))
        AND ($10 IS NULL OR m.created_at >= $10)
        AND ($11 IS NULL OR m.created_at < $11)
        AND ($12 IS NULL OR $1 IS NOT NULL OR $2 IS NOT NULL OR m.session_hash = ANY (ARRAY(
            SELECT v.session_hash::CHAR(64) FROM log.members v WHERE v.player = $12 AND ($13 IS NULL OR v.since_id <= $13))))
        AND ($12 IS NULL OR $1 IS NULL AND $2 IS NULL OR EXISTS (
            SELECT FROM log.members v WHERE v.player = $12 AND v.session_hash = m.session_hash AND ($13 IS NULL OR v.since_id <= $13)))
$$;

CREATE FUNCTION embedding.lexical_in_scope(
    sessions CHAR(64)[], threads CHAR(64)[], players CHAR(64)[], owners CHAR(64)[], hashtags CHAR(64)[],
    flags CHAR(64)[], items CHAR(64)[], locations CHAR(64)[], event_types TEXT[],
    since TIMESTAMPTZ, until TIMESTAMPTZ, viewer CHAR(64), joined BIGINT,
    messages BOOLEAN, narrowed BOOLEAN, record_kinds TEXT[],
    at_position BIGINT, at_absent BIGINT[], at_records BIGINT, listed BIGINT[]
) RETURNS SETOF embedding.lexical LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT l.* FROM embedding.lexical l
    WHERE $14 AND l.kind = 'context' AND l.source_id <= $17 AND l.source_id <> ALL ($18)
            AND (NOT $15 OR $20 IS NOT NULL AND l.source_id + 0 = ANY ($20) OR $20 IS NULL AND EXISTS (
                SELECT FROM log.in_scope($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) m WHERE m.id = l.source_id OFFSET 0))
        OR l.kind <> 'context' AND l.kind = ANY ($16::log.ref_type[]) AND l.source_id <= $19
            AND ($10 IS NULL AND $11 IS NULL OR EXISTS (
                SELECT FROM knowledge.records r
                WHERE r.id = l.source_id AND ($10 IS NULL OR r.created_at >= $10) AND ($11 IS NULL OR r.created_at < $11) OFFSET 0))
$$;

-- Where a message that a viewer sees stands: what a page of a list begins behind. NULL for one that they do not see.
CREATE FUNCTION log.place_of(message CHAR(64), viewer CHAR(64)) RETURNS BIGINT LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT m.id FROM log.messages m WHERE m.hash = $1 AND ($2 IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = $2 AND v.session_hash = m.session_hash))
$$;
CREATE FUNCTION log.time_of(message CHAR(64), viewer CHAR(64)) RETURNS TIMESTAMPTZ LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT m.created_at FROM log.messages m WHERE m.hash = $1 AND ($2 IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = $2 AND v.session_hash = m.session_hash))
$$;

-- Ids of the last 4,096 up to one that no message has and that one may still get, whoever sees it.
CREATE FUNCTION log.absent(upto BIGINT) RETURNS BIGINT[] LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN log.is_written() THEN ARRAY(
        SELECT i.id FROM generate_series(GREATEST($1 - 4095, 1), $1) AS i (id)
        EXCEPT SELECT m.id FROM log.messages m WHERE m.id BETWEEN $1 - 4095 AND $1 ORDER BY id) ELSE '{}' END
$$;

-- Whose selection it is: NULL for an administrator's, who sees all. What the search could see is told by the newest
-- message that the viewer saw, since the positions of others' messages are not theirs to know: receipts of version 4.
ALTER TABLE memory.selections
    ADD COLUMN viewer CHAR(64) COLLATE "C", -- a domain would have every row read
    ADD COLUMN newest CHAR(64) COLLATE "C";
CREATE INDEX selections_viewer ON memory.selections (viewer, created_at, id) WHERE viewer IS NOT NULL;

-- ---- the fence -------------------------------------------------------------------------------------------
-- What db/fence.sql needs, which is applied where the database lets roles be made: row-level security behind the server's
-- own predicates.

-- The player in whose name a transaction reads.
CREATE FUNCTION log.viewer() RETURNS CHAR(64) LANGUAGE sql STABLE PARALLEL SAFE
    RETURN NULLIF(current_setting('context_manager.player', TRUE), '')::CHAR(64);

-- Who stands in a session of a player by another's word, themself included: by naming somebody one learns nothing of them,
-- until they have sent something or somebody else names them. Who reads as a player sees only their own memberships, so both
-- have their owner's rights; they tell them of nobody else's. The function gives those of the wanted, NULL being all, and is
-- what the store asks; the view is what stands behind it, which the planner can look into for one player or go through for
-- all.
-- +goose StatementBegin
CREATE FUNCTION log.players_known_to(viewer CHAR(64), wanted CHAR(64)[]) RETURNS CHAR(64)[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF log.viewer() <> viewer THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT DISTINCT o.player::CHAR(64) FROM log.members v JOIN log.members o ON o.session_hash = v.session_hash
        WHERE v.player = viewer AND (wanted IS NULL OR o.player = ANY (wanted)) AND (o.player = viewer OR o.named_by <> viewer
            OR EXISTS (SELECT FROM log.messages m WHERE m.session_hash = o.session_hash AND m.owner_id = o.player)));
END $$;
-- +goose StatementEnd
CREATE VIEW log.players_known WITH (security_barrier) AS
    SELECT o.player FROM log.members v JOIN log.members o ON o.session_hash = v.session_hash
    WHERE v.player = log.viewer() AND (o.player = v.player OR o.named_by <> v.player
        OR EXISTS (SELECT FROM log.messages m WHERE m.session_hash = o.session_hash AND m.owner_id = o.player));

-- Players as whoever looks may see them: preferences are one's own. It has its owner's rights, since a player's role may read
-- no column of preferences.
CREATE VIEW core.players_seen WITH (security_barrier) AS
    SELECT p.hash, p.namespace, p.key, p.name, p.description, p.data,
        (CASE WHEN current_user <> 'cm_player' OR p.hash = log.viewer() THEN p.preferences ELSE '{}' END)::TEXT[] AS preferences
    FROM core.players p
    WHERE current_user <> 'cm_player' OR p.hash = log.viewer() OR EXISTS (SELECT FROM log.players_known k WHERE k.player = p.hash);
CREATE OR REPLACE VIEW core.components AS
    SELECT hash, namespace, key, name, description, data, preferences FROM core.players_seen
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.hashtags
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.flags
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.items
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.locations;
-- The same for whoever sees all, which is planned in a third of the time.
CREATE VIEW core.all_components AS
    SELECT hash, namespace, key, name, description, data, preferences FROM core.players
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.hashtags
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.flags
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.items
    UNION ALL SELECT hash, namespace, key, name, description, data, '{}'::TEXT[] FROM core.locations;

-- Other views show whoever looks what they may see.
-- +goose StatementBegin
DO $$
DECLARE
    named REGCLASS;
BEGIN
    FOR named IN SELECT c.oid::REGCLASS FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'v' AND c.relname NOT IN ('players_known', 'players_seen', 'components') AND (n.nspname IN ('log', 'core') OR n.nspname = 'public' AND c.relname = 'ia_nest_events')
    LOOP
        EXECUTE format('ALTER VIEW %s SET (security_invoker = TRUE)', named);
    END LOOP;
END $$;
-- +goose StatementEnd
