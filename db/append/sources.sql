-- Which of these hashes are messages or records, of what kind, and of which session.
SELECT m.hash, 'context', m.session_hash FROM log.messages m WHERE m.hash = ANY ($1::TEXT[]::CHAR(64)[])
UNION ALL
SELECT r.hash, r.kind::TEXT, NULL FROM knowledge.records r WHERE r.hash = ANY ($1::TEXT[]::CHAR(64)[])
