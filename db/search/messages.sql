-- What ranking has to know of messages m, with the name of the owner if that is joined: of a long text, its beginning. Labels if
-- asked for.
SELECT m.id, m.hash, m.session_hash, m.sequence, m.owner_id, m.role, m.salt, m.created_at, CASE WHEN octet_length(m.content) <= 1000 THEN m.content ELSE left(m.content, 1000) END,
    octet_length(m.content) <= 1000 OR length(m.content) <= 1000,
    CASE WHEN $1::BOOLEAN THEN array_remove(m.hashtags || m.item_id || m.flag_id || m.master_item_id || m.loc_id, NULL)::TEXT[] ELSE '{}' END,
    %[1]s, m.source
FROM %[2]s
WHERE %[3]s AND m.content IS NOT NULL
