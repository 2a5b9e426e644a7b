package db

import (
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

//go:embed append/began.sql
var beganSQL string

func (p *appendPlan) readBegan(rows pgx.Rows) error {
	var session, owner chain.Hash
	_, err := pgx.ForEachRow(rows, []any{&session, &owner}, func() error {
		p.began[session] = owner
		return nil
	})
	return err
}

// beganAmong tells whether one of those whom an event is between has begun its session: whoever knew what the session would
// be called could else begin it before, and read what is delivered to it.
func (p *appendPlan) beganAmong(d *chain.Draft) bool {
	owner, known := p.began[d.SessionHash]
	return known && (owner == d.OwnerID || slices.Contains(d.PlayerIDs, owner))
}
