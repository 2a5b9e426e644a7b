package db_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestZZExplain(t *testing.T) {
	store, url := open(t)
	v := newVocabulary(5000, 3)
	crowd(t, store, v, 10_000)
	mustAppend(t, store, from(hashOf("few"), "s3", "named once"))
	conn := superuser(t, url)
	mustExec(t, conn, "VACUUM ANALYZE")
	for _, sql := range []string{
		"SELECT m.* FROM log.messages m WHERE m.thread_hash = '" + hashOf("session:s3").String() + "' AND EXISTS (SELECT FROM log.members v WHERE v.player = '" + hashOf("a").String() + "' AND v.session_hash = m.session_hash) ORDER BY m.created_at, m.id LIMIT 51",
		"SELECT m.* FROM log.messages m WHERE m.session_hash = ANY (ARRAY(SELECT v.session_hash::CHAR(64) FROM log.members v WHERE v.player = '" + hashOf("a").String() + "')) ORDER BY m.id DESC LIMIT 51",
		"SELECT count(*) FROM log.messages",
	} {
		err := inRole(t, conn, hashOf("a"), func(tx pgx.Tx) error {
			rows, err := tx.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS) "+sql)
			if err != nil {
				return err
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			for _, l := range lines {
				t.Log(l)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
