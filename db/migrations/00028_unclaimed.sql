-- Nobody tells an event as if an administrator had written it for another.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- As in 00027_events_told.sql, but for the end of the source, which internal/chain/acting.go keeps from everybody in the same way.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.check_event(e public.ia_nest_events) RETURNS VOID LANGUAGE plpgsql STABLE AS $$
DECLARE
    wrong TEXT;
BEGIN
    SELECT c.field || ' ' || c.problem INTO wrong FROM (VALUES
        ('id', 'is given by the log', e.id IS NULL),
        ('source', 'is missing, or has more than 200 bytes', octet_length(e.source) BETWEEN 1 AND 200),
        ('source', 'ends in "; by " and a hash, which is the mark of administrators who act for others', e.source !~* '\yby\y\W*[0-9a-f]{64}\W*$'),
        ('agent', 'is missing, or has more than 200 bytes', octet_length(e.agent) BETWEEN 1 AND 200),
        ('user_id', 'is missing, or has more than 200 bytes', octet_length(e.user_id) BETWEEN 1 AND 200),
        ('user_id', 'begins with "client:" or "admin:", which is for users of conversations', e.user_id !~ '^(client|admin):'),
        ('thread_id', 'is missing, or has more than 200 bytes', octet_length(e.thread_id) BETWEEN 1 AND 200),
        ('event_type', 'is none of message, error, system, tool', e.event_type IN ('message', 'error', 'system', 'tool')),
        ('role', 'is none of user, assistant, system, tool', e.role IN ('user', 'assistant', 'system', 'tool')),
        ('importance', 'is outside of 0 to 2', e.importance BETWEEN 0 AND 2),
        ('tags', 'are more than 256, or one of them is empty or has more than 200 bytes', cardinality(e.tags) <= 256
            AND NOT EXISTS (SELECT FROM unnest(e.tags) AS t (tag) WHERE (octet_length(t.tag) BETWEEN 1 AND 200) IS NOT TRUE)),
        ('content', 'is missing', e.content <> ''),
        ('content', 'has more than 1048576 bytes', octet_length(e.content) <= 1048576),
        ('payload', 'is not a JSON object', jsonb_typeof(e.payload) = 'object'),
        ('payload', 'has more than 1048576 bytes as text', octet_length(e.payload::TEXT) <= 1048576),
        ('payload', 'has a message id of more than 215 bytes', COALESCE(octet_length(log.event_key(e, '')), 0) <= 224),
        ('channel', 'has more than 256 bytes', e.channel IS NULL OR octet_length(e.channel) <= 256),
        ('created_at', 'is more than five minutes ahead, or infinite', e.created_at IS NULL
            OR isfinite(e.created_at) AND e.created_at <= clock_timestamp() + INTERVAL '5 minutes'),
        ('created_at', 'is before the year 1', e.created_at IS NULL OR e.created_at >= '0001-01-01 00:00:00+00')
    ) AS c (field, problem, ok) WHERE c.ok IS NOT TRUE LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'ia_nest_events.%', wrong USING ERRCODE = 'check_violation', COLUMN = split_part(wrong, ' ', 1);
    END IF;
END $$;
-- +goose StatementEnd
