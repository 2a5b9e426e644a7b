-- Messages, sessions and threads: one, many, and pages by keyset. A page that goes backward is turned by its reader.
-- Each shows what the viewer may see; NULL sees all. A page begins behind a message, by its hash: ids tell how many others
-- there are.

-- name: MessagesByHash :many
SELECT m.* FROM log.messages m WHERE m.hash = ANY (@hashes::bpchar[])
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash));

-- name: MessagesByID :many
-- As many of them as have no more bytes than that together, at least one.
SELECT m.* FROM (
    SELECT i.id, sum(COALESCE(octet_length(i.content), 0) + COALESCE(octet_length(i.attachments::TEXT), 0)
        + COALESCE(octet_length(i.ambient::TEXT), 0)) OVER place AS size, row_number() OVER place AS place
    FROM log.messages i WHERE i.id = ANY (@ids::BIGINT[]) WINDOW place AS (ORDER BY i.id)
) found
JOIN log.messages m ON m.id = found.id
WHERE found.size <= @bytes::BIGINT OR found.place = 1
ORDER BY m.id;

-- name: MessagesInScope :many
SELECT m.* FROM log.in_scope(
    sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
    sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
    sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) m
WHERE (sqlc.narg('channels')::TEXT[] IS NULL OR m.channel = ANY (sqlc.narg('channels')::TEXT[]))
    AND (sqlc.narg('importance')::SMALLINT[] IS NULL OR m.importance = ANY (sqlc.narg('importance')::SMALLINT[]))
    AND (sqlc.narg('held')::BIGINT[] IS NULL OR m.id = ANY (sqlc.narg('held')::BIGINT[]))
    AND (sqlc.narg('receivers')::bpchar[] IS NULL OR m.players_id && sqlc.narg('receivers')::bpchar[])
    AND (sqlc.narg('leaders')::bpchar[] IS NULL OR m.master_player = ANY (sqlc.narg('leaders')::bpchar[]))
    AND (sqlc.narg('after')::bpchar IS NULL OR m.id > (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)))
    AND (sqlc.narg('before')::bpchar IS NULL OR m.id < (SELECT log.place_of(sqlc.narg('before')::bpchar, sqlc.narg('viewer')::bpchar)))
ORDER BY CASE WHEN @backward::BOOLEAN THEN m.id END DESC, CASE WHEN NOT @backward THEN m.id END
LIMIT @row_count;

-- name: CountMessagesInScope :one
SELECT count(*) FROM log.in_scope(
    sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
    sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
    sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) m
WHERE (sqlc.narg('channels')::TEXT[] IS NULL OR m.channel = ANY (sqlc.narg('channels')::TEXT[]))
    AND (sqlc.narg('importance')::SMALLINT[] IS NULL OR m.importance = ANY (sqlc.narg('importance')::SMALLINT[]))
    AND (sqlc.narg('held')::BIGINT[] IS NULL OR m.id = ANY (sqlc.narg('held')::BIGINT[]))
    AND (sqlc.narg('receivers')::bpchar[] IS NULL OR m.players_id && sqlc.narg('receivers')::bpchar[])
    AND (sqlc.narg('leaders')::bpchar[] IS NULL OR m.master_player = ANY (sqlc.narg('leaders')::bpchar[]));

-- name: SessionMessages :many
SELECT m.* FROM log.messages m
WHERE m.session_hash = @session_hash::bpchar
    AND (sqlc.narg('after')::BIGINT IS NULL OR m.sequence > sqlc.narg('after'))
    AND (sqlc.narg('before')::BIGINT IS NULL OR m.sequence < sqlc.narg('before'))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY CASE WHEN @backward::BOOLEAN THEN m.sequence END DESC, CASE WHEN NOT @backward THEN m.sequence END
LIMIT @row_count;

-- name: ThreadMessages :many
SELECT m.* FROM log.messages m
WHERE m.thread_hash = @thread_hash::bpchar
    AND (sqlc.narg('after')::bpchar IS NULL OR (m.created_at, m.id) >
        ((SELECT log.time_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)), (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar))))
    AND (sqlc.narg('before')::bpchar IS NULL OR (m.created_at, m.id) <
        ((SELECT log.time_of(sqlc.narg('before')::bpchar, sqlc.narg('viewer')::bpchar)), (SELECT log.place_of(sqlc.narg('before')::bpchar, sqlc.narg('viewer')::bpchar))))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY CASE WHEN @backward::BOOLEAN THEN m.created_at END DESC, CASE WHEN @backward THEN m.id END DESC,
    CASE WHEN NOT @backward THEN m.created_at END, CASE WHEN NOT @backward THEN m.id END
LIMIT @row_count;

-- name: CitingMessages :many
SELECT m.* FROM log.message_refs r
JOIN log.messages m ON m.hash = r.message_hash
WHERE r.ref_hash = @ref_hash::bpchar
    AND (sqlc.narg('after')::bpchar IS NULL OR m.id > (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
ORDER BY m.id LIMIT @row_count;

-- name: CountCitingMessages :one
SELECT count(*) FROM log.message_refs r
JOIN log.messages m ON m.hash = r.message_hash
WHERE r.ref_hash = @ref_hash::bpchar
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash));

-- name: RefsOfMessages :many
SELECT r.message_hash, r.position, r.ref_hash, r.ref_type FROM log.message_refs r
WHERE r.message_hash = ANY (@hashes::bpchar[])
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.messages m
        JOIN log.members v ON v.session_hash = m.session_hash AND v.player = sqlc.narg('viewer')::bpchar WHERE m.hash = r.message_hash))
ORDER BY r.message_hash, r.position;

-- name: SessionsByHash :many
SELECT l.session_hash, l.sequence, l.hash, l.created_at,
    COALESCE((SELECT f.created_at FROM log.messages f WHERE f.session_hash = l.session_hash ORDER BY f.sequence LIMIT 1), l.created_at)::TIMESTAMPTZ AS started_at
FROM unnest(@hashes::bpchar[]) AS s (hash)
CROSS JOIN LATERAL (
    SELECT m.session_hash, m.sequence, m.hash, m.created_at FROM log.messages m WHERE m.session_hash = s.hash ORDER BY m.sequence DESC LIMIT 1) l
WHERE sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
    SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = l.session_hash);

-- name: LatestSessions :many
-- A session stands where its last message stands: from the latest message of all on. Which that is, is looked up: a join that leaves out all before it may be
-- one of all messages of a session with all.
SELECT l.session_hash, l.sequence, l.hash, l.created_at, l.id,
    COALESCE((SELECT f.created_at FROM log.messages f WHERE f.session_hash = l.session_hash ORDER BY f.sequence LIMIT 1), l.created_at)::TIMESTAMPTZ AS started_at
FROM log.messages l
WHERE l.sequence = (SELECT n.sequence FROM log.messages n WHERE n.session_hash = l.session_hash ORDER BY n.sequence DESC LIMIT 1)
    AND (sqlc.narg('after')::bpchar IS NULL OR (l.created_at, l.id) <
        ((SELECT log.time_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)), (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar))))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR l.session_hash = ANY (ARRAY(
        SELECT v.session_hash::CHAR(64) FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar)))
ORDER BY l.created_at DESC, l.id DESC LIMIT @row_count;

-- name: SessionsInScope :many
-- The same of those that a scope holds a message of, or of a list: see ThreadsInScope.
SELECT l.session_hash, l.sequence, l.hash, l.created_at, l.id,
    COALESCE((SELECT f.created_at FROM log.messages f WHERE f.session_hash = l.session_hash ORDER BY f.sequence LIMIT 1), l.created_at)::TIMESTAMPTZ AS started_at
FROM (
    SELECT DISTINCT s.session_hash AS hash FROM log.in_scope(
        sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
        sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
        sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
        sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) s
    WHERE (sqlc.narg('channels')::TEXT[] IS NULL OR s.channel = ANY (sqlc.narg('channels')::TEXT[]))
        AND (sqlc.narg('importance')::SMALLINT[] IS NULL OR s.importance = ANY (sqlc.narg('importance')::SMALLINT[]))
        AND (sqlc.narg('held')::BIGINT[] IS NULL OR s.id = ANY (sqlc.narg('held')::BIGINT[]))
        AND (sqlc.narg('receivers')::bpchar[] IS NULL OR s.players_id && sqlc.narg('receivers')::bpchar[])
        AND (sqlc.narg('leaders')::bpchar[] IS NULL OR s.master_player = ANY (sqlc.narg('leaders')::bpchar[])) AND sqlc.narg('listed')::bpchar[] IS NULL
    UNION ALL SELECT unnest(sqlc.narg('listed')::bpchar[])) t
CROSS JOIN LATERAL (
    SELECT n.session_hash, n.sequence, n.hash, n.created_at, n.id FROM log.messages n WHERE n.session_hash = t.hash ORDER BY n.sequence DESC LIMIT 1) l
WHERE (sqlc.narg('after')::bpchar IS NULL OR (l.created_at, l.id) <
        ((SELECT log.time_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)), (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar))))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = l.session_hash))
ORDER BY l.created_at DESC, l.id DESC LIMIT @row_count;

-- name: SomeSessions :many
-- Sessions in the order of their hashes, found one by one, whoever sees them.
WITH RECURSIVE found AS (
    (SELECT m.session_hash FROM log.messages m ORDER BY m.session_hash LIMIT 1)
    UNION ALL
    SELECT (SELECT m.session_hash FROM log.messages m WHERE m.session_hash > f.session_hash ORDER BY m.session_hash LIMIT 1)
    FROM found f WHERE f.session_hash IS NOT NULL)
SELECT f.session_hash::log.hash AS hash FROM found f WHERE f.session_hash IS NOT NULL LIMIT @row_count;

-- name: CountSessionsInScope :one
SELECT count(DISTINCT m.session_hash) FROM log.in_scope(
    sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
    sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
    sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) m
WHERE (sqlc.narg('channels')::TEXT[] IS NULL OR m.channel = ANY (sqlc.narg('channels')::TEXT[]))
    AND (sqlc.narg('importance')::SMALLINT[] IS NULL OR m.importance = ANY (sqlc.narg('importance')::SMALLINT[]))
    AND (sqlc.narg('held')::BIGINT[] IS NULL OR m.id = ANY (sqlc.narg('held')::BIGINT[]))
    AND (sqlc.narg('receivers')::bpchar[] IS NULL OR m.players_id && sqlc.narg('receivers')::bpchar[])
    AND (sqlc.narg('leaders')::bpchar[] IS NULL OR m.master_player = ANY (sqlc.narg('leaders')::bpchar[]));

-- name: ThreadsByHash :many
SELECT t.hash::log.hash AS hash, a.messages, a.started_at::TIMESTAMPTZ AS started_at, a.last_at::TIMESTAMPTZ AS last_at,
    (SELECT n.hash FROM log.messages n WHERE n.thread_hash = t.hash
        AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = n.session_hash))
        ORDER BY n.created_at DESC, n.id DESC LIMIT 1)::log.hash AS last
FROM unnest(@hashes::bpchar[]) AS t (hash)
CROSS JOIN LATERAL (
    SELECT count(*) AS messages, min(m.created_at) AS started_at, max(m.created_at) AS last_at FROM log.messages m
    WHERE m.thread_hash = t.hash
        AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))) a
WHERE a.messages > 0;

-- name: LatestThreads :many
-- A thread stands where its last message stands: from the latest message of all on.
SELECT l.thread_hash::log.hash AS hash, l.created_at AS last_at, l.id, l.hash AS last, t.messages, t.started_at::TIMESTAMPTZ AS started_at
FROM log.messages l
CROSS JOIN LATERAL (
    SELECT count(*) AS messages, min(m.created_at) AS started_at FROM log.messages m WHERE m.thread_hash = l.thread_hash
        AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))) t
WHERE l.thread_hash IS NOT NULL
    AND l.id = (SELECT n.id FROM log.messages n WHERE n.thread_hash = l.thread_hash
        AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = n.session_hash))
        ORDER BY n.created_at DESC, n.id DESC LIMIT 1)
    AND (sqlc.narg('after')::bpchar IS NULL OR (l.created_at, l.id) <
        ((SELECT log.time_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)), (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar))))
    AND (sqlc.narg('viewer')::bpchar IS NULL OR l.session_hash = ANY (ARRAY(
        SELECT v.session_hash::CHAR(64) FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar)))
ORDER BY l.created_at DESC, l.id DESC LIMIT @row_count;

-- name: ThreadsInScope :many
-- The same of those that a scope holds a message of, or of a list: each is looked up, which takes longer than to go through the
-- latest messages only where there are very many.
SELECT p.hash::log.hash AS hash, p.created_at AS last_at, p.id, p.last, a.messages, a.started_at::TIMESTAMPTZ AS started_at
FROM (
    SELECT t.hash, l.created_at, l.id, l.hash AS last FROM (
        SELECT DISTINCT s.thread_hash AS hash FROM log.in_scope(
            sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
            sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
            sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
            sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) s
        WHERE (sqlc.narg('channels')::TEXT[] IS NULL OR s.channel = ANY (sqlc.narg('channels')::TEXT[]))
            AND (sqlc.narg('importance')::SMALLINT[] IS NULL OR s.importance = ANY (sqlc.narg('importance')::SMALLINT[]))
            AND (sqlc.narg('held')::BIGINT[] IS NULL OR s.id = ANY (sqlc.narg('held')::BIGINT[]))
            AND (sqlc.narg('receivers')::bpchar[] IS NULL OR s.players_id && sqlc.narg('receivers')::bpchar[])
            AND (sqlc.narg('leaders')::bpchar[] IS NULL OR s.master_player = ANY (sqlc.narg('leaders')::bpchar[])) AND sqlc.narg('listed')::bpchar[] IS NULL AND s.thread_hash IS NOT NULL
        UNION ALL SELECT unnest(sqlc.narg('listed')::bpchar[])) t
    CROSS JOIN LATERAL (
        SELECT n.created_at, n.id, n.hash FROM log.messages n
        WHERE n.thread_hash = t.hash AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = n.session_hash))
        ORDER BY n.created_at DESC, n.id DESC LIMIT 1) l
    WHERE (sqlc.narg('after')::bpchar IS NULL OR (l.created_at, l.id) <
            ((SELECT log.time_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar)), (SELECT log.place_of(sqlc.narg('after')::bpchar, sqlc.narg('viewer')::bpchar))))
    ORDER BY l.created_at DESC, l.id DESC LIMIT @row_count) p
CROSS JOIN LATERAL (
    SELECT count(*) AS messages, min(m.created_at) AS started_at FROM log.messages m
    WHERE m.thread_hash = p.hash AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))) a
ORDER BY p.created_at DESC, p.id DESC;

-- name: SomeThreads :many
-- Threads in the order of their hashes, found one by one, whoever sees them.
WITH RECURSIVE found AS (
    (SELECT m.thread_hash FROM log.messages m WHERE m.thread_hash IS NOT NULL ORDER BY m.thread_hash LIMIT 1)
    UNION ALL
    SELECT (SELECT m.thread_hash FROM log.messages m WHERE m.thread_hash > f.thread_hash ORDER BY m.thread_hash LIMIT 1)
    FROM found f WHERE f.thread_hash IS NOT NULL)
SELECT f.thread_hash::log.hash AS hash FROM found f WHERE f.thread_hash IS NOT NULL LIMIT @row_count;

-- name: CountThreadsInScope :one
SELECT count(DISTINCT m.thread_hash) FROM log.in_scope(
    sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
    sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
    sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) m
WHERE (sqlc.narg('channels')::TEXT[] IS NULL OR m.channel = ANY (sqlc.narg('channels')::TEXT[]))
    AND (sqlc.narg('importance')::SMALLINT[] IS NULL OR m.importance = ANY (sqlc.narg('importance')::SMALLINT[]))
    AND (sqlc.narg('held')::BIGINT[] IS NULL OR m.id = ANY (sqlc.narg('held')::BIGINT[]))
    AND (sqlc.narg('receivers')::bpchar[] IS NULL OR m.players_id && sqlc.narg('receivers')::bpchar[])
    AND (sqlc.narg('leaders')::bpchar[] IS NULL OR m.master_player = ANY (sqlc.narg('leaders')::bpchar[]));

-- name: PlayersOfThreads :many
SELECT t.hash::log.hash AS thread_hash, p.player::log.hash AS player
FROM unnest(@hashes::bpchar[]) AS t (hash)
CROSS JOIN LATERAL (
    SELECT DISTINCT u.player FROM log.messages m
    CROSS JOIN LATERAL unnest(m.players_id || m.owner_id || m.master_player) AS u (player)
    WHERE m.thread_hash = t.hash AND u.player IS NOT NULL
        AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
    ORDER BY u.player LIMIT @row_count) p
ORDER BY t.hash, p.player;

-- name: OwnSessions :many
-- The sessions that a player is a member of.
SELECT v.session_hash FROM log.members v WHERE v.player = @player::bpchar;

-- name: LogPosition :one
SELECT COALESCE(max(id), 0)::BIGINT AS position, count(*) AS size FROM log.messages;

-- name: LogEnd :one
SELECT COALESCE(max(id), 0)::BIGINT FROM log.messages;

-- name: MessageIDsAfter :many
SELECT id FROM log.messages WHERE id > @after::BIGINT ORDER BY id LIMIT @row_count;
