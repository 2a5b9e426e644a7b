SELECT set_config('hnsw.ef_search', $1, TRUE), set_config('hnsw.iterative_scan', 'relaxed_order', TRUE)
