-- The log as it is: the highest id of a message, how many there are, ids of the last 4,096 that may still get one, the
-- highest id of a record, the runs of messages, and the first record, that have no search vectors, and which is the newest message.
-- Every message is in the tree or waits for it in the outbox, never both; so nobody has to count.
WITH newest AS (SELECT COALESCE(max(m.id), 0) AS id FROM log.messages m)
SELECT n.id,
    COALESCE((SELECT max(t.size) FROM seal.trees t), 0) + COALESCE((SELECT sum(o.last_id - o.first_id + 1) FROM seal.outbox o), 0)::BIGINT,
    CASE WHEN log.is_written() THEN log.absent(n.id) ELSE '{}' END,
    COALESCE((SELECT max(r.id) FROM knowledge.records r), 0),
    b.firsts, b.lasts, p.first_record, p.records, (SELECT m.hash FROM log.messages m WHERE m.id = n.id)
FROM newest n
CROSS JOIN (SELECT COALESCE(array_agg(b.first_id ORDER BY b.first_id), '{}') AS firsts, COALESCE(array_agg(b.last_id ORDER BY b.first_id), '{}') AS lasts
    FROM embedding.backlog b) b
CROSS JOIN (SELECT min((SELECT r.id FROM knowledge.records r WHERE r.hash = p.hash)) AS first_record, count(*) AS records FROM embedding.pending p) p
