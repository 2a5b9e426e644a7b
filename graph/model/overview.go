package model

import (
	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/db"
)

// Overview is what there is, as a viewer sees it. What needs more than the totals is resolved when asked for.
type Overview struct{ db.Totals }

// MarshalProblemSeverity writes how bad a problem is.
func MarshalProblemSeverity(v db.Severity) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalProblemSeverity reads how bad a problem is.
func UnmarshalProblemSeverity(v any) (db.Severity, error) { return unmarshalEnum[db.Severity](v) }

// MarshalProblemCode writes what is wrong.
func MarshalProblemCode(v db.ProblemCode) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalProblemCode reads what is wrong.
func UnmarshalProblemCode(v any) (db.ProblemCode, error) { return unmarshalEnum[db.ProblemCode](v) }

// MarshalDatabaseRoleUse writes what the server does as a role.
func MarshalDatabaseRoleUse(v db.RoleUse) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalDatabaseRoleUse reads what the server does as a role.
func UnmarshalDatabaseRoleUse(v any) (db.RoleUse, error) { return unmarshalEnum[db.RoleUse](v) }
