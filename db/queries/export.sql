-- Exports: the log in the order of sessions and sequences, by keyset, and what stands beside it.

-- name: ExportMessages :many
-- Those behind a place, up to a session: as many of the first as have no more bytes than that together, at least one.
SELECT m.* FROM (
    SELECT i.id, row_number() OVER place AS place,
        sum(COALESCE(octet_length(i.content), 0) + COALESCE(octet_length(i.attachments::TEXT), 0)
            + COALESCE(octet_length(i.ambient::TEXT), 0)) OVER place AS size
    FROM (
        SELECT c.id, c.session_hash, c.sequence, c.content, c.attachments, c.ambient FROM log.messages c
        WHERE (c.session_hash, c.sequence) > (CAST(@after_session::TEXT AS CHAR(64)), @after_sequence::BIGINT)
            AND c.session_hash <= CAST(@last_session::TEXT AS CHAR(64))
        ORDER BY c.session_hash, c.sequence LIMIT @row_count
    ) i WINDOW place AS (ORDER BY i.session_hash, i.sequence)
) found
JOIN log.messages m ON m.id = found.id
WHERE found.size <= @bytes::BIGINT OR found.place = 1
ORDER BY m.session_hash, m.sequence;

-- name: StretchMessages :many
-- Those of a session behind a sequence and up to another: as many of the first as have no more bytes than that together, at
-- least one. Sizes are summed up apart, so that rows come as the index has them, and only those that are wanted.
SELECT m.* FROM log.messages m
WHERE m.session_hash = CAST(@session_hash::TEXT AS CHAR(64)) AND m.sequence > @after_sequence::BIGINT AND m.sequence <= (
    SELECT max(found.sequence) FROM (
        SELECT i.sequence, row_number() OVER place AS place,
            sum(COALESCE(octet_length(i.content), 0) + COALESCE(octet_length(i.attachments::TEXT), 0)
                + COALESCE(octet_length(i.ambient::TEXT), 0)) OVER place AS size
        FROM (
            SELECT c.sequence, c.content, c.attachments, c.ambient FROM log.messages c
            WHERE c.session_hash = CAST(@session_hash::TEXT AS CHAR(64)) AND c.sequence > @after_sequence::BIGINT
                AND c.sequence <= @last_sequence::BIGINT
            ORDER BY c.sequence LIMIT @row_count
        ) i WINDOW place AS (ORDER BY i.sequence ROWS UNBOUNDED PRECEDING)
    ) found WHERE found.size <= @bytes::BIGINT OR found.place = 1)
ORDER BY m.sequence;

-- name: ExportComponents :many
SELECT c.* FROM core.components c WHERE c.hash > CAST(@after::TEXT AS CHAR(64)) ORDER BY c.hash LIMIT @row_count;

-- name: ExportRecords :many
SELECT r.* FROM knowledge.records r WHERE r.hash > CAST(@after::TEXT AS CHAR(64)) ORDER BY r.hash LIMIT @row_count;

-- name: OutboxRuns :many
SELECT o.first_id, o.last_id FROM seal.outbox o ORDER BY o.first_id;

-- name: SealLockFree :one
-- Whether nobody seals. The lock is held until the transaction ends.
SELECT pg_try_advisory_xact_lock_shared(CAST(@key AS BIGINT));
