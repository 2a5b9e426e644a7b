-- What assistants know now. A viewer sees conversations that they take part in, as the assistant or as the user; no one sees
-- what has expired, by the database's own clock, unless a test has another in its hands.

-- name: NewConversation :many
-- Unless the user has as many with this assistant as are allowed.
INSERT INTO memory.conversations (id, role, user_id, person, assistant, session_hash, created_at, last_activity, expires_at)
SELECT CAST(@id::TEXT AS TEXT), @role::TEXT, @user_id::TEXT, @person::bpchar, @assistant::bpchar, @session_hash::bpchar,
    COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()), COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()),
    COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()) + make_interval(secs => @seconds::FLOAT8)
WHERE (SELECT count(*) FROM memory.conversations c
    WHERE c.role = @role AND c.user_id = @user_id AND c.assistant = @assistant AND c.expires_at > COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp())) < @most::BIGINT
RETURNING *;

-- name: ConversationByID :many
SELECT c.* FROM memory.conversations c
WHERE c.id = @id AND c.expires_at > COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()) AND (sqlc.narg('viewer')::bpchar IS NULL OR sqlc.narg('viewer')::bpchar IN (c.assistant, c.person));

-- name: ConversationForPrompt :many
-- The same but for what its id tells and the times, and which messages of its turns are in quarantine.
SELECT c.person, c.assistant, c.history, c.state, memory.quarantined_turns(c.history)::TEXT[] AS quarantined FROM memory.conversations c
WHERE c.id = @id AND c.expires_at > COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()) AND (sqlc.narg('viewer')::bpchar IS NULL OR sqlc.narg('viewer')::bpchar IN (c.assistant, c.person));

-- name: LockConversation :many
-- Whether it has ended is to be told when it is had, which may be after others let go of it.
SELECT c.* FROM memory.conversations c
WHERE c.id = @id AND (sqlc.narg('viewer')::bpchar IS NULL OR sqlc.narg('viewer')::bpchar IN (c.assistant, c.person))
FOR UPDATE;

-- name: Clock :one
SELECT clock_timestamp()::TIMESTAMPTZ AS now;

-- name: ConversationsOf :many
-- The live conversations of a user, the latest first; with what is in memory only if that is asked for, else how many turns that is.
SELECT c.id, c.role, c.user_id, c.person, c.assistant, c.session_hash,
    CASE WHEN @with_memory::BOOLEAN THEN c.history ELSE '[]' END::JSONB AS history, CASE WHEN @with_memory::BOOLEAN THEN c.state ELSE '{}' END::JSONB AS state,
    c.created_at, c.last_activity, c.expires_at,
    CASE WHEN @with_memory::BOOLEAN THEN 0 ELSE jsonb_array_length(c.history) END::INT AS unread
FROM memory.conversations c
WHERE c.role = @role AND c.user_id = @user_id AND c.expires_at > COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp())
    AND (sqlc.narg('viewer')::bpchar IS NULL OR sqlc.narg('viewer')::bpchar IN (c.assistant, c.person))
ORDER BY c.last_activity DESC, c.id LIMIT @most;

-- name: SetState :exec
UPDATE memory.conversations SET state = @state, last_activity = @last_activity, expires_at = @expires_at WHERE id = @id;

-- name: DropConversation :exec
DELETE FROM memory.conversations WHERE id = @id;

-- name: LockConversationLog :exec
-- Locks a conversation's session, and the audit session of who erases it, in the order that all writers keep.
SELECT count(pg_advisory_xact_lock(k.key))
FROM (SELECT DISTINCT log.session_lock(s.hash) AS key FROM unnest(@sessions::TEXT[]) AS s (hash) ORDER BY 1) k;

-- name: LockConversationsOf :exec
-- Locks how many conversations a user has with an assistant, who both stand in the name. Nobody who has it waits for anything else.
SELECT pg_advisory_xact_lock(log.session_lock(log.sha256(@name::TEXT)));

-- name: ExchangeRecorded :one
-- Whether the assistant's half of an exchange was recorded with this key.
SELECT EXISTS (SELECT FROM log.append_keys k WHERE k.owner_id = @assistant::bpchar AND k.key = @key::TEXT);

-- name: ConversationInLog :many
-- Of whom a conversation was, as its first exchange tells, in which each of the two names the other; so nobody becomes one of them
-- by what they alone write there. The source may end in the mark of an administrator who has recorded it for others.
SELECT u.owner_id AS person, a.owner_id AS assistant
FROM core.players p
JOIN log.messages u ON u.session_hash = @session_hash AND u.owner_id = p.hash AND split_part(u.source, '; by ', 1) = @source::TEXT AND u.role = 'user'
JOIN log.messages a ON a.session_hash = u.session_hash AND a.sequence = u.sequence + 1 AND split_part(a.source, '; by ', 1) = @source::TEXT AND a.role = 'assistant'
WHERE p.namespace = 'plu' AND p.key = @user_key AND a.owner_id = ANY (u.players_id) AND u.owner_id = ANY (a.players_id)
    AND (sqlc.narg('viewer')::bpchar IS NULL OR sqlc.narg('viewer')::bpchar IN (a.owner_id, u.owner_id))
ORDER BY u.sequence LIMIT 1;

-- name: ConversationMessages :many
-- What can be erased of what the two of a conversation have said in its session, after a place in it.
SELECT m.hash, m.sequence FROM log.messages m
WHERE m.session_hash = @session_hash AND m.sequence > @after AND m.owner_id IN (@person, @assistant) AND m.event_type <> 'erasure' AND m.content IS NOT NULL
ORDER BY m.sequence LIMIT @most;

-- name: SweepConversations :execrows
-- Frees the room of what has expired. What somebody is renewing at this moment is left alone.
DELETE FROM memory.conversations WHERE id = ANY (ARRAY(
    SELECT c.id FROM memory.conversations c WHERE c.expires_at <= COALESCE(sqlc.narg('now')::TIMESTAMPTZ, statement_timestamp()) ORDER BY c.expires_at LIMIT @most FOR UPDATE SKIP LOCKED));
