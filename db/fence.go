package db

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The roles of the database, and what they may do. docs/authorization.md has the table.
var (
	//go:embed fence/player.sql
	playerRoleSQL string
	//go:embed fence/logins.sql
	loginRolesSQL string
)

// Logins of a Postgres that is the server's own.
const (
	WriterRole = "cm_writer" // the server's work and appends
	ReaderRole = "cm_reader" // what callers read
)

const (
	// From Postgres 16 on, who may make roles may give away only those that they made themself.
	mayMakeRolesSQL = `SELECT m.rolsuper OR m.rolcreaterole AND (current_setting('server_version_num')::INT < 160000 OR ` + mayBecomeSQL + `
		OR COALESCE((SELECT pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION') FROM pg_roles r WHERE r.rolname = 'cm_player'), TRUE))
		FROM pg_roles m WHERE m.rolname = current_user`
	// mayBecomeSQL tells whether the login may read as players do. From Postgres 16 on, who made a role is a member, and need
	// not be one who may take it on.
	mayBecomeSQL = `COALESCE((SELECT pg_has_role(r.oid, CASE WHEN current_setting('server_version_num')::INT < 160000 THEN 'MEMBER' ELSE 'SET' END)
		FROM pg_roles r WHERE r.rolname = 'cm_player'), FALSE)`
	// The mark of what was applied stands with a table of its own database: roles are shared by all of a Postgres.
	fenceMarkSQL    = "SELECT COALESCE(obj_description('log.members'::REGCLASS), '') = $1 AND " + mayBecomeSQL
	setFenceMarkSQL = "COMMENT ON TABLE log.members IS '%s'"
	fenceLockSQL    = "SELECT pg_advisory_xact_lock(x'636d6663'::BIGINT)" // it spells "cmfc"
)

// fenceTries bounds how often roles are made again that other databases of the same Postgres are making.
const fenceTries = 10

// raiseFence makes the roles and the policies, if the login may and they are not there as they are now. With logins, the
// server's own Postgres gets its owner, writer and reader, too.
func raiseFence(ctx context.Context, config *pgx.ConnConfig, logins bool) error {
	conn, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return mapError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var may bool
	if err := conn.QueryRow(ctx, mayMakeRolesSQL).Scan(&may); err != nil || !may {
		return mapError(err)
	}
	sql := playerRoleSQL
	if logins {
		sql += loginRolesSQL
	}
	var version int64 // what a migration has added since has rights to be given and taken as well
	if err := conn.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version); err != nil {
		return mapError(err)
	}
	sum := sha256.Sum256([]byte(sql))
	mark := fmt.Sprintf("fence %d %x", version, sum)
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, fenceLockSQL); err != nil {
				return err
			}
			var there bool
			if err := tx.QueryRow(ctx, fenceMarkSQL, mark).Scan(&there); err != nil || there {
				return err
			}
			if _, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil { // many statements
				return err
			}
			_, err := tx.Exec(ctx, fmt.Sprintf(setFenceMarkSQL, mark))
			return err
		})
		if err == nil || try == fenceTries || !madeAtOnce(err) {
			return mapError(err)
		}
	}
}

// madeAtOnce says that another database's migration changed the same roles.
func madeAtOnce(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "23505" || pg.Code == "42710" || pg.Code == "XX000" || pg.Code == "40P01")
}
