-- Messages that have their content although an ERASURE message of their session says that they were erased: of one
-- session ($1) or of all.
SELECT m.session_hash::TEXT, m.sequence, m.hash::TEXT, min(e.sequence)
FROM log.messages e
JOIN log.message_refs r ON r.message_hash = e.hash AND r.ref_type = 'context'
JOIN log.messages m ON m.hash = r.ref_hash AND m.session_hash = e.session_hash
WHERE e.event_type = 'erasure' AND m.content IS NOT NULL AND ($1::TEXT IS NULL OR e.session_hash = $1::CHAR(64))
GROUP BY m.session_hash, m.sequence, m.hash
ORDER BY m.session_hash, m.sequence;
