-- Which passages a sample has, told by an index alone: their terms the server remembers.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql
CREATE INDEX lexical_drawn ON embedding.lexical (draw, kind, source_id) WHERE draw >= 3;
DROP INDEX embedding.lexical_draw;
-- An index tells alone what is there as far as VACUUM has been through the table.
ALTER TABLE embedding.lexical SET (autovacuum_vacuum_insert_scale_factor = 0.02);
