package db_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
)

// The logins of a Postgres that is the server's own may change and take away nothing of the log, of records and of the seal,
// whatever an older version has granted.
func TestOwnLoginsChangeNoLog(t *testing.T) {
	t.Parallel()
	_, at := open(t)
	openOwn(t, at)
	conn := superuser(t, at)
	mustExec(t, conn, "GRANT UPDATE (content), DELETE ON log.messages TO cm_writer; GRANT TRUNCATE ON seal.leaves TO cm_reader")
	mustExec(t, conn, "COMMENT ON TABLE log.members IS 'fence of an older version'")
	openOwn(t, at)
	rows, err := conn.Query(t.Context(), `SELECT format('%s: %s %s', r.name, p.name, c.oid::REGCLASS)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, unnest($1::TEXT[]) AS r (name),
			unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS p (name)
		WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('log', 'knowledge', 'seal')
			AND (has_table_privilege(r.name, c.oid, p.name) OR p.name = 'UPDATE' AND has_any_column_privilege(r.name, c.oid, p.name))
		ORDER BY 1`, []string{db.WriterRole, db.ReaderRole, "cm_player"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := []string{"cm_writer: DELETE seal.outbox"}; err != nil || !slices.Equal(got, want) { // what waits for the seal, and nothing that is sealed
		t.Errorf("rights to change are %q, %v; want %q", got, err, want)
	}
}
