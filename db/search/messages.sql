-- What ranking has to know of messages, with the name of the owner: of a long text, its beginning. Labels and names if asked
-- for. Of no list, those that few.sql has noted: read before the index is, since row-level security lets no function come before it.
SELECT m.id, m.hash, m.session_hash, m.sequence, m.owner_id, m.role, m.salt, m.created_at, left(m.content, 1000), length(m.content) <= 1000,
    CASE WHEN $1::BOOLEAN THEN array_remove(m.hashtags || m.item_id || m.flag_id || m.master_item_id || m.loc_id, NULL)::TEXT[] ELSE '{}' END,
    p.key, p.name, m.source
FROM log.messages m LEFT JOIN core.players p ON $3::BOOLEAN AND p.hash = m.owner_id
WHERE m.id = ANY ((SELECT COALESCE($2::BIGINT[], NULLIF(current_setting('context_manager.few', TRUE), '')::BIGINT[]))::BIGINT[]) AND m.content IS NOT NULL
