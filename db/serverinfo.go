package db

import (
	"context"

	"github.com/tzzr/context-manager/db/dbgen"
)

// Facts are what the server's database is.
type Facts struct {
	Version, Pgvector string
	Migration         int64 // the last that was applied
	Bytes             int64 // on disk
	Roles             []RoleFacts
}

// RoleUse says what the server does as a role.
type RoleUse string

// The uses.
const (
	RoleWrites RoleUse = "write"
	RoleReads  RoleUse = "read"
	RolePlayer RoleUse = "player"
)

// RoleFacts are what binds a role of the database.
type RoleFacts struct {
	Name                string
	Use                 RoleUse
	Superuser, Bypasses bool // row-level security
}

const migrationSQL = "SELECT max(version_id) FROM goose_db_version WHERE is_applied"

// Facts gives what the database is.
func (d *DB) Facts(ctx context.Context) (Facts, error) {
	row, err := d.queries().DatabaseFacts(ctx)
	if err != nil {
		return Facts{}, mapError(err)
	}
	facts := Facts{Version: row.Version, Pgvector: row.Pgvector, Bytes: row.Bytes}
	if err := d.pool.QueryRow(ctx, migrationSQL).Scan(&facts.Migration); err != nil {
		return Facts{}, mapError(err)
	}
	facts.Roles, err = d.roles(ctx)
	return facts, mapError(err)
}

func (d *DB) roles(ctx context.Context) ([]RoleFacts, error) {
	writer, err := d.queries().RoleFacts(ctx)
	if err != nil {
		return nil, err
	}
	reader, err := dbgen.New(d.reads).RoleFacts(ctx)
	if err != nil {
		return nil, err
	}
	roles := []RoleFacts{{writer.Name, RoleWrites, writer.Superuser, writer.Bypasses}, {reader.Name, RoleReads, reader.Superuser, reader.Bypasses}}
	players, err := d.queries().PlayerRoleFacts(ctx)
	for _, p := range players {
		roles = append(roles, RoleFacts{p.Name, RolePlayer, p.Superuser, p.Bypasses})
	}
	return roles, err
}
