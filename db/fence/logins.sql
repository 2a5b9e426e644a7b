-- The roles of a Postgres that is the server's own: cm_owner owns and cannot log in; cm_writer inserts, and changes what is
-- derived or may change; cm_reader reads. None may change or take away anything of the log. The superuser that migrates is
-- gone while the server serves.
DO $$
DECLARE
    role_name TEXT;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['cm_owner', 'cm_writer', 'cm_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I %s', role_name, CASE role_name WHEN 'cm_owner' THEN 'NOLOGIN' ELSE 'LOGIN' END);
        END IF;
    END LOOP;
    GRANT cm_player TO cm_reader;
END $$;

-- Everything becomes the owner's: what is in these schemas, but the tables of dense vectors, whose partitions and indexes
-- come and go with the models.
DO $$
DECLARE
    o RECORD;
BEGIN
    FOR o IN
        SELECT format('SCHEMA %I', n.nspname) AS named FROM pg_namespace n WHERE n.nspname IN ('log', 'core', 'knowledge', 'embedding', 'memory', 'seal', 'auth')
        UNION ALL
        SELECT format('%s %I.%I', CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, n.nspname, c.relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('log', 'core', 'knowledge', 'embedding', 'memory', 'seal', 'auth') AND c.relkind IN ('r', 'p', 'v', 'S')
            AND NOT (n.nspname = 'embedding' AND c.relname ~ '^dense(_[0-9]+)?$')
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::REGCLASS AND d.deptype IN ('a', 'i') AND c.relkind = 'S')
        UNION ALL
        SELECT format('FUNCTION %s', p.oid::REGPROCEDURE) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname IN ('log', 'core', 'knowledge', 'embedding', 'memory', 'seal', 'auth')
        UNION ALL
        SELECT format('DOMAIN %s', t.oid::REGTYPE) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE n.nspname IN ('log') AND t.typtype = 'd'
        UNION ALL
        SELECT format('TYPE %s', t.oid::REGTYPE) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE n.nspname IN ('log') AND t.typtype = 'e'
    LOOP
        EXECUTE format('ALTER %s OWNER TO cm_owner', o.named);
    END LOOP;
    FOR o IN SELECT c.oid::REGCLASS AS named FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'embedding' AND c.relkind IN ('r', 'p') AND c.relname ~ '^dense(_[0-9]+)?$'
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO cm_writer', o.named);
    END LOOP;
END $$;

-- What an older version has granted is gone, with rights to columns. Tables of dense vectors are the writer's own.
REVOKE ALL ON ALL TABLES IN SCHEMA log, core, knowledge, memory, seal, auth FROM cm_writer, cm_reader;
GRANT USAGE ON SCHEMA log, core, knowledge, embedding, memory, seal, auth TO cm_writer, cm_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA log, core, knowledge, embedding, memory, seal TO cm_writer, cm_reader;
GRANT SELECT ON public.ia_nest_events TO cm_writer, cm_reader;
GRANT INSERT ON public.ia_nest_events TO cm_writer;
GRANT SELECT ON public.goose_db_version TO cm_writer;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA auth TO cm_writer;

GRANT INSERT ON log.messages, log.message_refs, log.append_keys, knowledge.records, memory.selections, memory.quarantines, log.audit_sessions TO cm_writer;
GRANT UPDATE ON memory.quarantines TO cm_writer;
GRANT INSERT, UPDATE, DELETE ON memory.conversations, memory.tools TO cm_writer;
GRANT INSERT, UPDATE (version, used), DELETE ON memory.windows TO cm_writer;
GRANT INSERT, DELETE ON memory.window_items TO cm_writer;
GRANT INSERT, UPDATE (windows), DELETE ON memory.segments TO cm_writer;
GRANT INSERT ON memory.segment_windows, memory.scratchpad, memory.window_overruled TO cm_writer;
GRANT UPDATE (place) ON memory.scratchpad TO cm_writer; -- to lock an entry; nobody can update that column
GRANT INSERT, UPDATE (overruled) ON memory.window_operations TO cm_writer;
GRANT USAGE ON SEQUENCE log.message_id TO cm_writer;
GRANT EXECUTE ON FUNCTION log.erase TO cm_writer;
GRANT EXECUTE ON FUNCTION log.absent, log.threads_between, memory.quarantined_turns TO cm_writer, cm_reader;
GRANT INSERT, UPDATE ON core.players, core.hashtags, core.flags, core.items, core.locations, core.names TO cm_writer;
GRANT INSERT ON seal.leaves, seal.tiles, seal.trees, seal.logs, seal.checkpoints, seal.cosignatures TO cm_writer;
GRANT INSERT, DELETE ON seal.outbox TO cm_writer;
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA embedding TO cm_writer, cm_owner;
GRANT SELECT ON ALL TABLES IN SCHEMA embedding TO cm_owner;
GRANT CREATE ON SCHEMA embedding TO cm_writer;

-- Whoever sees everything has a policy of their own, which costs nothing.
DO $$
DECLARE
    p RECORD;
BEGIN
    FOR p IN SELECT c.oid::REGCLASS AS named, c.relname FROM pg_class c WHERE c.relrowsecurity LOOP
        EXECUTE format('DROP POLICY IF EXISTS everything ON %s', p.named);
        EXECUTE format('CREATE POLICY everything ON %s TO cm_writer, cm_reader USING (TRUE) WITH CHECK (TRUE)', p.named);
    END LOOP;
END $$;
