-- Which of these hashes are messages or records, and of what kind.
SELECT m.hash, 'context' FROM log.messages m WHERE m.hash = ANY ($1::TEXT[]::CHAR(64)[])
UNION ALL
SELECT r.hash, r.kind::TEXT FROM knowledge.records r WHERE r.hash = ANY ($1::TEXT[]::CHAR(64)[])
