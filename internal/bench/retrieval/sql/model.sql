-- A model, how many runs of messages it has yet to embed, and whether it serves.
SELECT m.id, (SELECT count(*) FROM embedding.dense_backlog b WHERE b.model_id = m.id),
    EXISTS (SELECT FROM embedding.serving s WHERE s.model_id = m.id)
FROM embedding.models m WHERE m.name = $1
