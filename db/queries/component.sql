-- Components. Of players, a viewer sees who stands in their sessions by another's word: who has sent a message there, or
-- was first named by somebody else. By naming somebody one learns nothing of them. Preferences are one's own; NULL, and All, see all.

-- name: ComponentsByHash :many
SELECT c.hash, c.namespace, c.key, c.name, c.description, c.data, CASE WHEN c.hash = @viewer::bpchar THEN c.preferences ELSE '{}' END::TEXT[] AS preferences
FROM core.components c
WHERE c.hash = ANY (@hashes::bpchar[])
    AND (c.namespace NOT IN ('ply', 'plu', 'plx') OR c.hash = @viewer::bpchar OR c.hash IN (
        SELECT unnest(log.players_known_to(@viewer::bpchar, @hashes::bpchar[]))));

-- name: AllComponentsByHash :many
SELECT c.* FROM core.all_components c WHERE c.hash = ANY (@hashes::bpchar[]);

-- name: UpsertComponent :one
SELECT core.upsert(@kind_table, @namespace, @key, @hash::TEXT, @stated, sqlc.narg('name'), sqlc.narg('description'),
    CAST(sqlc.narg('data')::TEXT AS JSONB), sqlc.narg('preferences')::TEXT[])::log.hash AS hash;

-- name: SearchComponents :many
-- Rank: 0 the key itself, 1 a key or name that begins so, 2 one that holds it, 3 a description that holds it.
SELECT c.hash, c.namespace, c.key, c.name, c.description, c.data, CASE WHEN sqlc.narg('viewer')::bpchar IS NULL OR c.hash = sqlc.narg('viewer')::bpchar THEN c.preferences ELSE '{}' END::TEXT[] AS preferences, r.rank::INT AS rank
FROM core.components c
CROSS JOIN LATERAL (SELECT CASE
    WHEN sqlc.narg('search')::TEXT IS NULL OR lower(c.key) = lower(sqlc.narg('search')) THEN 0
    WHEN starts_with(lower(c.key), lower(sqlc.narg('search'))) OR starts_with(lower(c.name), lower(sqlc.narg('search'))) THEN 1
    WHEN strpos(lower(c.key), lower(sqlc.narg('search'))) > 0 OR strpos(lower(c.name), lower(sqlc.narg('search'))) > 0 THEN 2
    WHEN strpos(lower(c.description), lower(sqlc.narg('search'))) > 0 THEN 3 END AS rank) r
WHERE r.rank IS NOT NULL
    AND (sqlc.narg('namespaces')::TEXT[] IS NULL OR c.namespace = ANY (sqlc.narg('namespaces')::TEXT[]))
    AND (sqlc.narg('after_rank')::INT IS NULL
        OR (r.rank, c.namespace, c.key) > (sqlc.narg('after_rank')::INT, @after_namespace::TEXT, @after_key::TEXT))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR c.namespace NOT IN ('ply', 'plu', 'plx') OR c.hash = sqlc.narg('viewer')::bpchar OR c.hash IN (
        SELECT unnest(log.players_known_to(sqlc.narg('viewer')::bpchar, NULL))))
ORDER BY r.rank, c.namespace, c.key LIMIT @row_count;

-- name: CountComponents :one
SELECT count(*) FROM core.components c
WHERE (sqlc.narg('namespaces')::TEXT[] IS NULL OR c.namespace = ANY (sqlc.narg('namespaces')::TEXT[]))
    AND (sqlc.narg('search')::TEXT IS NULL
        OR strpos(lower(c.key), lower(sqlc.narg('search'))) > 0 OR strpos(lower(c.name), lower(sqlc.narg('search'))) > 0
        OR strpos(lower(c.description), lower(sqlc.narg('search'))) > 0)
    AND (sqlc.narg('viewer')::bpchar IS NULL OR c.namespace NOT IN ('ply', 'plu', 'plx') OR c.hash = sqlc.narg('viewer')::bpchar OR c.hash IN (
        SELECT unnest(log.players_known_to(sqlc.narg('viewer')::bpchar, NULL))));

-- name: ComponentUsage :many
-- How messages name a component, by the calendar of UTC: the latest times first, and what all of them come to.
SELECT date_trunc(@bucket::TEXT, m.created_at, 'UTC')::TIMESTAMPTZ AS start, count(*) AS total,
    count(*) FILTER (WHERE m.owner_id = @hash::bpchar) AS sent, count(*) FILTER (WHERE @hash = ANY (m.players_id)) AS received,
    count(*) FILTER (WHERE m.master_player = @hash) AS led,
    sum(count(*)) OVER ()::BIGINT AS all_total, sum(count(*) FILTER (WHERE m.owner_id = @hash)) OVER ()::BIGINT AS all_sent,
    sum(count(*) FILTER (WHERE @hash = ANY (m.players_id))) OVER ()::BIGINT AS all_received,
    sum(count(*) FILTER (WHERE m.master_player = @hash)) OVER ()::BIGINT AS all_led,
    min(min(m.created_at)) OVER ()::TIMESTAMPTZ AS first_at, max(max(m.created_at)) OVER ()::TIMESTAMPTZ AS last_at
FROM log.messages m
WHERE (m.owner_id = @hash OR m.players_id @> ARRAY[@hash] OR m.master_player = @hash OR m.hashtags @> ARRAY[@hash] OR m.flag_id = @hash
        OR m.item_id @> ARRAY[@hash] OR m.master_item_id = @hash OR m.loc_id = @hash)
    AND (sqlc.narg('viewer')::bpchar IS NULL OR m.session_hash = ANY (ARRAY(
        SELECT v.session_hash::CHAR(64) FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar)))
GROUP BY 1 ORDER BY 1 DESC LIMIT @row_count;
