-- Erasing.

-- name: Erase :many
SELECT e.* FROM log.erase(@message::bpchar, @eraser::bpchar, @reason::TEXT) e;

-- name: ErasuresOf :many
-- What erased these messages: of each, the first that says so.
SELECT DISTINCT ON (r.ref_hash) r.ref_hash AS erased, sqlc.embed(e)
FROM log.message_refs r
JOIN log.messages e ON e.hash = r.message_hash AND e.event_type = 'erasure'
JOIN log.messages m ON m.hash = r.ref_hash AND m.session_hash = e.session_hash AND m.sequence < e.sequence AND m.content IS NULL
WHERE r.ref_hash = ANY (@hashes::bpchar[]) AND r.ref_type = 'context'
ORDER BY r.ref_hash, e.sequence;

-- name: EraseImpact :many
-- What an erasure of a message would take away, and what would stay. Selections, windows and messages are those that a viewer sees.
-- Windows are those that memory.leave_windows changes; a history keeps the message's hash.
SELECT m.event_type, (m.content IS NULL)::BOOLEAN AS erased,
    EXISTS (SELECT FROM log.audit_sessions a WHERE a.session_hash = m.session_hash)::BOOLEAN AS audit,
    COALESCE(octet_length(m.content), 0)::BIGINT AS content, COALESCE(octet_length(m.attachments::TEXT), 0)::BIGINT AS attachments,
    COALESCE(octet_length(m.ambient::TEXT), 0)::BIGINT AS ambient,
    (SELECT count(*) FROM embedding.lexical l WHERE l.kind = 'context' AND l.source_id = m.id) AS lexical,
    (SELECT count(*) FROM embedding.dense d WHERE d.kind = 'context' AND d.source_id = m.id) AS dense,
    (SELECT COALESCE(sum(cardinality(l.terms)), 0) FROM embedding.lexical l WHERE l.kind = 'context' AND l.source_id = m.id)::BIGINT AS terms,
    (SELECT count(*) FROM log.append_keys k WHERE k.message_hash = m.hash AND k.fingerprint IS NOT NULL) AS keys,
    (SELECT count(*) FROM memory.selections s WHERE jsonb_path_query_array(s.items, '$[*].hash') ? @message::TEXT
        AND (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar)) AS selections,
    (SELECT count(*) FROM memory.windows w WHERE (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar) AND w.id IN (
        SELECT i.window_id FROM memory.window_items i WHERE i.source = m.hash
        UNION SELECT s.window_id FROM memory.window_items i JOIN memory.segment_windows s ON s.segment_id = i.segment_id WHERE i.source = m.hash
        UNION SELECT s.window_id FROM memory.scratchpad s WHERE s.source = m.hash
        UNION SELECT o.window_id FROM memory.window_operations o
            WHERE o.sources @> ARRAY[m.hash::CHAR(64)] AND o.sources <> '{}' AND m.content IS NOT NULL)) AS windows,
    (SELECT count(*) FROM log.message_refs r JOIN log.messages c ON c.hash = r.message_hash
        WHERE r.ref_hash = m.hash AND (sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
            SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = c.session_hash))) AS cited_by,
    (SELECT count(*) FROM log.message_refs r WHERE r.message_hash = m.hash AND r.ref_type = 'context') AS sent_with,
    (SELECT count(*) FROM log.message_refs r WHERE r.message_hash = m.hash AND r.ref_type <> 'context') AS records
FROM log.messages m WHERE m.hash = CAST(@message::TEXT AS CHAR(64));

-- name: PartiesOfConversation :many
-- Of whom a conversation is that has not expired.
SELECT c.person, c.assistant FROM memory.conversations c
WHERE c.id = @id AND c.expires_at > COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()) AND (sqlc.narg('viewer')::bpchar IS NULL OR sqlc.narg('viewer')::bpchar IN (c.assistant, c.person));

-- name: ConversationEraseImpact :one
-- The same as EraseImpact for all that the two of a conversation have said in its session, each selection and window once.
WITH said AS MATERIALIZED (
    SELECT m.id, m.hash, m.content, m.attachments, m.ambient FROM log.messages m
    WHERE m.session_hash = @session_hash AND m.owner_id IN (@person, @assistant) AND m.event_type <> 'erasure'
), going AS MATERIALIZED (SELECT * FROM said WHERE content IS NOT NULL)
SELECT (SELECT count(*) FROM going) AS contents, (SELECT count(*) FROM said WHERE content IS NULL) AS erased_before,
    (SELECT COALESCE(sum(octet_length(g.content)), 0) FROM going g)::BIGINT AS content,
    (SELECT COALESCE(sum(octet_length(g.attachments::TEXT)), 0) FROM going g)::BIGINT AS attachments,
    (SELECT COALESCE(sum(octet_length(g.ambient::TEXT)), 0) FROM going g)::BIGINT AS ambient,
    (SELECT count(*) FROM going g JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = g.id) AS lexical,
    (SELECT count(*) FROM going g JOIN embedding.dense d ON d.kind = 'context' AND d.source_id = g.id) AS dense,
    (SELECT COALESCE(sum(cardinality(l.terms)), 0) FROM going g JOIN embedding.lexical l ON l.kind = 'context' AND l.source_id = g.id)::BIGINT AS terms,
    (SELECT count(*) FROM going g JOIN log.append_keys k ON k.message_hash = g.hash AND k.fingerprint IS NOT NULL) AS keys,
    (SELECT count(*) FROM memory.selections s WHERE jsonb_path_query_array(s.items, '$[*].hash') ?| ARRAY(SELECT g.hash::TEXT FROM going g)
        AND (sqlc.narg('viewer')::bpchar IS NULL OR s.viewer = sqlc.narg('viewer')::bpchar)) AS selections,
    (SELECT count(*) FROM memory.windows w WHERE (sqlc.narg('viewer')::bpchar IS NULL OR w.agent = sqlc.narg('viewer')::bpchar) AND w.id IN (
        SELECT i.window_id FROM going g JOIN memory.window_items i ON i.source = g.hash
        UNION SELECT s.window_id FROM going g JOIN memory.window_items i ON i.source = g.hash JOIN memory.segment_windows s ON s.segment_id = i.segment_id
        UNION SELECT s.window_id FROM going g JOIN memory.scratchpad s ON s.source = g.hash
        UNION SELECT o.window_id FROM going g JOIN memory.window_operations o ON o.sources @> ARRAY[g.hash::CHAR(64)] AND o.sources <> '{}')) AS windows,
    (SELECT count(*) FROM going g JOIN log.message_refs r ON r.ref_hash = g.hash JOIN log.messages c ON c.hash = r.message_hash
        WHERE sqlc.narg('viewer')::bpchar IS NULL OR EXISTS (
            SELECT FROM log.members v WHERE v.player = sqlc.narg('viewer')::bpchar AND v.session_hash = c.session_hash)) AS cited_by,
    (SELECT count(*) FROM going g JOIN log.message_refs r ON r.message_hash = g.hash AND r.ref_type = 'context') AS sent_with,
    (SELECT count(*) FROM going g JOIN log.message_refs r ON r.message_hash = g.hash AND r.ref_type <> 'context') AS records;
