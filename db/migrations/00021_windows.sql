-- What agents' models are to see, kept in shape: internal/window decides, this keeps. docs/windows.md.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

CREATE TABLE memory.windows (
    id         UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    name       TEXT NOT NULL,
    agent      CHAR(64) COLLATE "C" NOT NULL, -- whose it is; a domain would have every row read
    task       TEXT NOT NULL DEFAULT '',
    capacity   INT NOT NULL,
    encoding   TEXT NOT NULL,
    used       INT NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND capacity), -- memory.window_used, kept by whoever changes it. The one check, since each is read anew at every write
    version    BIGINT NOT NULL DEFAULT 0, -- of what is in it: who writes says which one they have seen
    created_at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX windows_agent ON memory.windows (agent, created_at, id);
CREATE INDEX windows_created_at ON memory.windows (created_at, id);

-- What several windows see. Who changes it changes the version of each of them.
CREATE TABLE memory.segments (
    id         UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    name       TEXT NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 256),
    windows    INT NOT NULL CHECK (windows > 0), -- how many see it: players see the rows of their own only
    created_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE memory.segment_windows (
    segment_id UUID NOT NULL REFERENCES memory.segments (id) ON DELETE CASCADE,
    window_id  UUID NOT NULL REFERENCES memory.windows (id) ON DELETE CASCADE,
    PRIMARY KEY (window_id, segment_id)
);
CREATE INDEX segment_windows_segment ON memory.segment_windows (segment_id);

CREATE TABLE memory.window_items (
    id          TEXT COLLATE "C" PRIMARY KEY,
    window_id   UUID, -- no foreign key: whoever writes to a window has locked it, and memory.end_window clears up
    segment_id  UUID REFERENCES memory.segments (id) ON DELETE CASCADE,
    place       BIGINT NOT NULL,
    type        TEXT NOT NULL,
    key         TEXT NOT NULL,
    content     TEXT NOT NULL,
    tokens      INT NOT NULL,
    quality     JSONB NOT NULL,
    verified_by CHAR(64) COLLATE "C",
    source      CHAR(64) COLLATE "C",
    source_type log.ref_type,
    observed_at TIMESTAMPTZ NOT NULL,
    added_at    TIMESTAMPTZ NOT NULL,
    summary_of  TEXT[] NOT NULL,
    injected    BOOLEAN NOT NULL,
    CHECK (tokens >= 0 AND (window_id IS NULL) <> (segment_id IS NULL) AND (source IS NULL) = (source_type IS NULL))
);
CREATE INDEX window_items_window ON memory.window_items (window_id, place) WHERE window_id IS NOT NULL;
CREATE INDEX window_items_segment ON memory.window_items (segment_id, place) WHERE segment_id IS NOT NULL;
CREATE INDEX window_items_source ON memory.window_items (source) WHERE source IS NOT NULL;

-- What was put aside: under the id that it had in the window, and may have there again.
CREATE TABLE memory.scratchpad (
    id          TEXT COLLATE "C" PRIMARY KEY,
    place       BIGINT GENERATED ALWAYS AS IDENTITY,
    window_id   UUID NOT NULL, -- no foreign key, as above
    type        TEXT NOT NULL,
    key         TEXT NOT NULL,
    content     TEXT NOT NULL,
    tokens      INT NOT NULL,
    source      CHAR(64) COLLATE "C",
    source_type log.ref_type,
    observed_at TIMESTAMPTZ NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL
) WITH (toast_tuple_target = 4080); -- to compress a text of a page took longer than to write it
CREATE INDEX scratchpad_window ON memory.scratchpad (window_id, place);
CREATE INDEX scratchpad_source ON memory.scratchpad (source) WHERE source IS NOT NULL;

CREATE TABLE memory.tools (
    window_id   UUID NOT NULL REFERENCES memory.windows (id) ON DELETE CASCADE,
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    schema      JSONB NOT NULL,
    tokens      INT NOT NULL CHECK (tokens >= 0),
    shown       BOOLEAN NOT NULL,
    PRIMARY KEY (window_id, name)
);

-- What was done to a window, in the same transaction. Once a window is deleted, what figures need is left, without any text.
CREATE TABLE memory.window_operations (
    id            UUID PRIMARY KEY DEFAULT gen_random_uuid(), -- random, since a place would say how many others there are
    place         BIGINT GENERATED ALWAYS AS IDENTITY,
    window_id     UUID, -- NULL: it is deleted. No foreign key, as above
    agent         CHAR(64) COLLATE "C", -- whose it was
    kind          TEXT NOT NULL,
    at            TIMESTAMPTZ NOT NULL,
    by_player     CHAR(64) COLLATE "C", -- NULL: the log
    capacity      INT NOT NULL,
    tokens_before INT NOT NULL,
    tokens_after  INT NOT NULL,
    took_us       INT NOT NULL,
    type          TEXT,
    draft         JSONB, -- what was to enter and did not, so that an administrator can let it in
    query         TEXT,
    rejected      TEXT,
    quality       JSONB,
    mitigations   JSONB NOT NULL DEFAULT '[]',
    compression   JSONB,
    judgements    JSONB NOT NULL DEFAULT '[]',
    entered       TEXT[] NOT NULL DEFAULT '{}',
    gone          TEXT[] NOT NULL DEFAULT '{}',
    superseded    JSONB NOT NULL DEFAULT '[]', -- whole items
    put_aside     INT NOT NULL DEFAULT 0, -- entries of the scratchpad
    selection     UUID,
    sources       CHAR(64)[] NOT NULL DEFAULT '{}', -- messages that any text of this row may come from
    overruled     TEXT -- why
);
CREATE INDEX window_operations_window ON memory.window_operations (window_id, place);
CREATE INDEX window_operations_drafts ON memory.window_operations (window_id, place) WHERE draft IS NOT NULL;
CREATE INDEX window_operations_at ON memory.window_operations USING brin (at) WITH (autosummarize = on);
CREATE INDEX window_operations_agent ON memory.window_operations (agent, at) WHERE window_id IS NULL;
CREATE INDEX window_operations_sources ON memory.window_operations USING gin (sources) WHERE sources <> '{}';

-- Pairs of texts that an administrator has said do not contradict each other, by a hash of both.
CREATE TABLE memory.window_overruled (
    window_id UUID NOT NULL REFERENCES memory.windows (id) ON DELETE CASCADE,
    pair      CHAR(64) COLLATE "C" NOT NULL,
    PRIMARY KEY (window_id, pair)
);

-- ANALYZE must not keep what was said: see 00009_erase.sql.
ALTER TABLE memory.windows ALTER COLUMN task SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE memory.window_items ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE memory.scratchpad ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE memory.window_operations ALTER COLUMN draft SET STATISTICS 0, ALTER COLUMN query SET STATISTICS 0,
    ALTER COLUMN rejected SET STATISTICS 0, ALTER COLUMN mitigations SET STATISTICS 0, ALTER COLUMN judgements SET STATISTICS 0,
    ALTER COLUMN superseded SET STATISTICS 0, ALTER COLUMN overruled SET STATISTICS 0;

-- How much a window holds.
CREATE FUNCTION memory.window_used(of_window UUID) RETURNS INT LANGUAGE sql STABLE
    RETURN (
        SELECT COALESCE(sum(u.tokens), 0)::INT FROM (
            SELECT i.tokens FROM memory.window_items i WHERE i.window_id = of_window
            UNION ALL SELECT i.tokens FROM memory.segment_windows s JOIN memory.window_items i ON i.segment_id = s.segment_id WHERE s.window_id = of_window
            UNION ALL SELECT t.tokens FROM memory.tools t WHERE t.window_id = of_window AND t.shown) u);

-- Whoever puts what messages say into a window holds these locks before the window's, as erasing and quarantining do.
-- Codes CM008 and CM009.
-- +goose StatementBegin
CREATE FUNCTION memory.refuse_sources(hashes TEXT[]) RETURNS VOID LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    PERFORM log.refuse_erased('{}', hashes);
    PERFORM pg_advisory_xact_lock_shared(memory.quarantine_lock());
    IF EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL AND q.message = ANY (hashes::CHAR(64)[])) THEN
        RAISE EXCEPTION 'a message was quarantined in the meantime' USING ERRCODE = 'CM009';
    END IF;
END $$;

-- All that an operation does to a window, unless somebody has changed it since it was read, or added records to those that were
-- asked (NULL: these do not matter): then nothing, and false. Here and below most is done by one statement, whose plan is made once:
-- to plan and begin several took longer than to do what they say.
CREATE FUNCTION memory.change_window(of_window UUID, seen BIGINT, records BIGINT, op JSONB, gone TEXT[], kept JSONB, added JSONB, at TIMESTAMPTZ) RETURNS BOOLEAN LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    aside INT := 0;
BEGIN
    IF gone <> '{}' THEN
        PERFORM FROM memory.windows w WHERE w.id = of_window AND w.version = seen AND NOT EXISTS (SELECT FROM knowledge.records r WHERE r.id > records) FOR UPDATE;
        IF NOT FOUND THEN
            RETURN FALSE;
        END IF;
        DELETE FROM memory.window_items i WHERE i.id = ANY (gone);
        INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, source, source_type, observed_at, created_at)
        SELECT k.id, of_window, k.type, k.key, k.content, k.tokens, k.source, k.source_type::log.ref_type, k.observed_at, at
        FROM jsonb_to_recordset(kept) AS k (id TEXT, place BIGINT, type TEXT, key TEXT, content TEXT, tokens INT, source TEXT, source_type TEXT, observed_at TIMESTAMPTZ)
        ORDER BY k.place
        ON CONFLICT (id) DO NOTHING; -- what was injected is there
        GET DIAGNOSTICS aside = ROW_COUNT;
    END IF;
    WITH now AS (
        UPDATE memory.windows w SET version = w.version + 1, used = (op ->> 'tokens_after')::INT
        WHERE w.id = of_window AND w.version = seen AND (gone <> '{}' OR NOT EXISTS (SELECT FROM knowledge.records r WHERE r.id > records))
        RETURNING w.capacity
    ), entered AS (
        INSERT INTO memory.window_items (id, window_id, place, type, key, content, tokens, quality, verified_by, source, source_type, observed_at, added_at, summary_of, injected)
        SELECT a.id, of_window, a.place, a.type, a.key, a.content, a.tokens, a.quality, a.verified_by, a.source, a.source_type::log.ref_type, a.observed_at, a.added_at,
            a.summary_of, a.injected
        FROM now, jsonb_to_recordset(added) AS a (id TEXT, place BIGINT, type TEXT, key TEXT, content TEXT, tokens INT, quality JSONB,
            verified_by TEXT, source TEXT, source_type TEXT, observed_at TIMESTAMPTZ, added_at TIMESTAMPTZ, summary_of TEXT[], injected BOOLEAN)
    )
    INSERT INTO memory.window_operations (id, window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us, type, draft, query, rejected, quality,
        mitigations, compression, judgements, entered, gone, superseded, put_aside, selection, sources)
    SELECT o.id, of_window, o.kind, at, o.by_player, now.capacity, o.tokens_before, o.tokens_after, o.took_us, o.type, o.draft, o.query, o.rejected, o.quality,
        o.mitigations, o.compression, o.judgements, o.entered, o.gone, o.superseded, aside, o.selection, o.sources
    FROM now, jsonb_to_record(op) AS o (id UUID, kind TEXT, by_player TEXT, tokens_before INT, tokens_after INT, took_us INT, type TEXT, draft JSONB, query TEXT, rejected TEXT, quality JSONB,
        mitigations JSONB, compression JSONB, judgements JSONB, entered TEXT[], gone TEXT[], superseded JSONB, selection UUID, sources CHAR(64)[]);
    RETURN FOUND;
END $$;

-- Puts contents on the scratchpad of a window of the agent (NULL: of anybody), and notes it; false if there is none.
CREATE FUNCTION memory.offload(of_window UUID, viewer TEXT, by_player TEXT, operation UUID, ids TEXT[], contents TEXT[], tokens INT[], at TIMESTAMPTZ, took_us INT)
    RETURNS BOOLEAN LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    WITH w AS (
        SELECT o.id, o.capacity, o.used FROM memory.windows o WHERE o.id = of_window AND (viewer IS NULL OR o.agent = viewer::bpchar) FOR KEY SHARE
    ), put AS (
        INSERT INTO memory.scratchpad (id, window_id, type, key, content, tokens, observed_at, created_at)
        SELECT unnest(ids), w.id, 'knowledge', '', unnest(contents), unnest(tokens), at, at FROM w
    )
    INSERT INTO memory.window_operations (id, window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us, put_aside)
    SELECT operation, w.id, 'offload', at, by_player, w.capacity, w.used, w.used, took_us, cardinality(ids) FROM w;
    RETURN FOUND;
END $$;

-- Reads an entry of the scratchpad of a window of the agent (NULL: of anybody), and notes it.
CREATE FUNCTION memory.read_scratchpad(entry TEXT, viewer TEXT, by_player TEXT, operation UUID, at TIMESTAMPTZ) RETURNS SETOF memory.scratchpad
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY WITH e AS ( -- an entry that is being erased is waited for, and then not there
        SELECT s, w.id, w.capacity, w.used FROM memory.scratchpad s JOIN memory.windows w ON w.id = s.window_id
        WHERE s.id = entry AND (viewer IS NULL OR w.agent = viewer::bpchar) FOR KEY SHARE OF s
    ), noted AS (
        INSERT INTO memory.window_operations (id, window_id, kind, at, by_player, capacity, tokens_before, tokens_after, took_us, entered)
        SELECT operation, e.id, 'read', at, by_player, e.capacity, e.used, e.used, 0, ARRAY[entry] FROM e
    )
    SELECT (e.s).* FROM e;
END $$;

-- Takes what came from a message out of all windows, with the summaries that stand for it; for good, scratchpads and history
-- forget it as well.
CREATE FUNCTION memory.leave_windows(message CHAR(64), for_good BOOLEAN) RETURNS VOID LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    touched UUID[];
    leaving TEXT[];
    w RECORD;
BEGIN
    -- Whoever has read one of these windows, and writes to it after this, begins anew; what was written before is found below.
    touched := ARRAY(SELECT i.window_id FROM memory.window_items i WHERE i.source = message
        UNION SELECT s.window_id FROM memory.scratchpad s WHERE s.source = message
        UNION SELECT s.window_id FROM memory.window_items i JOIN memory.segment_windows s ON s.segment_id = i.segment_id WHERE i.source = message
        UNION SELECT o.window_id FROM memory.window_operations o WHERE for_good AND o.sources @> ARRAY[message] AND o.sources <> '{}'
            AND EXISTS (SELECT FROM memory.window_overruled p WHERE p.window_id = o.window_id));
    PERFORM FROM memory.windows o WHERE o.id = ANY (touched) ORDER BY o.id FOR UPDATE;
    UPDATE memory.windows o SET version = o.version + 1 WHERE o.id = ANY (touched);
    leaving := ARRAY(SELECT i.id FROM memory.window_items i WHERE i.source = message
        UNION SELECT s.id FROM memory.scratchpad s WHERE s.source = message);
    IF leaving <> '{}' THEN
        leaving := leaving || ARRAY(SELECT i.id FROM memory.window_items i WHERE i.window_id = ANY (touched) AND i.summary_of && leaving);
        FOR w IN
            SELECT o.id, o.capacity, o.used FROM memory.windows o
            WHERE o.id IN (
                SELECT i.window_id FROM memory.window_items i WHERE i.id = ANY (leaving)
                UNION SELECT s.window_id FROM memory.window_items i JOIN memory.segment_windows s ON s.segment_id = i.segment_id WHERE i.id = ANY (leaving))
            ORDER BY o.id
        LOOP
            INSERT INTO memory.window_operations (window_id, kind, at, capacity, tokens_before, tokens_after, took_us, gone)
            SELECT w.id, 'forget', clock_timestamp(), w.capacity, w.used, w.used - COALESCE(sum(i.tokens), 0), 0, array_agg(i.id)
            FROM memory.window_items i
            WHERE i.id = ANY (leaving) AND (i.window_id = w.id OR i.segment_id IN (SELECT s.segment_id FROM memory.segment_windows s WHERE s.window_id = w.id));
        END LOOP;
        WITH gone AS (SELECT i.window_id, i.segment_id, i.tokens FROM memory.window_items i WHERE i.id = ANY (leaving)), of AS (
            SELECT g.window_id AS id, g.tokens FROM gone g WHERE g.window_id IS NOT NULL
            UNION ALL SELECT s.window_id, g.tokens FROM gone g JOIN memory.segment_windows s ON s.segment_id = g.segment_id)
        UPDATE memory.windows o SET used = o.used - f.tokens FROM (SELECT of.id, sum(of.tokens)::INT AS tokens FROM of GROUP BY of.id) f WHERE f.id = o.id;
        DELETE FROM memory.window_items i WHERE i.id = ANY (leaving);
        IF for_good THEN
            DELETE FROM memory.scratchpad s WHERE s.id = ANY (leaving);
        END IF;
    END IF;
    IF for_good THEN
        -- By the hash of a pair, whoever has a guess could find out that it is right.
        DELETE FROM memory.window_overruled p USING memory.window_operations o, jsonb_array_elements(o.judgements) AS j,
            LATERAL (SELECT (j.value ->> 'known') COLLATE "C" AS known, (j.value ->> 'new') COLLATE "C" AS new) t
        WHERE o.sources @> ARRAY[message] AND o.sources <> '{}' AND p.window_id = o.window_id
            AND p.pair = encode(sha256(convert_to(LEAST(t.known, t.new), 'UTF8') || '\x00' || convert_to(GREATEST(t.known, t.new), 'UTF8')), 'hex');
        UPDATE memory.window_operations o SET draft = NULL, query = NULL, superseded = '[]',
            rejected = CASE WHEN o.rejected IS NULL THEN NULL ELSE '[erased]' END,
            mitigations = (SELECT COALESCE(jsonb_agg(m.value || '{"reason": "[erased]"}'), '[]') FROM jsonb_array_elements(o.mitigations) AS m),
            judgements = (SELECT COALESCE(jsonb_agg(j.value || '{"reason": "[erased]", "known": "[erased]", "new": "[erased]"}'), '[]') FROM jsonb_array_elements(o.judgements) AS j)
        WHERE o.sources @> ARRAY[message] AND o.sources <> '{}';
    END IF;
END $$;

CREATE FUNCTION memory.end_window() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM memory.window_items i WHERE i.window_id = OLD.id;
    DELETE FROM memory.scratchpad s WHERE s.window_id = OLD.id;
    -- After those, for which whoever reads an entry is waited for.
    UPDATE memory.window_operations o SET window_id = NULL, agent = OLD.agent, by_player = NULL, draft = NULL, query = NULL, rejected = NULL,
        mitigations = (SELECT COALESCE(jsonb_agg(jsonb_build_object('failure', m.value -> 'failure', 'action', m.value -> 'action')), '[]') FROM jsonb_array_elements(o.mitigations) AS m),
        compression = CASE WHEN o.compression IS NOT NULL THEN
            jsonb_build_object('before', o.compression -> 'before', 'after', o.compression -> 'after', 'took', o.compression -> 'took') END,
        judgements = '[]', entered = '{}', gone = '{}', superseded = '[]', selection = NULL, sources = '{}', overruled = NULL
    WHERE o.window_id = OLD.id;
    RETURN OLD;
END $$;

-- What did not enter is kept, with what judges said of it, of a window's newest 1,000, as far as it is 16 MiB: else whoever writes what
-- is rejected fills the disk.
CREATE FUNCTION memory.keep_drafts() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE memory.window_operations o SET draft = NULL, judgements = '[]' FROM (
        SELECT d.id, row_number() OVER w AS n, sum(pg_column_size(d.draft) + pg_column_size(d.judgements)) OVER w AS bytes
        FROM memory.window_operations d WHERE d.window_id = NEW.window_id AND d.draft IS NOT NULL WINDOW w AS (ORDER BY d.place DESC)
    ) k WHERE k.id = o.id AND (k.n > 1000 OR k.bytes > 16 * 1024 * 1024) AND k.n > 1;
    RETURN NULL;
END $$;

CREATE FUNCTION memory.forget_in_windows() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(log.erasure_lock()); -- log.erase holds it; an UPDATE by hand does not
    PERFORM memory.leave_windows(NEW.hash, TRUE);
    RETURN NULL;
END $$;

CREATE FUNCTION memory.quarantine_in_windows() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM memory.leave_windows(NEW.message, FALSE);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER forget_in_windows AFTER UPDATE ON log.messages FOR EACH ROW
    WHEN (OLD.content IS NOT NULL AND NEW.content IS NULL) EXECUTE FUNCTION memory.forget_in_windows();
ALTER TABLE log.messages ENABLE ALWAYS TRIGGER forget_in_windows;
CREATE TRIGGER keep_drafts AFTER INSERT ON memory.window_operations FOR EACH ROW WHEN (NEW.draft IS NOT NULL) EXECUTE FUNCTION memory.keep_drafts();
ALTER TABLE memory.window_operations ENABLE ALWAYS TRIGGER keep_drafts;
CREATE TRIGGER end_window BEFORE DELETE ON memory.windows FOR EACH ROW EXECUTE FUNCTION memory.end_window();
ALTER TABLE memory.windows ENABLE ALWAYS TRIGGER end_window;
CREATE TRIGGER quarantine_in_windows AFTER INSERT ON memory.quarantines FOR EACH ROW EXECUTE FUNCTION memory.quarantine_in_windows();
ALTER TABLE memory.quarantines ENABLE ALWAYS TRIGGER quarantine_in_windows;
