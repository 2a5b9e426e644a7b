-- Dense vectors: models, what waits to be embedded, and what was. Searching has its statements in db/dense.

-- name: LockModels :exec
SELECT pg_advisory_xact_lock(embedding.models_lock());

-- name: Models :many
-- Every model, the newest first. Of the lexical ones, what is not outstanding is embedded.
WITH m AS MATERIALIZED (
    SELECT m.id, m.name, m.kind, m.dimensions, m.follows, m.problem, m.created_at,
        EXISTS (SELECT FROM embedding.serving s WHERE s.model_id = m.id) AS serves,
        (CASE m.kind
            WHEN 'dense' THEN COALESCE((SELECT sum(b.last_id - b.first_id + 1) FROM embedding.dense_backlog b WHERE b.model_id = m.id), 0)
            ELSE COALESCE((SELECT sum(b.last_id - b.first_id + 1) FROM embedding.backlog b), 0) + (SELECT count(*) FROM embedding.pending)
        END)::BIGINT AS outstanding
    FROM embedding.models m)
SELECT m.id, m.name, m.kind, m.dimensions, m.follows, m.problem, m.created_at, m.serves::BOOLEAN AS serves, m.outstanding,
    (CASE m.kind
        WHEN 'dense' THEN (SELECT count(*) FROM embedding.dense d WHERE d.model_id = m.id)
        ELSE greatest(0, (SELECT count(*) FROM log.messages l) - (SELECT count(*) FROM log.messages l WHERE l.content IS NULL)
            + (SELECT count(*) FROM knowledge.records) - m.outstanding)
    END)::BIGINT AS embedded,
    (SELECT count(*) FROM embedding.dense_refused r WHERE r.model_id = m.id)::BIGINT AS refused
FROM m ORDER BY m.id DESC;

-- name: ModelBacklogs :many
-- What is outstanding and refused of each dense model that follows the log.
SELECT m.name, COALESCE((SELECT sum(b.last_id - b.first_id + 1) FROM embedding.dense_backlog b WHERE b.model_id = m.id), 0)::BIGINT AS outstanding,
    (SELECT count(*) FROM embedding.dense_refused r WHERE r.model_id = m.id)::BIGINT AS refused
FROM embedding.models m WHERE m.kind = 'dense' AND m.follows;

-- name: ModelsAskedAs :many
-- What the provider was known by under this name, the newest first.
SELECT m.id, m.name, m.dimensions, m.follows, m.probe::halfvec AS probe FROM embedding.models m
WHERE m.kind = 'dense' AND m.asked_as = @asked_as::TEXT ORDER BY m.id DESC;

-- name: ModelNames :many
SELECT m.name FROM embedding.models m;

-- name: AddDense :one
SELECT embedding.add_dense(@name::TEXT, @asked_as::TEXT, @dimensions::INT, @probe::halfvec)::INT AS id;

-- name: WantModel :exec
-- A server starts with it: of all models, the one that was wanted last is the one to switch to.
UPDATE embedding.models m SET wanted_at = greatest(clock_timestamp(), (SELECT max(o.wanted_at) + INTERVAL '1 microsecond' FROM embedding.models o))
WHERE m.id = @id;

-- name: FollowLog :execrows
-- From the commit on, what is appended is filed for the model.
UPDATE embedding.models SET follows = TRUE, filed_xid = pg_current_xact_id() WHERE id = @id AND NOT follows;

-- name: FileAll :exec
-- All there is, as runs that several may work on. What has its vector already costs a look.
INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id, filed_at)
SELECT @model_id::INT, s.records, f.first_id, least(f.first_id + 9999, s.last_id), 'epoch'
FROM (SELECT FALSE AS records, max(m.id) AS last_id FROM log.messages m UNION ALL SELECT TRUE, max(r.id) FROM knowledge.records r) s
CROSS JOIN LATERAL generate_series(1, s.last_id, 10000) AS f (first_id);

-- name: FileRefused :exec
-- What was refused is tried again: the provider may have changed.
WITH refused AS (DELETE FROM embedding.dense_refused r WHERE r.model_id = @model_id::INT RETURNING r.records, r.source_id)
INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id)
SELECT @model_id::INT, i.records, min(i.source_id), max(i.source_id)
FROM (SELECT r.records, r.source_id, r.source_id - row_number() OVER (PARTITION BY r.records ORDER BY r.source_id) AS island FROM refused r) i
GROUP BY i.records, i.island;

-- name: RetireModels :exec
-- Models that are neither to serve nor serving follow the log no more.
UPDATE embedding.models m SET follows = FALSE, problem = NULL
WHERE m.follows AND m.id <> (SELECT t.id FROM embedding.models t WHERE t.kind = 'dense' ORDER BY t.wanted_at DESC LIMIT 1)
    AND NOT EXISTS (SELECT FROM embedding.serving s WHERE s.model_id = m.id);

-- name: DropRetiredBacklog :exec
DELETE FROM embedding.dense_backlog b WHERE NOT EXISTS (SELECT FROM embedding.models m WHERE m.id = b.model_id AND m.follows);

-- name: ModelStates :many
-- The dense models that follow the log: which serves, which is the one to switch to.
SELECT m.id, m.name, m.asked_as::TEXT AS asked_as, m.dimensions, m.probe::halfvec AS probe,
    EXISTS (SELECT FROM embedding.serving s WHERE s.model_id = m.id)::BOOLEAN AS serves,
    (m.id = (SELECT t.id FROM embedding.models t WHERE t.kind = 'dense' ORDER BY t.wanted_at DESC LIMIT 1))::BOOLEAN AS wanted
FROM embedding.models m WHERE m.kind = 'dense' AND m.follows;

-- name: DenseModel :many
SELECT m.id, m.name, m.asked_as::TEXT AS asked_as, m.dimensions, m.probe::halfvec AS probe FROM embedding.models m
WHERE m.kind = 'dense' AND m.name = @name::TEXT;

-- name: UnrelatedOf :one
-- What was measured of a model, if it was.
SELECT m.unrelated_median, m.unrelated_spread FROM embedding.models m WHERE m.id = @id;

-- name: SetUnrelated :exec
UPDATE embedding.models SET unrelated_median = @median::FLOAT8, unrelated_spread = @spread::FLOAT8
WHERE id = @id AND unrelated_median IS NULL;

-- name: SetProblem :exec
UPDATE embedding.models SET problem = sqlc.narg('problem')::TEXT WHERE id = @id AND problem IS DISTINCT FROM sqlc.narg('problem')::TEXT;

-- name: SwitchModel :execrows
-- The switch.
INSERT INTO embedding.serving (model_id)
SELECT m.id FROM embedding.models m
WHERE m.id = @id AND m.follows AND NOT EXISTS (SELECT FROM embedding.models t WHERE t.wanted_at > m.wanted_at)
ON CONFLICT (one) DO UPDATE SET model_id = EXCLUDED.model_id, since = EXCLUDED.since;

-- name: EndServing :exec
DELETE FROM embedding.serving;

-- name: DropDense :exec
SELECT embedding.drop_dense(@id::INT);

-- name: Serves :one
SELECT EXISTS (SELECT FROM embedding.serving s WHERE s.model_id = @id::INT);

-- ---- the backlog -------------------------------------------------------------------------------------------

-- name: FreeRuns :many
-- Runs that nobody works on, the newest first, records before messages: locked until the end of the transaction.
SELECT b.id, b.records, b.first_id, b.last_id, b.attempts FROM embedding.dense_backlog b
WHERE b.model_id = @model_id::INT AND b.free_at <= now()
ORDER BY b.records DESC, b.last_id DESC LIMIT @row_count FOR UPDATE SKIP LOCKED;

-- name: LeaseRuns :exec
UPDATE embedding.dense_backlog SET free_at = clock_timestamp() + make_interval(secs => @seconds::FLOAT8) WHERE id = ANY (@ids::BIGINT[]);

-- name: FreeRunsAgain :exec
UPDATE embedding.dense_backlog SET free_at = '-infinity' WHERE id = ANY (@ids::BIGINT[]);

-- name: ShortenRun :one
UPDATE embedding.dense_backlog SET last_id = @last_id WHERE id = @id RETURNING filed_at;

-- name: LeaseRun :one
-- Adds a run that is leased from the beginning.
INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id, filed_at, free_at, attempts)
VALUES (@model_id::INT, @records, @first_id, @last_id, @filed_at, clock_timestamp() + make_interval(secs => @seconds::FLOAT8), @attempts)
RETURNING id;

-- name: DenseTexts :many
-- The texts of messages that are there and have neither a vector of the model nor a refusal.
SELECT m.id, left(m.content, 8000)::TEXT AS content FROM log.messages m
WHERE m.id = ANY (@ids::BIGINT[]) AND m.content IS NOT NULL
    AND NOT EXISTS (SELECT FROM embedding.dense d WHERE d.model_id = @model_id::INT AND d.kind = 'context' AND d.source_id = m.id)
    AND NOT EXISTS (SELECT FROM embedding.dense_refused r WHERE r.model_id = @model_id::INT AND NOT r.records AND r.source_id = m.id)
ORDER BY m.id DESC;

-- name: DenseRecordTexts :many
SELECT k.id, left(k.title || E'\n' || k.content, 8000)::TEXT AS content FROM knowledge.records k
WHERE k.id = ANY (@ids::BIGINT[])
    AND NOT EXISTS (SELECT FROM embedding.dense d WHERE d.model_id = @model_id::INT AND d.kind = k.kind AND d.source_id = k.id)
    AND NOT EXISTS (SELECT FROM embedding.dense_refused r WHERE r.model_id = @model_id::INT AND r.records AND r.source_id = k.id)
ORDER BY k.id DESC;

-- name: KeepDense :execrows
-- Vectors of messages, as far as these were not erased meanwhile.
INSERT INTO embedding.dense (model_id, kind, source_id, session_hash, vector)
SELECT @model_id::INT, 'context', m.id, m.session_hash, v.vector
FROM (SELECT unnest(@ids::BIGINT[]) AS id, unnest(@vectors::halfvec[]) AS vector) v
JOIN log.messages m ON m.id = v.id AND m.content IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: KeepDenseRecords :execrows
INSERT INTO embedding.dense (model_id, kind, source_id, vector)
SELECT @model_id::INT, k.kind, k.id, v.vector
FROM (SELECT unnest(@ids::BIGINT[]) AS id, unnest(@vectors::halfvec[]) AS vector) v
JOIN knowledge.records k ON k.id = v.id
ON CONFLICT DO NOTHING;

-- name: NoteRefused :exec
INSERT INTO embedding.dense_refused (model_id, records, source_id, cause)
SELECT @model_id::INT, @records::BOOLEAN, u.id, u.cause FROM (SELECT unnest(@ids::BIGINT[]) AS id, unnest(@causes::TEXT[]) AS cause) u
WHERE @records OR EXISTS (SELECT FROM log.messages m WHERE m.id = u.id AND m.content IS NOT NULL)
ON CONFLICT DO NOTHING;

-- name: DoneRuns :many
-- Gives what was still there of them.
DELETE FROM embedding.dense_backlog WHERE id = ANY (@ids::BIGINT[]) RETURNING filed_at;

-- name: ReturnRuns :exec
INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id, filed_at, free_at, attempts, cause)
SELECT @model_id::INT, @records::BOOLEAN, unnest(@firsts::BIGINT[]), unnest(@lasts::BIGINT[]), @filed_at::TIMESTAMPTZ,
    clock_timestamp() + make_interval(secs => @seconds::FLOAT8), @attempts::INT, @cause::TEXT;

-- name: BacklogState :one
-- Whether anything is outstanding, and whether some of it has been for longer than the seconds.
SELECT EXISTS (SELECT FROM embedding.dense_backlog b WHERE b.model_id = @model_id::INT) AS outstanding,
    EXISTS (SELECT FROM embedding.dense_backlog b WHERE b.model_id = @model_id::INT
        AND b.filed_at < now() - make_interval(secs => @seconds::FLOAT8)) AS old;

-- name: FileMissing :one
-- Files messages that are neither embedded, refused nor outstanding. Settled: whatever was written before the model
-- followed the log is committed by now, so there will be no more of them.
WITH filed AS (
    INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id, filed_at)
    SELECT @model_id::INT, FALSE, min(g.id), max(g.id), 'epoch'
    FROM (
        SELECT m.id, m.id - row_number() OVER (ORDER BY m.id) AS island FROM log.messages m
        WHERE m.content IS NOT NULL
            AND NOT EXISTS (SELECT FROM embedding.dense d WHERE d.model_id = @model_id::INT AND d.kind = 'context' AND d.source_id = m.id)
            AND NOT EXISTS (SELECT FROM embedding.dense_refused r WHERE r.model_id = @model_id::INT AND NOT r.records AND r.source_id = m.id)
            AND NOT EXISTS (SELECT FROM embedding.dense_backlog b WHERE b.model_id = @model_id::INT AND NOT b.records AND m.id BETWEEN b.first_id AND b.last_id)
    ) g GROUP BY g.island
    RETURNING 1)
SELECT (SELECT count(*) FROM filed)::BIGINT AS filed,
    COALESCE((SELECT m.filed_xid < pg_snapshot_xmin(pg_current_snapshot()) FROM embedding.models m WHERE m.id = @model_id::INT), FALSE)::BOOLEAN AS settled;

-- name: FileMissingRecords :execrows
INSERT INTO embedding.dense_backlog (model_id, records, first_id, last_id, filed_at)
SELECT @model_id::INT, TRUE, k.id, k.id, 'epoch' FROM knowledge.records k
WHERE NOT EXISTS (SELECT FROM embedding.dense d WHERE d.model_id = @model_id::INT AND d.kind = k.kind AND d.source_id = k.id)
    AND NOT EXISTS (SELECT FROM embedding.dense_refused r WHERE r.model_id = @model_id::INT AND r.records AND r.source_id = k.id)
    AND NOT EXISTS (SELECT FROM embedding.dense_backlog b WHERE b.model_id = @model_id::INT AND b.records AND k.id BETWEEN b.first_id AND b.last_id);

-- ---- the index ---------------------------------------------------------------------------------------------

-- name: LeaseIndex :execrows
-- Takes the building of a model's index for a while, or for a while longer.
UPDATE embedding.models SET index_lease = clock_timestamp() + make_interval(secs => @seconds::FLOAT8)
WHERE id = @id AND (@mine::BOOLEAN OR index_lease IS NULL OR index_lease < clock_timestamp());

-- name: EndIndexLease :exec
UPDATE embedding.models SET index_lease = NULL WHERE id = @id;

-- name: DenseIndex :one
-- Whether a model's index can be used and is kept from being sampled, whether a backend is at it, and what it is to hold.
SELECT EXISTS (
        SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = 1
        WHERE i.indexrelid = to_regclass('embedding.dense_' || @id::INT || '_hnsw') AND i.indisvalid AND a.attstattarget = 0) AS valid,
    EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index p WHERE p.relid = to_regclass('embedding.dense_' || @id)) AS building,
    (SELECT count(*) FROM embedding.dense d WHERE d.model_id = @id)::BIGINT AS vectors;
