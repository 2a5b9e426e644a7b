-- What agents asked for and got, and what has changed since.

-- name: KeepSelection :one
INSERT INTO memory.selections (receipt, request, policy_text, log_position, log_size, items, dropped, rendered, rendered_digest, rendered_salt,
    tokens, embedding_model, created_at, previous, record_position, absent, dense_model, dense_vector, nearest_messages, nearest_records,
    unembedded_messages, unembedded_records, notices, unchanged_tokens, viewer, newest, stages, searched_at)
VALUES (@receipt::TEXT, @request, @policy::TEXT, @log_position, @log_size, @items, @dropped, @rendered, @rendered_digest::TEXT,
    @rendered_salt::BYTEA, @tokens, @embedding_model, @created_at, CAST(sqlc.narg('previous')::TEXT AS UUID), @record_position::BIGINT, @absent,
    sqlc.narg('dense_model'), @dense_vector, @nearest_messages, @nearest_records, @unembedded_messages, @unembedded_records, @notices, @unchanged_tokens,
    sqlc.narg('viewer')::bpchar, sqlc.narg('newest')::TEXT, @stages::JSONB,
    clock_timestamp() - make_interval(secs => @seconds_ago::FLOAT8))
RETURNING id::TEXT;

-- name: SelectionByID :many
SELECT s.id::TEXT AS id, s.receipt, s.request, COALESCE(s.policy_text, s.policy::TEXT)::TEXT AS policy, s.log_position, s.log_size, s.items, s.dropped, s.rendered,
    s.rendered_digest, s.rendered_salt, s.erased, s.tokens, s.embedding_model, s.created_at, COALESCE(s.previous::TEXT, '')::TEXT AS previous,
    s.record_position, s.absent, COALESCE(s.dense_model, '')::TEXT AS dense_model, s.notices, s.unchanged_tokens,
    s.viewer, s.newest, s.stages
FROM memory.selections s WHERE s.id = CAST(@id::TEXT AS UUID)
    AND (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar);

-- name: SelectionsOf :many
-- The selections of whoever sees them, the latest first, in what SelectionByID gives of each.
SELECT s.id::TEXT AS id, s.receipt, s.request, COALESCE(s.policy_text, s.policy::TEXT)::TEXT AS policy, s.log_position, s.log_size, s.items, s.dropped, s.rendered,
    s.rendered_digest, s.rendered_salt, s.erased, s.tokens, s.embedding_model, s.created_at, COALESCE(s.previous::TEXT, '')::TEXT AS previous,
    s.record_position, s.absent, COALESCE(s.dense_model, '')::TEXT AS dense_model, s.notices, s.unchanged_tokens,
    s.viewer, s.newest, s.stages
FROM memory.selections s
WHERE (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar)
    AND (sqlc.narg('player')::bpchar IS NULL OR s.viewer = sqlc.narg('player')::bpchar)
    AND (sqlc.narg('since')::TIMESTAMPTZ IS NULL OR s.created_at >= sqlc.narg('since'))
    AND (sqlc.narg('until')::TIMESTAMPTZ IS NULL OR s.created_at < sqlc.narg('until'))
    AND (sqlc.narg('after_id')::TEXT IS NULL OR (s.created_at, s.id) < (sqlc.narg('after_time')::TIMESTAMPTZ, CAST(sqlc.narg('after_id')::TEXT AS UUID)))
ORDER BY s.created_at DESC, s.id DESC LIMIT @row_count;

-- name: CountSelectionsOf :one
SELECT count(*) FROM memory.selections s
WHERE (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar)
    AND (sqlc.narg('player')::bpchar IS NULL OR s.viewer = sqlc.narg('player')::bpchar)
    AND (sqlc.narg('since')::TIMESTAMPTZ IS NULL OR s.created_at >= sqlc.narg('since'))
    AND (sqlc.narg('until')::TIMESTAMPTZ IS NULL OR s.created_at < sqlc.narg('until'));

-- name: SearchedAt :one
-- When a selection was searched for, or the next best that was kept of that.
SELECT COALESCE(s.searched_at, s.created_at)::TIMESTAMPTZ FROM memory.selections s WHERE s.id = CAST(@id::TEXT AS UUID);

-- name: NearestOfSelection :one
SELECT s.dense_vector, s.nearest_messages, s.nearest_records, s.unembedded_messages, s.unembedded_records FROM memory.selections s WHERE s.id = CAST(@id::TEXT AS UUID);

-- name: AwaitsVectors :one
-- Whether any of these messages and records is still to get a vector of a dense model.
SELECT EXISTS (
    SELECT FROM embedding.dense_backlog b
    WHERE b.model_id = @model AND EXISTS (
        SELECT FROM unnest(CASE WHEN NOT b.records THEN @message_ids::BIGINT[] ELSE @record_ids::BIGINT[] END) AS i (id)
        WHERE i.id BETWEEN b.first_id AND b.last_id));

-- name: RecordPositionAt :one
-- The highest id of a record that was there at a moment, as far as its time tells.
SELECT COALESCE(max(r.id), 0)::BIGINT FROM knowledge.records r WHERE r.created_at <= @at;

-- name: LogSizeAt :one
-- How many messages there are up to a position, without those that were not there.
SELECT count(*) FROM log.messages m WHERE m.id <= @position AND m.id <> ALL (@absent::BIGINT[])
    AND (sqlc.narg('viewer')::bpchar IS NULL OR m.session_hash = ANY (ARRAY(
        SELECT v.session_hash::CHAR(64) FROM log.members v
        WHERE v.player = sqlc.narg('viewer')::bpchar AND v.since_id <= @position)));

-- name: ErasedSince :many
-- Messages of a scope, or of a list, that were there at a position of the log and were erased after it.
SELECT m.hash FROM log.messages m
WHERE m.content IS NULL AND m.id <= @position AND m.id <> ALL (@absent::BIGINT[])
    AND EXISTS (
        SELECT FROM log.message_refs r JOIN log.messages e ON e.hash = r.message_hash
        WHERE r.ref_hash = m.hash AND r.ref_type = 'context' AND e.event_type = 'erasure' AND e.session_hash = m.session_hash
            AND (e.id > @position OR e.id = ANY (@absent)))
    AND (m.hash = ANY (@hashes::bpchar[])
        OR @messages::BOOLEAN AND EXISTS (SELECT FROM log.in_scope(
            sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
            sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
            sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) i WHERE i.id = m.id))
ORDER BY m.id LIMIT @row_count;

-- name: OwnersChangedSince :many
-- Players that own messages of a scope, and one more, that were added or changed after a moment.
SELECT COALESCE(p.name, p.key)::TEXT AS name FROM core.players p
WHERE p.updated_at > @changed AND (p.hash = sqlc.narg('player')::TEXT OR EXISTS (SELECT FROM log.in_scope(
    sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
    sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
    sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
    sqlc.narg('viewer')::bpchar, sqlc.narg('joined')::BIGINT) m
    WHERE m.owner_id = p.hash AND m.id <= @position::BIGINT))
ORDER BY p.hash LIMIT @row_count;

-- name: LabelsChangedSince :many
-- Components that are no players, and were added or changed after a moment: what preferences may name.
SELECT COALESCE(c.name, c.key)::TEXT AS name FROM (
    SELECT h.hash, h.name, h.key FROM core.hashtags h WHERE h.updated_at > @changed
    UNION ALL SELECT f.hash, f.name, f.key FROM core.flags f WHERE f.updated_at > @changed
    UNION ALL SELECT i.hash, i.name, i.key FROM core.items i WHERE i.updated_at > @changed
    UNION ALL SELECT l.hash, l.name, l.key FROM core.locations l WHERE l.updated_at > @changed) c
ORDER BY c.hash LIMIT @row_count;

-- name: MessagesForWhyNot :many
-- What can be said of messages that a viewer sees: whether the scope of a selection holds them, and whether they were there.
SELECT m.hash, m.id, (m.content IS NULL)::BOOLEAN AS erased,
    (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
        SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash
            AND v.since_id <= @position::BIGINT))::BOOLEAN AS joined,
    (EXISTS (SELECT FROM log.in_scope(
        sqlc.narg('sessions')::TEXT[], sqlc.narg('threads')::TEXT[], sqlc.narg('players')::TEXT[], sqlc.narg('owners')::TEXT[],
        sqlc.narg('hashtags')::TEXT[], sqlc.narg('flags')::TEXT[], sqlc.narg('items')::TEXT[], sqlc.narg('locations')::TEXT[],
        sqlc.narg('event_types')::TEXT[], sqlc.narg('since')::TIMESTAMPTZ, sqlc.narg('until')::TIMESTAMPTZ,
        sqlc.narg('viewer')::bpchar, NULL::BIGINT) i WHERE i.id = m.id))::BOOLEAN AS in_scope
FROM log.messages m
WHERE m.hash = ANY (@hashes::bpchar[]) AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
    SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash));

-- name: RecordsForWhyNot :many
SELECT r.hash, r.id, r.kind, r.created_at FROM knowledge.records r WHERE r.hash = ANY (@hashes::bpchar[]);

-- name: QuarantinedThen :many
-- Which of these messages were in quarantine at a moment.
SELECT q.message FROM memory.quarantines q
WHERE q.message = ANY (CAST(@hashes::TEXT[] AS CHAR(64)[])) AND q.placed_at <= @searched
    AND (q.released_at IS NULL OR q.released_at > @searched);
