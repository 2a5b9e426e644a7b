-- What the cosines of a dense model are worth: see ranking.Unrelated.

-- +goose Up
SET LOCAL lock_timeout = '5s'; -- see 00011_lexical.sql

ALTER TABLE embedding.models
    ADD COLUMN unrelated_median FLOAT8, -- of the cosines of what is unrelated; NULL until it was measured
    ADD COLUMN unrelated_spread FLOAT8 CHECK (unrelated_spread > 0),
    ADD CONSTRAINT models_unrelated CHECK ((unrelated_median IS NULL) = (unrelated_spread IS NULL));
