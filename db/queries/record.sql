-- Records of the ledgers and the secretary.

-- name: RecordsByHash :many
SELECT * FROM knowledge.records WHERE hash = ANY (@hashes::bpchar[]);

-- name: RecordsByID :many
SELECT * FROM knowledge.records WHERE id = ANY (@ids::BIGINT[]) ORDER BY id;

-- name: RecordsSince :many
-- What leads to verified records, in their order, no more of each than a judge reads; of others, that they are there.
SELECT r.id, r.verified, (CASE WHEN r.verified THEN r.title || E'\n' || left(r.content, 65536) ELSE '' END)::TEXT AS text
FROM knowledge.records r WHERE r.id > @after ORDER BY r.id LIMIT @row_count;

-- name: RecordsToJudge :many
-- No more of each than a judge reads, and of them as many as are not beyond a number of bytes, in the order asked for.
SELECT s.id, s.hash::log.hash AS hash, s.title::TEXT AS title, left(s.content, 65536)::TEXT AS content FROM (
    SELECT r.id, r.hash, r.title, r.content,
        sum(LEAST(octet_length(r.content), 65536)) OVER (ORDER BY o.place) - LEAST(octet_length(r.content), 65536) AS before
    FROM unnest(@ids::BIGINT[]) WITH ORDINALITY AS o (id, place) JOIN knowledge.records r ON r.id = o.id
) s WHERE s.before < @bytes::BIGINT;

-- name: AddRecord :many
-- Gives nothing if the record is there already: see FindRecord.
INSERT INTO knowledge.records (kind, book, title, content, data, verified, created_at)
VALUES (CAST(@kind::TEXT AS log.ref_type), @book, @title, @content, COALESCE(CAST(sqlc.narg('data')::TEXT AS JSONB), '{}'), @verified,
    COALESCE(sqlc.narg('created_at')::TIMESTAMPTZ, clock_timestamp()))
ON CONFLICT (hash) DO NOTHING RETURNING *;

-- name: FindRecord :one
SELECT r.* FROM knowledge.records r WHERE r.hash = knowledge.record_hash(ROW (
    NULL, NULL, CAST(@kind::TEXT AS log.ref_type), @book::TEXT, @title::TEXT, @content::TEXT, COALESCE(CAST(sqlc.narg('data')::TEXT AS JSONB), '{}'),
    @verified::BOOLEAN, NULL)::knowledge.records);

-- name: SearchRecords :many
SELECT r.* FROM knowledge.records r
WHERE (sqlc.narg('kind')::TEXT IS NULL OR r.kind = CAST(sqlc.narg('kind')::TEXT AS log.ref_type))
    AND (sqlc.narg('book')::TEXT IS NULL OR r.book = sqlc.narg('book'))
    AND (sqlc.narg('search')::TEXT IS NULL
        OR strpos(lower(r.title), lower(sqlc.narg('search'))) > 0 OR strpos(lower(r.book), lower(sqlc.narg('search'))) > 0
        OR strpos(lower(r.content), lower(sqlc.narg('search'))) > 0)
    AND (sqlc.narg('before')::BIGINT IS NULL OR r.id < sqlc.narg('before'))
ORDER BY r.id DESC LIMIT @row_count;

-- name: CountRecords :one
SELECT count(*) FROM knowledge.records r
WHERE (sqlc.narg('kind')::TEXT IS NULL OR r.kind = CAST(sqlc.narg('kind')::TEXT AS log.ref_type))
    AND (sqlc.narg('book')::TEXT IS NULL OR r.book = sqlc.narg('book'))
    AND (sqlc.narg('search')::TEXT IS NULL
        OR strpos(lower(r.title), lower(sqlc.narg('search'))) > 0 OR strpos(lower(r.book), lower(sqlc.narg('search'))) > 0
        OR strpos(lower(r.content), lower(sqlc.narg('search'))) > 0);
