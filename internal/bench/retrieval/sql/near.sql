-- The messages that are nearest to a vector, with their cosines.
SELECT d.source_id, 1 - ({expression} <=> CAST($1::TEXT AS halfvec({dimensions}))) FROM {table} d
ORDER BY {expression} <=> CAST($1::TEXT AS halfvec({dimensions})) LIMIT $2
