-- Messages that leave out nothing but what the log gives, in the order of their chains. log.follow_messages holds them
-- against the log. Their ids come back in the same order.
INSERT INTO log.messages (hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, master_player, role,
    event_type, importance, channel, source, content, attachments, ambient, salt, content_digest, hashtags, flag_id,
    master_item_id, item_id, loc_id, refs_digest, created_at)
SELECT u.hash, u.session_hash, u.sequence, u.prev_hash, u.thread_hash, u.owner_id, u.players_id::CHAR(64)[], u.master_player, u.role,
    u.event_type::log.event_type, u.importance, u.channel, u.source, u.content, u.attachments::JSONB, u.ambient::JSONB, u.salt,
    u.content_digest, u.hashtags::CHAR(64)[], u.flag_id, u.master_item_id, u.item_id::CHAR(64)[], u.loc_id, u.refs_digest,
    u.created_at
FROM unnest($1::log.appended[]) AS u
RETURNING id
