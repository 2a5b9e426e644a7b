-- Every message with its refs and its leaf, for the check of chains: ascending by session and place, of one session ($1) or of
-- all, after a given place ($2, $3) or from the start. Not for sqlc: the rows are read as they come, in binary.
-- The literal is log.refs_digest('{}', '{}'): what refs such a message has nevertheless, strays.sql finds.
SELECT m.id, m.hash, m.session_hash, m.sequence, m.prev_hash, m.thread_hash, m.owner_id, m.players_id,
    m.master_player, m.role, m.event_type, m.importance, m.channel, m.source, m.content, m.attachments, m.ambient,
    m.salt, m.content_digest, m.hashtags, m.flag_id, m.master_item_id, m.item_id, m.loc_id, m.refs_digest,
    m.created_at, m.id_digest, r.positions, r.types, r.hashes, r.threads, l.leaf_index, l.leaf
FROM log.messages m
LEFT JOIN LATERAL (
    SELECT array_agg(r.position) AS positions, array_agg(r.ref_type::TEXT) AS types,
        array_agg(r.ref_hash::TEXT) AS hashes, array_agg(r.thread_hash::TEXT) AS threads
    FROM log.message_refs r
    WHERE r.message_hash = m.hash
        AND m.refs_digest <> 'd23389a8df957bcb483e946d668497411f85ea889b8b8239e435ece17542dfe3'
) r ON TRUE
LEFT JOIN LATERAL (
    SELECT COALESCE(l.leaf_index, -1) AS leaf_index, l.message_hash::TEXT AS leaf
    FROM seal.leaves l WHERE l.session_hash = m.session_hash AND l.sequence = m.sequence LIMIT 1
) l ON TRUE
WHERE ($1::TEXT IS NULL OR m.session_hash = $1::CHAR(64))
    AND ($2::TEXT IS NULL OR (m.session_hash, m.sequence) > ($2::CHAR(64), $3::BIGINT))
ORDER BY m.session_hash, m.sequence;
