-- Tokens. What is expired is told by the database's clock.

-- name: FindToken :one
-- A token that may be used, and for how many microseconds.
SELECT t.id, t.role, t.player, t.scopes, t.expires_at,
    (extract(EPOCH FROM t.expires_at - clock_timestamp()) * 1000000)::BIGINT AS left_us
FROM auth.tokens t
WHERE t.digest = @digest::BYTEA AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp();

-- name: LiveTokens :many
-- Those of the tokens that may be used.
SELECT t.id FROM auth.tokens t
WHERE t.id = ANY (@ids::UUID[]) AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp();

-- name: ShareToken :many
-- When a token ends that another is made with; nothing if it may no longer be used. Nobody revokes it meanwhile.
SELECT t.expires_at FROM auth.tokens t
WHERE t.id = @id::UUID AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp()
FOR SHARE;

-- name: CountLiveTokens :one
-- How many tokens of a player may be used, administrators' apart; at most as many are counted.
SELECT count(*) FROM (
    SELECT FROM auth.tokens t
    WHERE t.player = CAST(@player::TEXT AS CHAR(64)) AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp() AND t.role <> 'admin'
    LIMIT @most::INT
) live;

-- name: CreateToken :many
-- It ends no later than latest. Gives nothing if it is to expire at a time that no token may.
INSERT INTO auth.tokens (digest, role, player, scopes, note, creator, creator_token, created_at, expires_at)
SELECT @digest::BYTEA, @role::TEXT, CAST(@player::TEXT AS log.hash), @scopes::TEXT[], @note::TEXT, CAST(@creator::TEXT AS log.hash),
    CAST(sqlc.narg('creator_token')::TEXT AS UUID), c.at, LEAST(c.expires_at, sqlc.narg('latest')::TIMESTAMPTZ)
FROM (
    SELECT s.at, COALESCE(sqlc.narg('expires_at')::TIMESTAMPTZ, s.at + make_interval(days => @default_days::INT)) AS expires_at
    FROM (SELECT clock_timestamp() AS at) s
) c
WHERE c.expires_at > c.at AND c.expires_at <= c.at + INTERVAL '366 days'
RETURNING *;

-- name: LockToken :many
-- A token that is to be revoked: of any player if player is NULL, else of that one, and no administrator's.
SELECT sqlc.embed(t), (t.expires_at <= clock_timestamp())::BOOLEAN AS expired FROM auth.tokens t
WHERE t.id = @id::UUID
    AND (sqlc.narg('player')::TEXT IS NULL OR t.player = CAST(sqlc.narg('player')::TEXT AS CHAR(64)) AND t.role <> 'admin')
FOR UPDATE;

-- name: LockTokensMadeWith :many
-- Tokens that were made with these, which must be locked, and whether they may be used.
SELECT t.id, (t.revoked_at IS NULL AND t.expires_at > clock_timestamp())::BOOLEAN AS live FROM auth.tokens t
WHERE t.creator_token = ANY (@ids::UUID[])
ORDER BY t.id FOR UPDATE;

-- name: RevokeToken :one
UPDATE auth.tokens SET revoked_at = clock_timestamp(), revoker = CAST(@revoker::TEXT AS log.hash) WHERE id = @id::UUID RETURNING *;

-- name: ListTokens :many
-- The latest first. Administrators' are left out unless asked for.
SELECT sqlc.embed(t), (t.expires_at <= clock_timestamp())::BOOLEAN AS expired FROM auth.tokens t
WHERE (sqlc.narg('player')::TEXT IS NULL OR t.player = CAST(sqlc.narg('player')::TEXT AS CHAR(64)))
    AND (@with_admins::BOOLEAN OR t.role <> 'admin')
    AND (sqlc.narg('after_time')::TIMESTAMPTZ IS NULL OR (t.created_at, t.id) < (sqlc.narg('after_time'), CAST(sqlc.narg('after_id')::TEXT AS UUID)))
ORDER BY t.created_at DESC, t.id DESC LIMIT @row_count;

-- name: CountTokens :one
SELECT count(*) FROM auth.tokens t
WHERE (sqlc.narg('player')::TEXT IS NULL OR t.player = CAST(sqlc.narg('player')::TEXT AS CHAR(64)))
    AND (@with_admins::BOOLEAN OR t.role <> 'admin');

-- name: TokensUsed :exec
-- One that somebody else is changing was used just now on another server, or can wait.
UPDATE auth.tokens SET last_used_at = clock_timestamp()
WHERE id IN (
    SELECT t.id FROM auth.tokens t
    WHERE t.id = ANY (@ids::UUID[])
    ORDER BY t.id FOR UPDATE SKIP LOCKED);
