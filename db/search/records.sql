-- What ranking has to know of records.
SELECT r.id, r.hash, r.kind, r.book, r.title, r.created_at, left(r.content, 1000), length(r.content) <= 1000
FROM knowledge.records r WHERE r.id = ANY ($1::BIGINT[])
