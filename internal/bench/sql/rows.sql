-- The messages with ids above one ($1), oldest first, every column as text: an INSERT of the same.
SELECT m.id::TEXT, m.hash::TEXT, m.session_hash::TEXT, m.sequence::TEXT, m.prev_hash::TEXT, m.thread_hash::TEXT, m.owner_id::TEXT,
    m.players_id::TEXT, m.master_player::TEXT, m.role::TEXT, m.event_type::TEXT, m.importance::TEXT, m.channel::TEXT, m.source::TEXT,
    m.content::TEXT, m.attachments::TEXT, m.ambient::TEXT, m.salt::TEXT, m.content_digest::TEXT, m.hashtags::TEXT, m.flag_id::TEXT,
    m.master_item_id::TEXT, m.item_id::TEXT, m.loc_id::TEXT, m.refs_digest::TEXT, m.created_at::TEXT, m.id_digest::TEXT
FROM log.messages m WHERE m.id > $1 ORDER BY m.id
