-- One function tells which ids may still get a message: log.absent, planned once, as log.absent_up_to was, and with its owner's rights.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log.absent(upto BIGINT) RETURNS BIGINT[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT log.is_written() THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(
        SELECT i.id FROM generate_series(GREATEST(upto - 4095, 1), upto) AS i (id)
        EXCEPT SELECT m.id FROM log.messages m WHERE m.id BETWEEN upto - 4095 AND upto ORDER BY id);
END $$;
-- +goose StatementEnd
DROP FUNCTION log.absent_up_to(BIGINT);
