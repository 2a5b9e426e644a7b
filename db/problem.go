package db

import (
	"context"
	"errors"
	"slices"

	"github.com/tzzr/context-manager/internal/fault"
)

// Severity says how bad a problem is.
type Severity string

// The severities, the worst first.
const (
	Critical Severity = "critical" // the server is not ready
	Warning  Severity = "warning"  // it wants an administrator soon
	Note     Severity = "note"     // all is well, and could be better
)

// ProblemCode says what is wrong.
type ProblemCode string

// The codes.
const (
	DatabaseAway     ProblemCode = "database_away"
	SealRefused      ProblemCode = "seal_refused"
	SealFailing      ProblemCode = "seal_failing"
	WitnessSilent    ProblemCode = "witness_silent"
	EmbeddingFailing ProblemCode = "embedding_failing"
	DiskLow          ProblemCode = "disk_low"
	FenceOff         ProblemCode = "fence_off"
	CommitsHasty     ProblemCode = "commits_hasty"
)

// AwayWord is the word of DatabaseAway.
const AwayWord = "the database does not answer"

// ProblemCodes are all of them.
var ProblemCodes = []ProblemCode{DatabaseAway, SealRefused, SealFailing, WitnessSilent, EmbeddingFailing, DiskLow, FenceOff, CommitsHasty}

// Problem is something that is wrong with a server. Whoever tells of it, asks Problems: readiness, metrics, the API.
type Problem struct {
	Severity Severity
	Code     ProblemCode
	Word     string // a constant, which everybody may be told
	Cause    error  // for administrators; a fault was written for people, and nothing else is shown
}

// Reason gives the cause in words, "" if it has none that were written for people.
func (p Problem) Reason() string {
	if f, ok := errors.AsType[*fault.Error](p.Cause); ok {
		return f.Error()
	}
	return ""
}

// Problems gives what is wrong with the store, the worst first.
func (d *DB) Problems(ctx context.Context) []Problem {
	if err := d.Ping(ctx); err != nil {
		return []Problem{{Critical, DatabaseAway, AwayWord, err}}
	}
	problems := slices.Concat(d.sealProblems(), d.embeddingProblems(ctx))
	if !d.Fenced() {
		problems = append(problems, Problem{Note, FenceOff, "row-level security is off", fault.New(fault.Unavailable,
			"the database's login may not make roles, or not take on cm_player, so the server's own rules stand alone")})
	}
	if d.address.hasty.Load() {
		problems = append(problems, Problem{Note, CommitsHasty, "the database does not wait for the disk by itself", fault.New(fault.Unavailable,
			"synchronous_commit is off or local for the database, its login or the whole server; this server asks for on in its own transactions, and others that write should as well")})
	}
	SortProblems(problems)
	return problems
}

// SortProblems brings the worst first.
func SortProblems(problems []Problem) {
	rank := []Severity{Critical, Warning, Note}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity)
	})
}

func (d *DB) sealProblems() (problems []Problem) {
	const word = "the log is not sealed"
	sealer := d.Sealer()
	if sealer == nil {
		return nil
	}
	state := sealer.State()
	reason := fault.New(fault.Unavailable, "%s", state.Problem)
	switch err := sealer.Ready(); {
	case err != nil && state.Condition == Refused:
		problems = append(problems, Problem{Critical, SealRefused, word, err})
	case err != nil:
		problems = append(problems, Problem{Critical, SealFailing, word, err})
	case state.Problem != "": // for a moment, or messages that have no place
		problems = append(problems, Problem{Warning, SealFailing, "not all of the log is sealed", reason})
	}
	for _, w := range state.Witnesses {
		if w.Problem != "" {
			problems = append(problems, Problem{Warning, WitnessSilent, "a witness does not cosign",
				fault.New(fault.Unavailable, "%s: %s", w.Name, w.Problem)})
		}
	}
	return problems
}

// embeddingProblems tells of the models that ought to embed. That this cannot be told is the database's problem.
func (d *DB) embeddingProblems(ctx context.Context) (problems []Problem) {
	rows, err := d.queries().ModelProblems(ctx)
	if err != nil {
		return []Problem{{Critical, DatabaseAway, AwayWord, mapError(err)}}
	}
	models := make([]EmbeddingModel, len(rows))
	for i, r := range rows {
		models[i] = EmbeddingModel{Name: r.Name, Kind: EmbeddingKind(r.Kind), State: stateOfModel(EmbeddingKind(r.Kind), r.Serves, r.Follows)}
		if r.Problem != nil {
			models[i].LastError = *r.Problem
		}
	}
	for _, m := range d.describeModels(models) {
		if m.LastError != "" && m.State != ModelKept {
			problems = append(problems, Problem{Warning, EmbeddingFailing, "an embedding model does not embed",
				fault.New(fault.Unavailable, "%s: %s", m.Name, m.LastError)})
		}
	}
	return problems
}
