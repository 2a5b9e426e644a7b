INSERT INTO kept_selections
SELECT k.* FROM jsonb_populate_record(NULL::memory.selections, $1::JSONB || jsonb_build_object('id', gen_random_uuid())) k
