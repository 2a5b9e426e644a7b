-- The seal: what the sequencer does in a round, and what is read of the tree. See db/sealround.go for the order.

-- name: TrySealLock :one
SELECT pg_try_advisory_lock(CAST(@key AS BIGINT));

-- name: SealPosition :one
-- Where the tree stands, and what waits for it. Roots and names are empty where there is none. A message is in the tree
-- or waits for it from its commit on, so one that does neither was never announced.
SELECT COALESCE((SELECT max(t.size) FROM seal.trees t), 0)::BIGINT AS size,
    COALESCE((SELECT t.root::TEXT FROM seal.trees t ORDER BY t.size DESC LIMIT 1), '')::TEXT AS root,
    COALESCE((SELECT max(l.leaf_index) + 1 FROM seal.leaves l), 0)::BIGINT AS leaves,
    COALESCE((SELECT g.public_key FROM seal.logs g ORDER BY g.id DESC LIMIT 1), '')::TEXT AS public_key,
    COALESCE((SELECT sum(o.last_id - o.first_id + 1) FROM seal.outbox o), 0)::BIGINT AS waiting,
    EXISTS (SELECT FROM (SELECT m.id, m.session_hash, m.sequence FROM log.messages m ORDER BY m.id DESC LIMIT 1) m
        WHERE NOT EXISTS (SELECT FROM seal.leaves l WHERE l.session_hash = m.session_hash AND l.sequence = m.sequence)
        AND NOT EXISTS (SELECT FROM seal.outbox o WHERE m.id BETWEEN o.first_id AND o.last_id))::BOOLEAN AS unannounced;

-- name: SealWaiting :one
SELECT COALESCE(sum(o.last_id - o.first_id + 1), 0)::BIGINT FROM seal.outbox o;

-- name: TakeOutbox :many
-- The runs of the lowest ids, up to the one that makes them at least as many as that. Runs never overlap, so their
-- order is that of the ids, and so that of each chain: no message is seen here before its predecessor is.
DELETE FROM seal.outbox o WHERE o.ctid = ANY (ARRAY(
    SELECT f.place FROM (
        SELECT b.ctid AS place, sum(b.last_id - b.first_id + 1) OVER (ORDER BY b.first_id ROWS UNBOUNDED PRECEDING)
            - (b.last_id - b.first_id + 1) AS before
        FROM (SELECT w.ctid, w.first_id, w.last_id FROM seal.outbox w ORDER BY w.first_id LIMIT @most::BIGINT) b
    ) f WHERE f.before < @most))
RETURNING o.first_id, o.last_id;

-- name: PutBackOutbox :exec
INSERT INTO seal.outbox (first_id, last_id) VALUES (@first_id, @last_id);

-- name: AddLeaves :many
-- Leaves of the messages of these runs, in the order of ids. LIMIT says what a run can bring: without it, the runs are taken to bring
-- so much of a large log that all of it is read, each time.
INSERT INTO seal.leaves (leaf_index, session_hash, sequence, message_hash)
SELECT row_number() OVER (ORDER BY m.id) - 1 + @tree_size::BIGINT, m.session_hash, m.sequence, m.hash
FROM (SELECT unnest(@firsts::BIGINT[]) AS first_id, unnest(@lasts::BIGINT[]) AS last_id) r
CROSS JOIN LATERAL (
    SELECT a.id, a.session_hash, a.sequence, a.hash FROM log.messages a WHERE a.id BETWEEN r.first_id AND r.last_id
    ORDER BY a.id LIMIT r.last_id - r.first_id + 1) m
RETURNING leaf_index, session_hash, sequence, message_hash;

-- name: AddLeavesOfFreePlaces :many
-- The same without messages whose place in their session another one has in the tree already, or, of a lower id, is to
-- have now.
INSERT INTO seal.leaves (leaf_index, session_hash, sequence, message_hash)
SELECT row_number() OVER (ORDER BY f.id) - 1 + @tree_size::BIGINT, f.session_hash, f.sequence, f.hash
FROM (
    SELECT DISTINCT ON (m.session_hash, m.sequence) m.id, m.session_hash, m.sequence, m.hash
    FROM (SELECT unnest(@firsts::BIGINT[]) AS first_id, unnest(@lasts::BIGINT[]) AS last_id) r
    CROSS JOIN LATERAL (
        SELECT a.id, a.session_hash, a.sequence, a.hash FROM log.messages a WHERE a.id BETWEEN r.first_id AND r.last_id
        ORDER BY a.id LIMIT r.last_id - r.first_id + 1) m
    WHERE NOT EXISTS (SELECT FROM seal.leaves l WHERE l.session_hash = m.session_hash AND l.sequence = m.sequence)
    ORDER BY m.session_hash, m.sequence, m.id
) f
RETURNING leaf_index, session_hash, sequence, message_hash;

-- name: AddTiles :exec
INSERT INTO seal.tiles (level, n, root, hashes)
SELECT unnest(@levels::SMALLINT[]), unnest(@ns::BIGINT[]), unnest(@roots::TEXT[]), unnest(@hashes::BYTEA[]);

-- name: AddTree :exec
INSERT INTO seal.trees (size, root) VALUES (@size, @root);

-- name: AddCheckpoint :exec
INSERT INTO seal.checkpoints (origin, size, root, note) VALUES (@origin, @size, @root, @note);

-- name: SealLogs :many
SELECT * FROM seal.logs ORDER BY id DESC;

-- name: AddSealLog :exec
INSERT INTO seal.logs (origin, public_key, reason, refused)
VALUES (@origin, @public_key, sqlc.narg('reason'), sqlc.narg('refused'));

-- name: NewestCheckpoints :many
-- Of a name, or of the one that is signed under now: the newest checkpoint, and the newest that one of these witnesses
-- cosigned, if that is another one.
SELECT c.origin, g.public_key, c.size, c.root, c.note, c.signed_at,
    COALESCE(w.witnesses, '{}')::TEXT[] AS witnesses, COALESCE(w.lines, '{}')::TEXT[] AS lines
FROM (SELECT l.origin, l.public_key FROM seal.logs l WHERE @origin::TEXT IN ('', l.origin) ORDER BY l.id DESC LIMIT 1) g
JOIN seal.checkpoints c ON c.origin = g.origin
LEFT JOIN LATERAL (
    SELECT array_agg(s.witness ORDER BY s.signed_at, s.witness) AS witnesses, array_agg(s.line ORDER BY s.signed_at, s.witness) AS lines
    FROM seal.cosignatures s WHERE s.origin = c.origin AND s.size = c.size) w ON TRUE
WHERE c.size IN (
    (SELECT max(n.size) FROM seal.checkpoints n WHERE n.origin = g.origin),
    (SELECT max(m.size) FROM unnest(@by::TEXT[]) AS b(witness) CROSS JOIN LATERAL (
        SELECT s.size FROM seal.cosignatures s WHERE s.origin = g.origin AND s.witness = b.witness ORDER BY s.size DESC LIMIT 1) m))
ORDER BY c.size DESC;

-- name: CheckpointOfSize :many
SELECT c.origin, g.public_key, c.size, c.root, c.note, c.signed_at,
    COALESCE(w.witnesses, '{}')::TEXT[] AS witnesses, COALESCE(w.lines, '{}')::TEXT[] AS lines
FROM (SELECT l.origin, l.public_key FROM seal.logs l WHERE @origin::TEXT IN ('', l.origin) ORDER BY l.id DESC LIMIT 1) g
JOIN seal.checkpoints c ON c.origin = g.origin
LEFT JOIN LATERAL (
    SELECT array_agg(s.witness ORDER BY s.signed_at, s.witness) AS witnesses, array_agg(s.line ORDER BY s.signed_at, s.witness) AS lines
    FROM seal.cosignatures s WHERE s.origin = c.origin AND s.size = c.size) w ON TRUE
WHERE c.size = @size;

-- name: CheckpointsBelow :many
-- The newest first of those of a name, or of the one that is signed under now, that are smaller than a size.
SELECT c.origin, g.public_key, c.size, c.root, c.note, c.signed_at,
    COALESCE(w.witnesses, '{}')::TEXT[] AS witnesses, COALESCE(w.lines, '{}')::TEXT[] AS lines
FROM (SELECT l.origin, l.public_key FROM seal.logs l WHERE @origin::TEXT IN ('', l.origin) ORDER BY l.id DESC LIMIT 1) g
JOIN seal.checkpoints c ON c.origin = g.origin
LEFT JOIN LATERAL (
    SELECT array_agg(s.witness ORDER BY s.signed_at, s.witness) AS witnesses, array_agg(s.line ORDER BY s.signed_at, s.witness) AS lines
    FROM seal.cosignatures s WHERE s.origin = c.origin AND s.size = c.size) w ON TRUE
WHERE c.size < @below ORDER BY c.size DESC LIMIT @row_count;

-- name: Checkpoints :many
-- The newest first: those of the newest name, then those of the names before.
SELECT c.origin, g.public_key, c.size, c.root, c.note, c.signed_at,
    COALESCE(w.witnesses, '{}')::TEXT[] AS witnesses, COALESCE(w.lines, '{}')::TEXT[] AS lines, g.id AS log
FROM seal.logs g
JOIN seal.checkpoints c ON c.origin = g.origin
LEFT JOIN LATERAL (
    SELECT array_agg(s.witness ORDER BY s.signed_at, s.witness) AS witnesses, array_agg(s.line ORDER BY s.signed_at, s.witness) AS lines
    FROM seal.cosignatures s WHERE s.origin = c.origin AND s.size = c.size) w ON TRUE
WHERE sqlc.narg('after_size')::BIGINT IS NULL OR (g.id, c.size) < (@after_log::INT, sqlc.narg('after_size'))
ORDER BY g.id DESC, c.size DESC LIMIT @row_count;

-- name: CountCheckpoints :one
SELECT count(*) FROM seal.checkpoints;

-- name: Leaves :many
SELECT l.leaf_index, l.session_hash, l.sequence, l.message_hash FROM seal.leaves l
WHERE l.leaf_index >= @from_index::BIGINT AND l.leaf_index < @to_index::BIGINT ORDER BY l.leaf_index;

-- name: LeavesAt :many
-- The leaves of messages, by their places.
SELECT l.leaf_index, l.session_hash, l.sequence, l.message_hash
FROM (SELECT unnest(CAST(@sessions::TEXT[] AS CHAR(64)[])) AS session_hash, unnest(@sequences::BIGINT[]) AS sequence) p
JOIN seal.leaves l ON l.session_hash = p.session_hash AND l.sequence = p.sequence;

-- name: LeavesOfSession :many
-- The leaves of a session's messages from one sequence to another.
SELECT l.leaf_index, l.session_hash, l.sequence, l.message_hash FROM seal.leaves l
WHERE l.session_hash = CAST(@session_hash::TEXT AS CHAR(64)) AND l.sequence BETWEEN @first::BIGINT AND @last::BIGINT;

-- name: LeavesInRanges :many
SELECT l.leaf_index, l.session_hash, l.sequence, l.message_hash
FROM (SELECT unnest(@firsts::BIGINT[]) AS first, unnest(@ends::BIGINT[]) AS end_of) r
JOIN seal.leaves l ON l.leaf_index >= r.first AND l.leaf_index < r.end_of ORDER BY l.leaf_index;

-- name: TilesAt :many
SELECT t.level, t.n, t.hashes
FROM (SELECT unnest(@levels::SMALLINT[]) AS level, unnest(@ns::BIGINT[]) AS n) w
JOIN seal.tiles t ON t.level = w.level AND t.n = w.n;

-- name: TileRootsInRanges :many
SELECT t.level, t.n, t.root
FROM (SELECT unnest(@levels::SMALLINT[]) AS level, unnest(@firsts::BIGINT[]) AS first, unnest(@ends::BIGINT[]) AS end_of) r
JOIN seal.tiles t ON t.level = r.level AND t.n >= r.first AND t.n < r.end_of ORDER BY t.level, t.n;

-- name: Cosigned :many
-- What each of these witnesses cosigned under a name, of each the newest so many.
SELECT m.witness, m.size, m.line, c.root, c.note
FROM unnest(@by::TEXT[]) AS b(witness)
CROSS JOIN LATERAL (
    SELECT s.witness, s.size, s.line FROM seal.cosignatures s
    WHERE s.origin = @origin AND s.witness = b.witness ORDER BY s.size DESC LIMIT @most) m
JOIN seal.checkpoints c ON c.origin = @origin AND c.size = m.size
ORDER BY m.witness, m.size DESC;

-- name: AddCosignature :exec
INSERT INTO seal.cosignatures (origin, size, witness, line, signed_at) VALUES (@origin, @size, @witness, @line, @signed_at)
ON CONFLICT DO NOTHING;
