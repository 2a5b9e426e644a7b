CREATE INDEX CONCURRENTLY dense_{model}_hnsw ON embedding.dense_{model} USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)
