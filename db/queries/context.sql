-- Search for ranked context.

-- name: Unindexed :one
-- How many messages, and records, have no search vectors: of messages, runs that begin up to an id, and where they end.
-- A run may count ids that no message has.
SELECT COALESCE(sum(b.last_id - b.first_id + 1), 0)::BIGINT AS messages, COALESCE(max(b.last_id), 0)::BIGINT AS newest,
    (SELECT count(*) FROM embedding.pending)::BIGINT AS records
FROM embedding.backlog b WHERE b.first_id <= @upto::BIGINT;

-- name: LockIndexing :exec
-- An erasure waits for those who have read texts, and they for it: see log.erase. The key spells "cmix".
SELECT pg_advisory_xact_lock_shared(x'636d6978'::BIGINT);

-- name: TakeBacklog :many
-- Messages that have no vectors: taken by this transaction, waiting for others that take them.
DELETE FROM embedding.backlog WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM embedding.backlog b WHERE b.first_id <= @upto::BIGINT ORDER BY b.last_id DESC LIMIT @row_count FOR UPDATE))
RETURNING first_id, last_id;

-- name: TakeFreeBacklog :many
-- The same without waiting, and only runs shorter than that, no more of them than have so many messages together: what others
-- take is left to them, and what is left is not written anew.
DELETE FROM embedding.backlog WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM embedding.backlog b WHERE b.last_id - b.first_id < @row_count::INT
    ORDER BY b.last_id DESC
    LIMIT (
        SELECT count(*) FROM (
            SELECT sum(n.messages) OVER (ORDER BY n.last_id DESC) - n.messages AS before
            FROM (
                SELECT b.last_id, b.last_id - b.first_id + 1 AS messages FROM embedding.backlog b
                WHERE b.last_id - b.first_id < @row_count::INT ORDER BY b.last_id DESC LIMIT @row_count::INT
            ) n
        ) r WHERE r.before < @row_count::INT
    )
    FOR UPDATE SKIP LOCKED))
RETURNING first_id, last_id;

-- name: TakeFreeRun :many
-- One run of at least that length, and no other, so that there are some for others.
DELETE FROM embedding.backlog WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM embedding.backlog b WHERE b.last_id - b.first_id >= @row_count::INT
    ORDER BY b.last_id DESC LIMIT 1 FOR UPDATE SKIP LOCKED))
RETURNING first_id, last_id;

-- name: ReturnBacklog :exec
INSERT INTO embedding.backlog (first_id, last_id) SELECT unnest(@firsts::BIGINT[]), unnest(@lasts::BIGINT[]);

-- name: TextsOfMessages :many
SELECT m.id, m.content::TEXT AS content FROM log.messages m
WHERE m.id = ANY (@ids::BIGINT[]) AND m.content IS NOT NULL;

-- name: TakePending :many
-- Records that others wrote and no search has seen yet: taken by this transaction, waiting for others that take them.
DELETE FROM embedding.pending WHERE (kind, hash) IN (
    SELECT p.kind, p.hash FROM embedding.pending p ORDER BY p.kind, p.hash LIMIT @row_count FOR UPDATE)
RETURNING hash;

-- name: TakeFreePending :many
-- The same without waiting.
DELETE FROM embedding.pending WHERE (kind, hash) IN (
    SELECT p.kind, p.hash FROM embedding.pending p ORDER BY p.kind, p.hash LIMIT @row_count FOR UPDATE SKIP LOCKED)
RETURNING hash;
