-- What messages were sent with.
INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type)
SELECT unnest($1::TEXT[]), unnest($2::INT[]), unnest($3::TEXT[]), unnest($4::TEXT[])::log.ref_type
