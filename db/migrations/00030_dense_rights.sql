-- Who may read or change dense vectors may do so in every model's partition: searches name the partition, and a right to the
-- table of all of them is none to one of them.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- Gives everybody the rights to a partition that they have to the table of all of them.
-- +goose StatementBegin
CREATE FUNCTION embedding.share_partition(partition REGCLASS) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    r RECORD;
BEGIN
    FOR r IN
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee,
            string_agg(DISTINCT a.privilege_type, ', ') AS privileges
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
        WHERE c.oid = 'embedding.dense'::REGCLASS AND a.grantee <> c.relowner GROUP BY a.grantee
    LOOP
        EXECUTE format('GRANT %s ON %s TO %s', r.privileges, partition, r.grantee);
    END LOOP;
END $$;

-- As in 00012_dense.sql, but for the rights.
CREATE OR REPLACE FUNCTION embedding.add_dense(name TEXT, asked_as TEXT, dimensions INT, probe halfvec) RETURNS INT LANGUAGE plpgsql AS $$
DECLARE
    added INT;
BEGIN
    INSERT INTO embedding.models AS m (name, kind, dimensions, asked_as, probe, wanted_at)
    VALUES (add_dense.name, 'dense', add_dense.dimensions, add_dense.asked_as, add_dense.probe, clock_timestamp()) RETURNING m.id INTO added;
    EXECUTE format($ddl$
        CREATE TABLE embedding.dense_%1$s (LIKE embedding.dense INCLUDING ALL,
            CONSTRAINT dense_%1$s_model CHECK (model_id = %1$s), CONSTRAINT dense_%1$s_dimensions CHECK (vector_dims(vector) = %2$s))
            WITH (toast_tuple_target = 8160);
        ALTER TABLE embedding.dense_%1$s ALTER COLUMN vector SET STATISTICS 0;
        CREATE TRIGGER erased AFTER INSERT ON embedding.dense_%1$s REFERENCING NEW TABLE AS added
            FOR EACH STATEMENT EXECUTE FUNCTION embedding.refuse_erased();
        ALTER TABLE embedding.dense_%1$s ENABLE ALWAYS TRIGGER erased;
        ALTER TABLE embedding.dense ATTACH PARTITION embedding.dense_%1$s FOR VALUES IN (%1$s)
        $ddl$, added, dimensions);
    PERFORM embedding.share_partition(format('embedding.dense_%s', added)::REGCLASS);
    RETURN added;
END $$;
-- +goose StatementEnd

-- The partitions that are there.
SELECT embedding.share_partition(i.inhrelid::REGCLASS) FROM pg_inherits i WHERE i.inhparent = 'embedding.dense'::REGCLASS;
