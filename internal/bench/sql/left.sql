-- What is committed and not yet sealed, or without search vectors.
SELECT (SELECT count(*) FROM seal.outbox) + (SELECT count(*) FROM embedding.backlog)
