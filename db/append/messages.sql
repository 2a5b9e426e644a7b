-- Messages that leave out nothing, in the order of their chains. log.check_chain holds them against the log.
INSERT INTO log.messages (id, hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, master_player, role,
    event_type, importance, channel, source, content, attachments, ambient, salt, content_digest, hashtags, flag_id,
    master_item_id, item_id, loc_id, refs_digest, created_at, id_digest)
SELECT u.id, u.hash, u.session_hash, u.sequence, u.prev_hash, u.thread_hash, u.owner_id, u.players_id::CHAR(64)[], u.master_player, u.role,
    u.event_type::log.event_type, u.importance, u.channel, u.source, u.content, u.attachments::JSONB, u.ambient::JSONB, u.salt,
    u.content_digest, u.hashtags::CHAR(64)[], u.flag_id, u.master_item_id, u.item_id::CHAR(64)[], u.loc_id, u.refs_digest,
    u.created_at, u.id_digest
FROM unnest($1::BIGINT[], $2::TEXT[], $3::TEXT[], $4::BIGINT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[],
    $10::TEXT[], $11::TEXT[], $12::SMALLINT[], $13::TEXT[], $14::TEXT[], $15::TEXT[], $16::TEXT[], $17::TEXT[], $18::BYTEA[],
    $19::TEXT[], $20::TEXT[], $21::TEXT[], $22::TEXT[], $23::TEXT[], $24::TEXT[], $25::TEXT[], $26::TIMESTAMPTZ[], $27::TEXT[])
    AS u (id, hash, session_hash, sequence, prev_hash, thread_hash, owner_id, players_id, master_player, role, event_type,
    importance, channel, source, content, attachments, ambient, salt, content_digest, hashtags, flag_id, master_item_id,
    item_id, loc_id, refs_digest, created_at, id_digest)
