-- The checkpoints of sizes from behind $1 to $2, each with its cosignatures; with $3, those of sizes that are not from 1
-- to $2, at most 1,000 of them.
SELECT COALESCE(c.origin, '') AS origin, COALESCE(c.size, 0) AS size, c.root::TEXT, COALESCE(c.note, '') AS note,
    CASE WHEN isfinite(c.signed_at) THEN c.signed_at ELSE 'epoch' END AS signed_at, w.witnesses, w.lines
FROM seal.checkpoints c
LEFT JOIN LATERAL (
    SELECT array_agg(COALESCE(s.witness, '') ORDER BY s.signed_at, s.witness) AS witnesses,
        array_agg(COALESCE(s.line, '') ORDER BY s.signed_at, s.witness) AS lines
    FROM seal.cosignatures s WHERE s.origin = c.origin AND s.size = c.size
) w ON TRUE
WHERE CASE WHEN $3::BOOLEAN THEN (c.size BETWEEN 1 AND $2) IS NOT TRUE ELSE c.size > $1 AND c.size <= $2 END
ORDER BY c.size, c.origin LIMIT CASE WHEN $3 THEN 1000 END;
