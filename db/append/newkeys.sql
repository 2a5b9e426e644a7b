-- What idempotency keys stand for from now on.
INSERT INTO log.append_keys (owner_id, key, fingerprint, message_hash)
SELECT unnest($1::TEXT[]), unnest($2::TEXT[]), unnest($3::TEXT[]), unnest($4::TEXT[])
