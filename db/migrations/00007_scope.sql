-- +goose Up
-- Which messages a scope holds: the one definition for lists, counts and searches. A NULL does not narrow.
-- Written so that the planner takes it apart: with the arguments at hand every NULL falls away.
CREATE FUNCTION log.in_scope(
    sessions CHAR(64)[], threads CHAR(64)[], players CHAR(64)[], owners CHAR(64)[], hashtags CHAR(64)[],
    flags CHAR(64)[], items CHAR(64)[], locations CHAR(64)[], event_types TEXT[],
    since TIMESTAMPTZ, until TIMESTAMPTZ
) RETURNS SETOF log.messages LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT m.* FROM log.messages m
    WHERE ($1 IS NULL OR m.session_hash = ANY ($1))
        AND ($2 IS NULL OR m.thread_hash = ANY ($2))
        AND ($3 IS NULL OR m.owner_id = ANY ($3) OR m.players_id && $3 OR m.master_player = ANY ($3))
        AND ($4 IS NULL OR m.owner_id = ANY ($4))
        AND ($5 IS NULL OR m.hashtags && $5)
        AND ($6 IS NULL OR m.flag_id = ANY ($6))
        AND ($7 IS NULL OR m.item_id && $7 OR m.master_item_id = ANY ($7))
        AND ($8 IS NULL OR m.loc_id = ANY ($8))
        AND ($9 IS NULL OR m.event_type = ANY ($9::log.event_type[]))
        AND ($10 IS NULL OR m.created_at >= $10)
        AND ($11 IS NULL OR m.created_at < $11)
$$;

-- The passages of the messages and records that a scope holds. Only one of the first two branches is ever left in
-- a plan: the whole log needs no look at the messages.
CREATE FUNCTION embedding.in_scope(
    sessions CHAR(64)[], threads CHAR(64)[], players CHAR(64)[], owners CHAR(64)[], hashtags CHAR(64)[],
    flags CHAR(64)[], items CHAR(64)[], locations CHAR(64)[], event_types TEXT[],
    since TIMESTAMPTZ, until TIMESTAMPTZ,
    messages BOOLEAN, narrowed BOOLEAN, record_kinds TEXT[]
) RETURNS SETOF embedding.lexical LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT l.* FROM embedding.lexical l WHERE $12 AND NOT $13 AND l.kind = 'context'
    UNION ALL
    SELECT l.* FROM embedding.lexical l
    JOIN log.in_scope($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) m ON m.id = l.source_id
    WHERE $12 AND $13 AND l.kind = 'context'
    UNION ALL
    SELECT l.* FROM embedding.lexical l
    WHERE l.kind <> 'context' AND l.kind = ANY ($14::log.ref_type[])
        AND ($10 IS NULL AND $11 IS NULL OR EXISTS (
            SELECT FROM knowledge.records r WHERE r.id = l.source_id
                AND ($10 IS NULL OR r.created_at >= $10) AND ($11 IS NULL OR r.created_at < $11)))
$$;
