// Package graph is the GraphQL API: one resolver file a domain of the schema, the guard in front of them, and
// how faults become errors. It never speaks SQL; the store is package db.
package graph

import (
	"log/slog"

	"github.com/tzzr/context-manager/db"
)

// Resolver holds what the resolvers need.
type Resolver struct {
	Store *db.DB
	Log   *slog.Logger
}
