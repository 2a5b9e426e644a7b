-- What ranking has to know of messages, with the name of the owner: of a long text, its beginning. Labels and names if asked
-- for.
SELECT m.id, m.hash, m.session_hash, m.sequence, m.owner_id, m.role, m.salt, m.created_at, left(m.content, 1000), length(m.content) <= 1000,
    CASE WHEN $1::BOOLEAN THEN array_remove(m.hashtags || m.item_id || m.flag_id || m.master_item_id || m.loc_id, NULL)::TEXT[] ELSE '{}' END,
    p.key, p.name, m.source
FROM log.messages m LEFT JOIN core.players p ON $2::BOOLEAN AND p.hash = m.owner_id
WHERE m.id = ANY (%s) AND m.content IS NOT NULL
