-- The role that players read as, and what it may see: row-level security behind the predicates of the store. With EXISTS a policy is
-- asked row by row or, where the planner expects many, by hash of a list that is made once a statement: as an array, = ANY, it would
-- lead the planner to go through all that a player sees for every page of a thread. Applied anew whenever this changes.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cm_player') THEN
        CREATE ROLE cm_player NOLOGIN;
    END IF;
    -- From Postgres 16 on, who made a role is a member who may not take it on, but may give that to themself.
    IF NOT pg_has_role(current_user, 'cm_player', CASE WHEN current_setting('server_version_num')::INT < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT cm_player TO %I', current_user);
    END IF;
END $$;

-- Whoever may execute a trigger's function may put it on a table of their own and feed it rows: none that has its owner's
-- rights is for all.
DO $$
DECLARE
    f REGPROCEDURE;
BEGIN
    FOR f IN SELECT p.oid::REGPROCEDURE FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.prosecdef AND n.nspname IN ('log', 'core', 'knowledge', 'embedding', 'memory', 'seal', 'auth')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
    END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION log.players_known_to, log.some_players_known_to, log.threads_between, memory.quarantined_turns TO cm_player;

GRANT USAGE ON SCHEMA log, core, knowledge, memory TO cm_player;
REVOKE SELECT ON core.players FROM cm_player;
GRANT SELECT (hash, namespace, key, name, description, data) ON core.players TO cm_player; -- not preferences
GRANT SELECT ON log.messages, log.message_refs, log.members, log.players_known, log.messages_v7, core.hashtags, core.flags, core.items,
    core.locations, core.components, knowledge.records, memory.selections, memory.conversations, memory.windows, memory.segments, memory.segment_windows, memory.window_items,
    memory.scratchpad, memory.tools, memory.window_operations, memory.window_overruled TO cm_player;

DO $$
DECLARE
    p RECORD;
BEGIN
    FOR p IN SELECT * FROM (VALUES
        ('log', 'messages', 'EXISTS (SELECT FROM log.members v WHERE v.player = log.viewer() AND v.session_hash = messages.session_hash)'),
        ('log', 'message_refs', 'EXISTS (SELECT FROM log.messages m WHERE m.hash = message_hash)'),
        ('log', 'members', 'player = log.viewer()'),
        ('core', 'players', 'hash = log.viewer() OR EXISTS (SELECT FROM log.players_known k WHERE k.player = hash)'),
        ('memory', 'selections', 'viewer = log.viewer()'),
        ('memory', 'conversations', 'log.viewer() IN (assistant, person)'),
        ('memory', 'windows', 'agent = log.viewer()'),
        ('memory', 'segment_windows', 'EXISTS (SELECT FROM memory.windows w WHERE w.id = window_id)'),
        ('memory', 'segments', 'EXISTS (SELECT FROM memory.segment_windows s WHERE s.segment_id = segments.id)'),
        ('memory', 'window_items', 'EXISTS (SELECT FROM memory.windows w WHERE w.id = window_id) OR EXISTS (SELECT FROM memory.segment_windows s WHERE s.segment_id = window_items.segment_id)'),
        ('memory', 'scratchpad', 'EXISTS (SELECT FROM memory.windows w WHERE w.id = window_id)'),
        ('memory', 'tools', 'EXISTS (SELECT FROM memory.windows w WHERE w.id = window_id)'),
        ('memory', 'window_operations', 'EXISTS (SELECT FROM memory.windows w WHERE w.id = window_id) OR window_operations.agent = log.viewer()'),
        ('memory', 'window_overruled', 'EXISTS (SELECT FROM memory.windows w WHERE w.id = window_id)')
    ) AS v (of_schema, of_table, seen)
    LOOP
        EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', p.of_schema, p.of_table);
        EXECUTE format('DROP POLICY IF EXISTS player ON %I.%I', p.of_schema, p.of_table);
        EXECUTE format('CREATE POLICY player ON %I.%I FOR SELECT TO cm_player USING (%s)', p.of_schema, p.of_table, p.seen);
    END LOOP;
END $$;
