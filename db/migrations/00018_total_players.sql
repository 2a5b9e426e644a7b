-- A player's total of players has a bound, as their other totals have.

-- +goose Up
-- Who of the first so many places in the first so many sessions of a viewer is known to them, as log.players_known_to has it;
-- more: there are other places.
-- +goose StatementBegin
CREATE FUNCTION log.some_players_known_to(viewer CHAR(64), sessions INT, places INT, OUT players CHAR(64)[], OUT more BOOLEAN)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    IF log.viewer() <> viewer THEN
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
