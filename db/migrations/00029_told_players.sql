-- What functions with their owner's rights tell players: of quarantines, only those of messages that they see; and nothing of
-- anybody's sessions to a player's role in nobody's name. The server's own logins, which have no player, are told all.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- Whether functions with their owner's rights answer for a player: to the server itself, which asks in nobody's name, and to
-- a player's role in the name of that player.
CREATE FUNCTION log.may_ask_for(viewer CHAR(64)) RETURNS BOOLEAN LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN log.viewer() IS NULL THEN 'cm_player' NOT IN (current_setting('role'), session_user) ELSE log.viewer() IS NOT DISTINCT FROM viewer END;

-- As in 00023_quarantined_turns.sql, for players of the messages that they see: whoever else asks with a hash that they have
-- heard of does not learn that it is in quarantine, nor that it is there.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION memory.quarantined_turns(history JSONB) RETURNS TEXT[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    viewer CHAR(64);
BEGIN
    IF NOT EXISTS (SELECT FROM memory.quarantines q WHERE q.released_at IS NULL) THEN
        RETURN '{}';
    END IF;
    viewer := log.viewer();
    IF viewer IS NULL AND NOT log.may_ask_for(NULL) THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT q.message::TEXT FROM memory.quarantines q
        WHERE q.released_at IS NULL AND q.message = ANY (ARRAY(
                SELECT CAST(t.turn ->> 'message' AS CHAR(64)) FROM jsonb_array_elements(history) AS t (turn)))
            AND (viewer IS NULL OR EXISTS (SELECT FROM log.messages m JOIN log.members v ON v.session_hash = m.session_hash
                WHERE m.hash = q.message AND v.player = viewer)));
END $$;
-- +goose StatementEnd

-- As in 00014_members.sql, and nothing to a player's role in nobody's name.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.players_known_to(viewer CHAR(64), wanted CHAR(64)[]) RETURNS CHAR(64)[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF NOT log.may_ask_for(viewer) THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT DISTINCT o.player::CHAR(64) FROM log.members v JOIN log.members o ON o.session_hash = v.session_hash
        WHERE v.player = viewer AND (wanted IS NULL OR o.player = ANY (wanted)) AND (o.player = viewer OR o.named_by <> viewer
            OR EXISTS (SELECT FROM log.messages m WHERE m.session_hash = o.session_hash AND m.owner_id = o.player)));
END $$;
-- +goose StatementEnd

-- As in 00018_total_players.sql, likewise.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.some_players_known_to(viewer CHAR(64), sessions INT, places INT, OUT players CHAR(64)[], OUT more BOOLEAN)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF NOT log.may_ask_for(viewer) THEN
        players := '{}';
        more := FALSE;
        RETURN;
    END IF;
    SELECT COALESCE(array_agg(DISTINCT x.player) FILTER (WHERE x.known), '{}'), count(*) > places INTO players, more
    FROM (
        SELECT o.player::CHAR(64) AS player, (o.player = viewer OR o.named_by <> viewer OR EXISTS (
            SELECT FROM log.messages m WHERE m.session_hash = o.session_hash AND m.owner_id = o.player)) AS known
        FROM (SELECT v.session_hash FROM log.members v WHERE v.player = viewer LIMIT sessions) s
        JOIN log.members o ON o.session_hash = s.session_hash LIMIT places + 1) x;
END $$;
-- +goose StatementEnd
