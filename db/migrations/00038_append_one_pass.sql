-- What follows an INSERT into the log is looked at in one pass, and nobody is enrolled where all are members: each statement of the
-- trigger takes as long to begin as it takes for several messages.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- As in 00037_append_by_hash.sql, but for that.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.follow_messages() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    faulty    BIGINT;
    wrong     RECORD;
    newcomers BOOLEAN;
    first     BIGINT;
    last      BIGINT;
    n         BIGINT;
    firsts    BIGINT[];
    lasts     BIGINT[];
    done      BOOLEAN;
BEGIN
    -- Membership by subqueries with LIMIT: EXISTS may be answered by reading all members, if the plan is made while there are few.
    SELECT count(*), min(a.id), max(a.id),
        min(a.id) FILTER (WHERE (
            (p.session_hash = a.session_hash AND p.sequence = a.sequence - 1 AND p.id < a.id AND p.created_at <= a.created_at
                OR a.prev_hash IS NULL AND a.sequence = 1)
            AND a.content_digest = log.content_digest(a.salt, a.content, a.attachments, a.ambient)
            AND a.hash = log.message_hash(ROW(a.id, a.hash, a.session_hash, a.sequence, a.prev_hash, a.thread_hash, a.owner_id,
                a.players_id, a.master_player, a.role, a.event_type, a.importance, a.channel, a.source, a.content, a.attachments, a.ambient,
                a.salt, a.content_digest, a.hashtags, a.flag_id, a.master_item_id, a.item_id, a.loc_id, a.refs_digest, a.created_at,
                a.id_digest)::log.messages)
            AND NOT log.too_long(a.attachments) AND (a.ambient IS NULL OR NOT log.too_long(a.ambient))) IS NOT TRUE),
        bool_or(a.event_type = 'erasure'
            OR (SELECT FALSE FROM log.members m WHERE m.player = a.owner_id AND m.session_hash = a.session_hash LIMIT 1) IS NULL
            OR a.master_player IS NOT NULL AND (SELECT FALSE FROM log.members m
                WHERE m.player = a.master_player AND m.session_hash = a.session_hash LIMIT 1) IS NULL
            OR a.players_id <> '{}' AND (SELECT bool_or((SELECT FALSE FROM log.members m
                WHERE m.player = n.player AND m.session_hash = a.session_hash LIMIT 1) IS NULL) FROM unnest(a.players_id) AS n (player)))
        INTO n, first, last, faulty, newcomers
    FROM added a
    LEFT JOIN log.messages p ON p.hash = a.prev_hash; -- nothing else, or another index than that of hashes seems as good to a plan
    IF n = 0 THEN
        RETURN NULL;
    END IF;
    IF faulty IS NOT NULL THEN
        SELECT a.*, p.session_hash = a.session_hash AND p.sequence = a.sequence - 1 AS linked, p.id AS before_id,
            p.created_at AS before_time, log.message_hash(a) AS want INTO wrong
        FROM log.messages a
        LEFT JOIN log.messages p ON p.hash = a.prev_hash
        WHERE a.id = faulty;
        IF wrong.linked IS NOT TRUE AND (wrong.prev_hash IS NOT NULL OR wrong.sequence <> 1) THEN
            RAISE EXCEPTION 'prev_hash and sequence do not follow the head of the session' USING ERRCODE = 'CM001', COLUMN = 'prev_hash';
        ELSIF wrong.before_id >= wrong.id THEN
            RAISE EXCEPTION 'id was given before that of the message before it' USING ERRCODE = 'CM001', COLUMN = 'id';
        ELSIF wrong.before_time > wrong.created_at THEN
            RAISE EXCEPTION 'created_at is before the last message of the session' USING ERRCODE = 'CM003', COLUMN = 'created_at';
        ELSIF log.too_long(wrong.attachments) THEN
            RAISE EXCEPTION 'attachments have more than 1048576 bytes as text' USING ERRCODE = 'check_violation',
                SCHEMA = 'log', TABLE = 'messages', CONSTRAINT = 'messages_attachments_check';
        ELSIF log.too_long(wrong.ambient) THEN
            RAISE EXCEPTION 'ambient has more than 1048576 bytes as text' USING ERRCODE = 'check_violation',
                SCHEMA = 'log', TABLE = 'messages', CONSTRAINT = 'messages_ambient_check';
        ELSIF wrong.hash IS DISTINCT FROM wrong.want THEN
            RAISE EXCEPTION 'hash is not the hash of the message' USING ERRCODE = 'CM002', COLUMN = 'hash';
        END IF;
        RAISE EXCEPTION 'content_digest is not the digest of the content' USING ERRCODE = 'CM002', COLUMN = 'content_digest';
    END IF;

    IF newcomers THEN
        WITH enrolled AS (
            INSERT INTO log.members (player, session_hash, since_id, named_by)
            SELECT DISTINCT ON (n.session_hash, n.player) n.player, n.session_hash, n.id, n.owner_id
            FROM (
                SELECT a.id, a.session_hash, a.owner_id, a.owner_id AS player FROM added a WHERE a.event_type IS DISTINCT FROM 'erasure'
                UNION ALL SELECT a.id, a.session_hash, a.owner_id, a.master_player FROM added a WHERE a.master_player IS NOT NULL
                UNION ALL SELECT a.id, a.session_hash, a.owner_id, p.player FROM added a CROSS JOIN LATERAL unnest(a.players_id) AS p (player)
            ) n
            WHERE NOT EXISTS (SELECT FROM log.members m WHERE m.player = n.player AND m.session_hash = n.session_hash)
            ORDER BY n.session_hash, n.player, n.id -- the same for everyone, so that none wait for each other
            ON CONFLICT DO NOTHING
            RETURNING player
        )
        INSERT INTO log.participants (player)
        SELECT DISTINCT n.player::CHAR(64) AS player
        FROM (SELECT e.player FROM enrolled e UNION ALL SELECT a.owner_id FROM added a WHERE a.event_type = 'erasure') n
        WHERE NOT EXISTS (SELECT FROM log.participants p WHERE p.player = n.player::CHAR(64));
    END IF;

    IF last - first < n THEN -- one run, mostly
        firsts := ARRAY[first];
        lasts := ARRAY[last];
        done := pg_notify('context_manager_log', first || '-' || last) IS NULL;
    ELSE
        SELECT array_agg(r.first_id ORDER BY r.first_id), array_agg(r.last_id ORDER BY r.first_id) INTO firsts, lasts
        FROM (
            SELECT min(i.id) AS first_id, max(i.id) AS last_id
            FROM (SELECT id, id - row_number() OVER (ORDER BY id) AS island FROM added) i GROUP BY i.island
        ) r;
        PERFORM pg_notify('context_manager_log', string_agg(r.first_id || '-' || r.last_id, ',' ORDER BY r.place))
        FROM unnest(firsts, lasts) WITH ORDINALITY AS r (first_id, last_id, place)
        GROUP BY r.place / 150; -- a payload ends at 8,000 bytes
    END IF;
    WITH sealing AS (INSERT INTO seal.outbox (first_id, last_id) SELECT unnest(firsts), unnest(lasts)),
        embedding AS (INSERT INTO embedding.backlog (first_id, last_id) SELECT unnest(firsts), unnest(lasts))
    INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id)
    SELECT d.id, FALSE, unnest(firsts), unnest(lasts) FROM embedding.models d WHERE d.follows;
    RETURN NULL;
END $$;
-- +goose StatementEnd
