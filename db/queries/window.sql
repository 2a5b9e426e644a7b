-- Context windows. A viewer sees their own; NULL sees all.

-- name: NewWindow :many
-- Unless the agent has as many as are allowed.
INSERT INTO memory.windows (name, agent, task, capacity, encoding, created_at)
SELECT @name::TEXT, CAST(@agent::TEXT AS CHAR(64)), @task::TEXT, @capacity::INT, @encoding::TEXT, @created_at::TIMESTAMPTZ
WHERE (SELECT count(*) FROM memory.windows w WHERE w.agent = CAST(@agent::TEXT AS CHAR(64))) < @most::BIGINT
RETURNING *;

-- name: DropWindow :many
-- What nobody sees any more goes with it; the others see that they are fewer.
WITH dropped AS (
    DELETE FROM memory.windows w WHERE w.id = CAST(@id::TEXT AS UUID) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar) RETURNING w.id
), left_behind AS (
    UPDATE memory.windows w SET version = w.version + 1 FROM dropped d WHERE w.id <> d.id AND w.id IN (
        SELECT o.window_id FROM memory.segment_windows sw JOIN memory.segment_windows o ON o.segment_id = sw.segment_id WHERE sw.window_id = d.id)
), fewer AS (
    UPDATE memory.segments s SET windows = s.windows - 1 FROM dropped d
    WHERE s.windows > 1 AND s.id IN (SELECT sw.segment_id FROM memory.segment_windows sw WHERE sw.window_id = d.id)
), orphans AS (
    DELETE FROM memory.segments s USING dropped d WHERE s.id IN (SELECT sw.segment_id FROM memory.segment_windows sw WHERE sw.window_id = d.id)
        AND NOT EXISTS (SELECT FROM memory.segment_windows o WHERE o.segment_id = s.id AND o.window_id <> d.id))
SELECT d.id FROM dropped d;

-- name: WindowByID :many
-- A window, and what else there is to read of it.
SELECT sqlc.embed(w), EXISTS (SELECT FROM memory.segment_windows s WHERE s.window_id = w.id) AS shares,
    EXISTS (SELECT FROM memory.tools t WHERE t.window_id = w.id) AS tools,
    EXISTS (SELECT FROM memory.window_overruled o WHERE o.window_id = w.id) AS overruled
FROM memory.windows w
WHERE w.id = CAST(@id::TEXT AS UUID) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar);

-- name: Windows :many
SELECT w.* FROM memory.windows w
WHERE (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar)
    AND (sqlc.narg('before_at')::TIMESTAMPTZ IS NULL OR (w.created_at, w.id) < (sqlc.narg('before_at')::TIMESTAMPTZ, CAST(sqlc.narg('before_id')::TEXT AS UUID)))
ORDER BY w.created_at DESC, w.id DESC LIMIT @row_count;

-- name: CountWindows :one
SELECT count(*) FROM memory.windows w WHERE sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar;

-- name: WindowItems :many
SELECT i.* FROM memory.window_items i WHERE i.window_id = CAST(@window_id::TEXT AS UUID) ORDER BY i.place;

-- name: SegmentsOf :many
SELECT s.id, s.name, s.windows
FROM memory.segments s JOIN memory.segment_windows sw ON sw.segment_id = s.id
WHERE sw.window_id = CAST(@window_id::TEXT AS UUID) ORDER BY s.created_at, s.id;

-- name: SegmentItems :many
SELECT i.* FROM memory.window_items i WHERE i.segment_id = ANY (CAST(@segments::TEXT[] AS UUID[])) ORDER BY i.place;

-- name: WindowsSharing :many
-- Of segments, the windows that see them and that somebody sees.
SELECT sw.segment_id::TEXT AS segment_id, sqlc.embed(w) FROM memory.segment_windows sw JOIN memory.windows w ON w.id = sw.window_id
WHERE sw.segment_id = ANY (CAST(@segments::TEXT[] AS UUID[])) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar)
ORDER BY w.name, w.id;

-- name: SegmentWindows :many
-- All windows of a segment, if somebody sees the one that they write through.
SELECT sw.window_id::TEXT AS window_id FROM memory.segment_windows sw
WHERE sw.segment_id = CAST(@segment_id::TEXT AS UUID) AND EXISTS (
    SELECT FROM memory.segment_windows o JOIN memory.windows w ON w.id = o.window_id
    WHERE o.segment_id = sw.segment_id AND w.id = CAST(@through::TEXT AS UUID) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar))
ORDER BY sw.window_id;

-- name: NewSegment :one
INSERT INTO memory.segments (name, windows, created_at) VALUES (@name, @windows::INT, @created_at) RETURNING id::TEXT AS id;

-- name: AddSegmentWindows :exec
WITH changed AS (UPDATE memory.windows w SET version = w.version + 1 WHERE w.id = ANY (CAST(@windows::TEXT[] AS UUID[])))
INSERT INTO memory.segment_windows (segment_id, window_id) SELECT CAST(@segment_id::TEXT AS UUID), unnest(CAST(@windows::TEXT[] AS UUID[]));

-- name: LockWindows :many
-- Those of a list that somebody sees, so that nobody changes or removes them.
SELECT w.id::TEXT AS id, w.agent, w.encoding, (SELECT count(*) FROM memory.segment_windows s WHERE s.window_id = w.id) AS segments FROM memory.windows w
WHERE w.id = ANY (CAST(@ids::TEXT[] AS UUID[])) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar)
ORDER BY w.id FOR UPDATE;

-- name: WindowTools :many
SELECT t.* FROM memory.tools t WHERE t.window_id = CAST(@window_id::TEXT AS UUID) ORDER BY t.name;

-- name: DropTools :exec
DELETE FROM memory.tools t WHERE t.window_id = CAST(@window_id::TEXT AS UUID);

-- name: AddTools :exec
INSERT INTO memory.tools (window_id, name, description, schema, tokens, shown)
SELECT CAST(@window_id::TEXT AS UUID), t.name, t.description, t.schema, t.tokens, t.shown
FROM jsonb_to_recordset(@tools::JSONB) AS t (name TEXT, description TEXT, schema JSONB, tokens INT, shown BOOLEAN);

-- name: ShowTools :exec
UPDATE memory.tools t SET shown = t.name = ANY (@names::TEXT[]) WHERE t.window_id = CAST(@window_id::TEXT AS UUID) AND t.shown <> (t.name = ANY (@names::TEXT[]));

-- name: WindowOverruled :many
SELECT o.pair::TEXT FROM memory.window_overruled o WHERE o.window_id = CAST(@window_id::TEXT AS UUID);

-- name: OverrulePairs :exec
INSERT INTO memory.window_overruled (window_id, pair) SELECT CAST(@window_id::TEXT AS UUID), unnest(@pairs::TEXT[]) ON CONFLICT DO NOTHING;

-- name: MarkOverruled :many
-- Gives what is left of what judges said.
UPDATE memory.window_operations o SET overruled = @reason::TEXT WHERE o.id = CAST(@id::TEXT AS UUID) AND o.overruled IS NULL RETURNING o.judgements;

-- name: SourceKind :many
-- Whether a hash is a message that somebody sees, or a record, and may be used.
SELECT 'context'::log.ref_type AS kind, (m.content IS NULL)::BOOLEAN AS erased,
    EXISTS (SELECT FROM memory.quarantines q WHERE q.message = m.hash AND q.released_at IS NULL) AS quarantined
FROM log.messages m
WHERE m.hash = CAST(@hash::TEXT AS CHAR(64)) AND (sqlc.narg('viewer')::bpchar IS NULL
    OR EXISTS (SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = m.session_hash))
UNION ALL SELECT r.kind, FALSE, FALSE FROM knowledge.records r WHERE r.hash = CAST(@hash::TEXT AS CHAR(64));

-- name: RefuseSources :exec
SELECT memory.refuse_sources(@hashes::TEXT[]);

-- name: ChangeWindow :one
-- All that an operation does to a window, unless somebody has changed it since it was read, or added records since those up to
-- one were (NULL: these do not matter): then nothing, and false.
SELECT memory.change_window(CAST(@window_id::TEXT AS UUID), @version::BIGINT, sqlc.narg('records')::BIGINT, @operation::JSONB, @gone::TEXT[], @kept::JSONB, @added::JSONB, @at::TIMESTAMPTZ)::BOOLEAN AS kept;

-- name: AddSegmentItem :exec
INSERT INTO memory.window_items (id, segment_id, place, type, key, content, tokens, quality, verified_by, source, source_type, observed_at, added_at, summary_of, injected)
SELECT a.id, CAST(@segment_id::TEXT AS UUID), a.place, a.type, a.key, a.content, a.tokens, a.quality, a.verified_by, a.source, a.source_type::log.ref_type, a.observed_at, a.added_at,
    a.summary_of, a.injected
FROM jsonb_to_record(@item::JSONB) AS a (id TEXT, place BIGINT, type TEXT, key TEXT, content TEXT, tokens INT, quality JSONB,
    verified_by TEXT, source TEXT, source_type TEXT, observed_at TIMESTAMPTZ, added_at TIMESTAMPTZ, summary_of TEXT[], injected BOOLEAN);

-- name: DropSegmentItems :exec
DELETE FROM memory.window_items i WHERE i.segment_id = CAST(@segment_id::TEXT AS UUID) AND i.id = ANY (@ids::TEXT[]);

-- name: LockSharers :exec
-- A window and the others of what it shares, in the order in which everybody locks several.
SELECT FROM memory.windows w
WHERE w.id = CAST(@id::TEXT AS UUID) OR w.id IN (
    SELECT o.window_id FROM memory.segment_windows s JOIN memory.segment_windows o ON o.segment_id = s.segment_id WHERE s.window_id = CAST(@id::TEXT AS UUID))
ORDER BY w.id FOR UPDATE;

-- name: SourcesBehind :many
-- The messages that entries of the scratchpad came from.
SELECT DISTINCT s.source::TEXT AS source FROM memory.scratchpad s WHERE s.id = ANY (@ids::TEXT[]) AND s.source_type = 'context';

-- name: TouchSharers :many
-- The other windows of segments have changed as well. What they use is for NoteUnshared, which sees what those did whom this
-- waited for.
UPDATE memory.windows w SET version = w.version + 1
WHERE w.id <> CAST(@id::TEXT AS UUID) AND w.id IN (SELECT s.window_id FROM memory.segment_windows s WHERE s.segment_id = ANY (CAST(@segments::TEXT[] AS UUID[])))
RETURNING w.id::TEXT AS id;

-- name: NoteUnshared :exec
-- What has left segments, in windows that see them and are locked.
WITH less AS (
    SELECT s.window_id, sum(x.tokens)::INT AS tokens, array_agg(x.id) AS ids FROM jsonb_to_recordset(@gone::JSONB) AS x (id TEXT, segment UUID, tokens INT)
    JOIN memory.segment_windows s ON s.segment_id = x.segment WHERE s.window_id = ANY (CAST(@windows::TEXT[] AS UUID[])) GROUP BY s.window_id
), changed AS (
    UPDATE memory.windows w SET used = w.used - l.tokens FROM less l WHERE w.id = l.window_id RETURNING w.id, w.capacity, w.used, l.tokens, l.ids
)
INSERT INTO memory.window_operations (window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us, gone)
SELECT c.id, 'remove', @at::TIMESTAMPTZ, @by_player::TEXT, c.capacity, c.used + c.tokens, c.used, 0, c.ids FROM changed c;

-- name: NoteOperation :many
-- What changes nothing of a window, unless somebody has changed it since it was read.
INSERT INTO memory.window_operations (window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us, type, draft, query, rejected, quality, mitigations, judgements, sources)
SELECT w.id, @kind::TEXT, @at::TIMESTAMPTZ, @by_player::TEXT, w.capacity, @tokens::INT, @tokens, @took_us::INT, sqlc.narg('type')::TEXT, CAST(sqlc.narg('draft')::TEXT AS JSONB),
    sqlc.narg('query')::TEXT, sqlc.narg('rejected')::TEXT, CAST(sqlc.narg('quality')::TEXT AS JSONB), @mitigations::JSONB, @judgements::JSONB, CAST(@sources::TEXT[] AS CHAR(64)[])
FROM memory.windows w WHERE w.id = CAST(@window_id::TEXT AS UUID) AND w.version = @version::BIGINT FOR KEY SHARE
RETURNING id;

-- name: Offload :one
-- Puts contents aside, all in one statement, and notes it; false if there is no such window.
SELECT memory.offload(CAST(@window_id::TEXT AS UUID), sqlc.narg('viewer')::TEXT, @by_player::TEXT, CAST(@operation::TEXT AS UUID), @ids::TEXT[], @contents::TEXT[], @tokens::INT[], @at::TIMESTAMPTZ, @took_us::INT)::BOOLEAN AS put;

-- name: ReadScratchpad :many
-- Reads an entry, and notes it.
SELECT s.* FROM memory.read_scratchpad(@id::TEXT, sqlc.narg('viewer')::TEXT, @by_player::TEXT, CAST(@operation::TEXT AS UUID), @at::TIMESTAMPTZ) s;

-- name: ScratchpadEntry :many
SELECT s.* FROM memory.scratchpad s WHERE s.id = @id AND s.window_id = CAST(@window_id::TEXT AS UUID);

-- name: Scratchpad :many
SELECT s.* FROM memory.scratchpad s
WHERE s.window_id = CAST(@window_id::TEXT AS UUID)
    AND (sqlc.narg('before')::TEXT IS NULL OR s.place < (SELECT b.place FROM memory.scratchpad b WHERE b.id = sqlc.narg('before') AND b.window_id = s.window_id))
ORDER BY s.place DESC LIMIT @row_count;

-- name: ScratchpadSize :one
SELECT count(*) AS entries, COALESCE(sum(octet_length(s.content)), 0)::BIGINT AS bytes FROM memory.scratchpad s WHERE s.window_id = CAST(@window_id::TEXT AS UUID);

-- name: CountScratchpad :one
SELECT count(*) FROM memory.scratchpad s WHERE s.window_id = CAST(@window_id::TEXT AS UUID);

-- name: WindowOperations :many
SELECT o.* FROM memory.window_operations o
WHERE o.window_id = CAST(@window_id::TEXT AS UUID)
    AND (sqlc.narg('before')::TEXT IS NULL OR o.place < (SELECT b.place FROM memory.window_operations b WHERE b.id = CAST(sqlc.narg('before') AS UUID) AND b.window_id = o.window_id))
ORDER BY o.place DESC LIMIT @row_count;

-- name: CountWindowOperations :one
SELECT count(*) FROM memory.window_operations o WHERE o.window_id = CAST(@window_id::TEXT AS UUID);

-- name: WindowOperation :many
SELECT o.* FROM memory.window_operations o JOIN memory.windows w ON w.id = o.window_id
WHERE o.id = CAST(@id::TEXT AS UUID) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar);

-- name: ContextMetrics :one
-- Usages are those that operations left windows with. Windows that were deleted count as well.
WITH of AS (
    SELECT o.* FROM memory.window_operations o JOIN memory.windows w ON w.id = o.window_id
    WHERE (sqlc.narg('since')::TIMESTAMPTZ IS NULL OR o.at >= sqlc.narg('since')) AND (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar)
    UNION ALL SELECT o.* FROM memory.window_operations o
    WHERE o.window_id IS NULL AND (sqlc.narg('since')::TIMESTAMPTZ IS NULL OR o.at >= sqlc.narg('since')) AND (sqlc.narg('viewer')::bpchar IS NULL OR o.agent = sqlc.narg('viewer')::bpchar)
), o AS (
    SELECT o.*, o.tokens_after::FLOAT8 / o.capacity AS usage, (o.quality ->> 'relevance')::FLOAT8 AS relevance, (o.quality ->> 'accuracy')::FLOAT8 AS accuracy,
        ((o.quality ->> 'relevance')::FLOAT8 + (o.quality ->> 'freshness')::FLOAT8 + (o.quality ->> 'accuracy')::FLOAT8 + (o.quality ->> 'completeness')::FLOAT8
            + (o.quality ->> 'consistency')::FLOAT8) / 5 AS score,
        CASE WHEN (o.compression ->> 'after')::INT > 0 THEN (o.compression ->> 'before')::FLOAT8 / (o.compression ->> 'after')::FLOAT8 END AS ratio,
        (o.compression ->> 'took')::FLOAT8 / 1e6 AS compress_ms
    FROM of o
), m AS (
    SELECT m.value ->> 'failure' AS failure, m.value ->> 'action' AS action FROM o, jsonb_array_elements(o.mitigations) AS m WHERE o.mitigations <> '[]'
)
SELECT COALESCE(avg(o.usage), 0)::FLOAT8 AS usage_avg, COALESCE(percentile_cont(0.95) WITHIN GROUP (ORDER BY o.usage), 0)::FLOAT8 AS usage_p95,
    count(o.compression) AS compressions, COALESCE(avg(o.ratio), 0)::FLOAT8 AS ratio_avg,
    COALESCE(percentile_cont(0.95) WITHIN GROUP (ORDER BY o.compress_ms), 0)::FLOAT8 AS latency_p95,
    count(*) FILTER (WHERE o.mitigations @> '[{"failure": "poisoning"}]') AS poisoning,
    (SELECT count(*) FROM m WHERE m.failure = 'distraction') AS distraction,
    (SELECT count(*) FROM m WHERE m.failure = 'confusion') AS confusion,
    (SELECT count(*) FROM m WHERE m.failure = 'clash' AND m.action = 'SUPERSEDED') AS clashes,
    COALESCE(avg(o.score), 0)::FLOAT8 AS score_avg, COALESCE(avg(o.relevance), 0)::FLOAT8 AS relevance_avg, COALESCE(avg(o.accuracy), 0)::FLOAT8 AS accuracy_avg,
    COALESCE(sum(o.put_aside), 0)::BIGINT AS scratchpad_writes, count(*) FILTER (WHERE o.kind IN ('read', 'inject')) AS scratchpad_reads,
    count(*) FILTER (WHERE o.kind = 'search_tools') AS tool_searches, count(*) FILTER (WHERE o.kind = 'exceeded') AS exceeded
FROM o;
