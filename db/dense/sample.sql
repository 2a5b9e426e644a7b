ALTER INDEX embedding.dense_{model}_hnsw ALTER COLUMN 1 SET STATISTICS 0
