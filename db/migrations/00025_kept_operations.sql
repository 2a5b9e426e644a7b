-- What windows keep of their past is bounded: not only what they did not take, but also what made way, and what judges said.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

DROP TRIGGER keep_drafts ON memory.window_operations;
DROP FUNCTION memory.keep_drafts();
DROP INDEX memory.window_operations_drafts;

-- Most operations carry less, and are neither in here nor gone through; what they carry is as long as the row itself.
CREATE INDEX window_operations_heavy ON memory.window_operations (window_id, place)
    WHERE draft IS NOT NULL OR octet_length(superseded::TEXT) + octet_length(judgements::TEXT) > 2048;

-- Of a window's operations that carry much, the newest 1,000 keep it, as far as it is 16 MiB: else whoever writes what is rejected, or
-- to one slot again and again, fills the disk. What judges said of an operation that was overruled stays: by it, erasing finds the
-- pairs to forget.
-- +goose StatementBegin
CREATE FUNCTION memory.keep_heavy() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    UPDATE memory.window_operations o SET draft = NULL, superseded = '[]', judgements = CASE WHEN o.overruled IS NULL THEN '[]' ELSE o.judgements END
    FROM (
        SELECT h.id, row_number() OVER w AS n, sum(COALESCE(pg_column_size(h.draft), 0) + pg_column_size(h.superseded) + pg_column_size(h.judgements)) OVER w AS bytes
        FROM memory.window_operations h
        WHERE h.window_id = NEW.window_id AND (h.draft IS NOT NULL OR octet_length(h.superseded::TEXT) + octet_length(h.judgements::TEXT) > 2048)
        WINDOW w AS (ORDER BY h.place DESC)
    ) k WHERE k.id = o.id AND (k.n > 1000 OR k.bytes > 16 * 1024 * 1024) AND k.n > 1 AND (o.overruled IS NULL OR o.draft IS NOT NULL OR o.superseded <> '[]');
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER keep_heavy AFTER INSERT ON memory.window_operations FOR EACH ROW
    WHEN (NEW.draft IS NOT NULL OR octet_length(NEW.superseded::TEXT) + octet_length(NEW.judgements::TEXT) > 2048) EXECUTE FUNCTION memory.keep_heavy();
ALTER TABLE memory.window_operations ENABLE ALWAYS TRIGGER keep_heavy;
