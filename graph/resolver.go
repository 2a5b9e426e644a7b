// Package graph is the GraphQL API: one resolver file a domain of the schema, the guard in front of them, and
// how faults become errors. It never speaks SQL; the store is package db.
package graph

import (
	"context"
	"log/slog"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
)

// Resolver holds what the resolvers need.
type Resolver struct {
	Store *db.DB // all of it: what callers ask for goes through view
	Log   *slog.Logger
	About *About // nil: the server does not tell of itself
}

// view gives the store as the caller sees it: all of it to administrators, whose reading goes on record, nothing to
// nobody.
func (r *Resolver) view(ctx context.Context) *db.DB {
	switch caller, err := auth.From(ctx); {
	case err != nil:
		return r.Store.As(chain.Hash{})
	case caller.IsAdmin():
		return r.Store.AsAdministrator(caller, readingFrom(ctx))
	default:
		return r.Store.As(caller.Player)
	}
}
