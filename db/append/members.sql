-- Which of these players are members of these sessions, and of those of messages with these hashes.
SELECT v.player, v.session_hash FROM log.members v
WHERE v.player = ANY ($1::TEXT[]::CHAR(64)[]) AND v.session_hash = ANY ($2::TEXT[]::CHAR(64)[])
UNION ALL
SELECT v.player, v.session_hash FROM log.messages m JOIN log.members v ON v.session_hash = m.session_hash
WHERE m.hash = ANY ($3::TEXT[]::CHAR(64)[]) AND v.player = ANY ($1::TEXT[]::CHAR(64)[])
