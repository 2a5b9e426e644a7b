-- The leaves of the tree by index: at most $2 of them, behind one ($1).
SELECT l.leaf_index, l.session_hash, l.sequence, l.message_hash
FROM seal.leaves l WHERE l.leaf_index > $1 ORDER BY l.leaf_index LIMIT $2;
