-- What the server runs on, and what keeps its models from embedding. The totals are in db/overview.

-- name: ModelProblems :many
-- What keeps models from embedding, without counting: of every model, the newest first.
SELECT m.name, m.kind, m.follows, m.problem, EXISTS (SELECT FROM embedding.serving s WHERE s.model_id = m.id)::BOOLEAN AS serves
FROM embedding.models m ORDER BY m.id DESC;

-- name: DatabaseFacts :one
SELECT current_setting('server_version')::TEXT AS version,
    COALESCE((SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector'), '')::TEXT AS pgvector,
    pg_database_size(current_database())::BIGINT AS bytes;

-- name: RoleFacts :one
-- The login itself.
SELECT r.rolname::TEXT AS name, COALESCE(r.rolsuper, FALSE)::BOOLEAN AS superuser, COALESCE(r.rolbypassrls, FALSE)::BOOLEAN AS bypasses FROM pg_catalog.pg_roles r WHERE r.rolname = current_user;

-- name: PlayerRoleFacts :many
-- The role that players read as, if it is there.
SELECT r.rolname::TEXT AS name, COALESCE(r.rolsuper, FALSE)::BOOLEAN AS superuser, COALESCE(r.rolbypassrls, FALSE)::BOOLEAN AS bypasses FROM pg_catalog.pg_roles r WHERE r.rolname = 'cm_player';
