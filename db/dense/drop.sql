DROP INDEX IF EXISTS embedding.dense_{model}_hnsw
