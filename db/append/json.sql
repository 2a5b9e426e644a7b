-- JSON as Postgres writes it, which is what digests cover, in the same order.
SELECT ARRAY(SELECT u.value::JSONB::TEXT FROM unnest($1::TEXT[]) WITH ORDINALITY AS u (value, place) ORDER BY u.place)
