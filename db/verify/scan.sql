-- Every message with its refs, as in messages.sql, by id: at most $2 of them, behind one ($1) or from the start. This is
-- about the order in which they are stored, and takes half the time of that of the sessions.
-- The literal is log.refs_digest('{}', '{}').
SELECT m.id, m.hash, m.session_hash, m.sequence, m.prev_hash, m.thread_hash, m.owner_id, m.players_id,
    m.master_player, m.role, m.event_type, m.importance, m.channel, m.source, m.content, m.attachments, m.ambient,
    m.salt, m.content_digest, m.hashtags, m.flag_id, m.master_item_id, m.item_id, m.loc_id, m.refs_digest,
    m.created_at, m.id_digest, r.positions, r.types, r.hashes, r.threads, NULL::BIGINT AS leaf_index, NULL::TEXT AS leaf
FROM log.messages m
LEFT JOIN LATERAL (
    SELECT array_agg(r.position) AS positions, array_agg(r.ref_type::TEXT) AS types,
        array_agg(r.ref_hash::TEXT) AS hashes, array_agg(r.thread_hash::TEXT) AS threads
    FROM log.message_refs r
    WHERE r.message_hash = m.hash
        AND m.refs_digest <> 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3'
) r ON TRUE
WHERE $1::BIGINT IS NULL OR m.id > $1
ORDER BY m.id
LIMIT $2;
