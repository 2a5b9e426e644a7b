package instance

import (
	"context"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/fault"
)

// Problems gives what is wrong with the log, and with the private Postgres if there is one, the worst first. Readiness,
// metrics and the API tell of these and of no others.
func (s *Instance) Problems(ctx context.Context) []db.Problem {
	if s.Postgres == nil {
		return s.DB.Problems(ctx)
	}
	if err := s.Postgres.Problem(); err != nil {
		return []db.Problem{{Severity: db.Critical, Code: db.DatabaseAway, Word: db.AwayWord, Cause: err}}
	}
	problems := s.DB.Problems(ctx)
	if disk, err := s.Postgres.Disk(); err == nil && disk.Low() {
		problems = append(problems, db.Problem{Severity: db.Warning, Code: db.DiskLow, Word: "the database's disk is nearly full",
			Cause: fault.New(fault.Unavailable, "%d MiB are free where the private Postgres keeps the log", disk.Free>>20)})
		db.SortProblems(problems)
	}
	return problems
}
