-- What is committed and not yet covered by a checkpoint, or without search vectors.
SELECT (SELECT count(*) FROM seal.outbox) + (SELECT count(*) FROM embedding.backlog)
    + (SELECT COALESCE(max(t.size), 0) FROM seal.trees t) - (SELECT COALESCE(max(c.size), 0) FROM seal.checkpoints c)
