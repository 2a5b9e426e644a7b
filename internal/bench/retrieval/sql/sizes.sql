-- What search takes on disk: its tables, and each of their indexes.
SELECT c.oid::REGCLASS::TEXT, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'embedding' AND c.relkind IN ('r', 'i') AND pg_relation_size(c.oid) > 1000000
ORDER BY 2 DESC
