SELECT p.preferences FROM core.players p WHERE p.hash = CAST($1::TEXT AS CHAR(64))
