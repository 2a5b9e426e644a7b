-- Appending: see db/append.go for the order of these.

-- name: LockSessions :exec
-- In ascending order of the lock, so that two writers never wait for each other; embeds says that this
-- transaction brings the search vectors of what it writes.
SELECT set_config('context_manager.embeds', 'on', TRUE), pg_advisory_xact_lock(k.key)
FROM (SELECT DISTINCT log.session_lock(s.hash) AS key FROM unnest(@sessions::TEXT[]) AS s (hash) ORDER BY 1) k;

-- name: AppendKeys :many
SELECT k.owner_id, k.key, k.fingerprint, k.message_hash FROM log.append_keys k
JOIN (SELECT unnest(@owners::TEXT[])::CHAR(64) AS owner_id, unnest(@keys::TEXT[]) AS key) AS w
    ON w.owner_id = k.owner_id AND w.key = k.key;

-- name: SessionHeads :many
SELECT h.session_hash, h.hash, h.created_at
FROM unnest(CAST(@sessions::TEXT[] AS CHAR(64)[])) AS s (hash)
CROSS JOIN LATERAL (
    SELECT m.session_hash, m.hash, m.created_at FROM log.messages m
    WHERE m.session_hash = s.hash ORDER BY m.sequence DESC LIMIT 1) h;

-- name: Clock :one
SELECT clock_timestamp()::TIMESTAMPTZ;

-- name: ExistingSources :many
-- Which of these hashes are messages or records, and of what kind.
SELECT m.hash, 'context'::TEXT AS kind FROM log.messages m WHERE m.hash = ANY (CAST(@hashes::TEXT[] AS CHAR(64)[]))
UNION ALL
SELECT r.hash, r.kind::TEXT FROM knowledge.records r WHERE r.hash = ANY (CAST(@hashes::TEXT[] AS CHAR(64)[]));

-- name: AppendMessages :many
INSERT INTO log.messages (session_hash, thread_hash, owner_id, players_id, master_player, role, event_type, importance,
    channel, source, content, attachments, ambient, salt, hashtags, flag_id, master_item_id, item_id, loc_id,
    refs_digest, created_at, hash)
SELECT d.session_hash, d.thread_hash, d.owner_id, d.players_id, d.master_player, d.role, d.event_type::log.event_type, d.importance,
    d.channel, d.source, d.content, COALESCE(d.attachments -> 0, '{}'), d.ambient -> 0, decode(d.salt, 'hex'), d.hashtags, d.flag_id,
    d.master_item_id, d.item_id, d.loc_id, d.refs_digest, d.created_at, d.hash
FROM json_to_recordset(@drafts::JSON) AS d (
    session_hash CHAR(64), thread_hash CHAR(64), owner_id CHAR(64), players_id CHAR(64)[], master_player CHAR(64), role TEXT,
    event_type TEXT, importance SMALLINT, channel TEXT, source TEXT, content TEXT, attachments JSONB, ambient JSONB, salt TEXT,
    hashtags CHAR(64)[], flag_id CHAR(64), master_item_id CHAR(64), item_id CHAR(64)[], loc_id CHAR(64), refs_digest CHAR(64),
    created_at TIMESTAMPTZ, hash CHAR(64))
RETURNING *;

-- name: AppendRefs :exec
INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type)
SELECT unnest(@messages::TEXT[]), unnest(@positions::INT[]), unnest(@refs::TEXT[]), unnest(@types::TEXT[])::log.ref_type;

-- name: AppendKey :exec
INSERT INTO log.append_keys (owner_id, key, fingerprint, message_hash)
SELECT unnest(@owners::TEXT[]), unnest(@keys::TEXT[]), unnest(@fingerprints::TEXT[]), unnest(@messages::TEXT[]);

-- name: AddLexical :exec
INSERT INTO embedding.lexical (kind, source_id, passage, session_hash, sequence, vector, terms)
SELECT unnest(@kinds::TEXT[])::log.ref_type, unnest(@ids::BIGINT[]), unnest(@passages::INT[]),
    NULLIF(unnest(@sessions::TEXT[]), ''), NULLIF(unnest(@sequences::BIGINT[]), 0),
    unnest(@vectors::TEXT[])::sparsevec, unnest(@terms::TEXT[])::INT[];
