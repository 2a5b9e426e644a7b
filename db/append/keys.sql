-- What these idempotency keys of these owners, pair by pair, stand for.
SELECT k.owner_id, k.key, k.fingerprint, k.message_hash
FROM (SELECT unnest($1::TEXT[])::CHAR(64) AS owner_id, unnest($2::TEXT[]) AS key) w
JOIN log.append_keys k ON k.owner_id = w.owner_id AND k.key = w.key
