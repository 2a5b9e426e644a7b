-- The whole texts of messages and records.
SELECT 'context'::log.ref_type AS kind, m.id, m.content FROM log.messages m WHERE m.id = ANY ($1::BIGINT[]) AND m.content IS NOT NULL
UNION ALL
SELECT r.kind, r.id, r.content FROM knowledge.records r WHERE r.id = ANY ($2::BIGINT[])
