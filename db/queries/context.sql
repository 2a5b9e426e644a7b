-- Search for ranked context.

-- name: HasPending :one
SELECT EXISTS (SELECT FROM embedding.backlog) AS messages, EXISTS (SELECT FROM embedding.pending) AS records;

-- name: LockIndexing :exec
-- An erasure waits for those who have read texts, and they for it: see log.erase. The key spells "cmix".
SELECT pg_advisory_xact_lock_shared(x'636d6978'::BIGINT);

-- name: TakeBacklog :many
-- Messages that have no vectors: taken by this transaction, waiting for others that take them.
DELETE FROM embedding.backlog WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM embedding.backlog b ORDER BY b.first_id LIMIT @row_count FOR UPDATE))
RETURNING first_id, last_id;

-- name: TakeFreeBacklog :many
-- The same without waiting: what others take is left to them.
DELETE FROM embedding.backlog WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM embedding.backlog b ORDER BY b.first_id LIMIT @row_count FOR UPDATE SKIP LOCKED))
RETURNING first_id, last_id;

-- name: ReturnBacklog :exec
INSERT INTO embedding.backlog (first_id, last_id) SELECT unnest(@firsts::BIGINT[]), unnest(@lasts::BIGINT[]);

-- name: TextsOfMessages :many
SELECT m.id, m.session_hash, m.sequence, m.content::TEXT AS content FROM log.messages m
WHERE m.id = ANY (@ids::BIGINT[]) AND m.content IS NOT NULL;

-- name: TakePending :many
-- Records that others wrote and no search has seen yet: taken by this transaction, waiting for others that take them.
DELETE FROM embedding.pending WHERE (kind, hash) IN (
    SELECT p.kind, p.hash FROM embedding.pending p ORDER BY p.kind, p.hash LIMIT @row_count FOR UPDATE)
RETURNING hash;

-- name: TermStatistics :many
-- How many passages the scope has (term 0), and how many hold each of the terms.
WITH passages AS MATERIALIZED (
    SELECT l.terms & @terms::INT[] AS hits FROM embedding.in_scope(
        sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
        sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
        sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
        @messages::BOOLEAN, @narrowed::BOOLEAN, @record_kinds::TEXT[]) l)
SELECT 0::INT AS term, count(*) AS passages FROM passages
UNION ALL
SELECT t.term::INT, count(*) FROM passages p CROSS JOIN LATERAL unnest(p.hits) AS t (term) GROUP BY t.term;

-- name: LexicalCandidates :many
SELECT l.kind::log.ref_type AS kind, l.source_id::BIGINT AS source_id, max(-(l.vector <#> CAST(@query::TEXT AS sparsevec)))::FLOAT8 AS product
FROM embedding.in_scope(
    sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
    sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
    sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    @messages::BOOLEAN, @narrowed::BOOLEAN, @record_kinds::TEXT[]) l
GROUP BY l.kind, l.source_id
ORDER BY product DESC, l.kind, l.source_id DESC LIMIT @row_count;

-- name: CandidateMessages :many
-- What ranking needs of a message: of a long text, its beginning.
SELECT m.id, m.hash, m.session_hash, m.sequence, m.owner_id, m.created_at, left(m.content, 1000)::TEXT AS beginning,
    (CASE WHEN @labelled::BOOLEAN THEN array_remove(m.hashtags || m.item_id || m.flag_id || m.master_item_id || m.loc_id, NULL) ELSE '{}' END)::TEXT[] AS labels
FROM log.messages m WHERE m.id = ANY (@ids::BIGINT[]) AND m.content IS NOT NULL;

-- name: CandidateRecords :many
SELECT r.id, r.hash, r.created_at, r.kind, left(r.title || E'\n' || r.content, 1000) AS beginning FROM knowledge.records r WHERE r.id = ANY (@ids::BIGINT[]);

-- name: PlayerNames :many
SELECT p.hash, p.key, p.name FROM core.players p WHERE p.hash = ANY (CAST(@hashes::TEXT[] AS CHAR(64)[]));

-- name: PlayerPreferences :many
SELECT p.preferences FROM core.players p WHERE p.hash = CAST(@hash::TEXT AS CHAR(64));

-- name: NamedOwners :many
-- Players that the query's words may name, by the whole name or its first word, and that own a message in scope.
SELECT COALESCE(p.name, p.key)::TEXT AS name FROM core.players p
WHERE (lower(p.name) = ANY (@words::TEXT[]) OR lower(split_part(p.name, ' ', 1)) = ANY (@words) OR p.name IS NULL AND lower(p.key) = ANY (@words))
    AND EXISTS (SELECT FROM log.in_scope(
        sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
        sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
        sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ) m
        WHERE m.owner_id = p.hash)
ORDER BY p.hash LIMIT 100;
