package graph

import (
	"context"
	"runtime"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// About is what the API tells of the server that serves it, besides the store.
type About struct {
	Version   string
	Started   time.Time
	Private   bool // the Postgres is the server's own
	Problems  func(context.Context) []db.Problem
	Disk      func() (Disk, error) // that the data directory is on
	Limits    []Limit              // in force besides those of this package
	Retention []Limit              // how long things are kept, likewise
}

// Disk is what a file system may still take, in bytes.
type Disk struct {
	Free, Total int64
	Low         bool // less than there should be
}

// Limit is something that is bounded.
type Limit struct {
	Name        string
	Value       int64
	Unit        Unit
	Setting     string // environment variable; "" if none sets it
	Description string
}

// Unit is what a limit is counted in.
type Unit = model.LimitUnit

// The units.
const (
	Bytes     = model.LimitUnitBytes
	Seconds   = model.LimitUnitSeconds
	PerSecond = model.LimitUnitPerSecond
	Count     = model.LimitUnitCount
)

// ownLimits are those that no setting changes.
var ownLimits = []Limit{
	{Name: "body", Value: MaxBody, Unit: Bytes, Description: "The body of a request."},
	{Name: "appendBody", Value: MaxAppendBody, Unit: Bytes, Description: "The body of a request that only adds to the log."},
	{Name: "document", Value: MaxDocument, Unit: Bytes, Description: "The document of a request."},
	{Name: "answer", Value: db.MaxAnswerBytes, Unit: Bytes, Description: "An answer, and what is read for it."},
	{Name: "answerValues", Value: MaxAnswerValues, Unit: Count, Description: "Values in an answer."},
	{Name: "complexity", Value: MaxComplexity, Unit: Count, Description: "The complexity of a request."},
	{Name: "depth", Value: MaxDepth, Unit: Count, Description: "Levels of fields in a request."},
	{Name: "page", Value: maxPage, Unit: Count, Description: "Entries on a page."},
	{Name: "operation", Value: int64(operationLimit / time.Second), Unit: Seconds, Description: "How long a query or a mutation may take; checks of chains take as long as they need."},
	{Name: "content", Value: chain.MaxContentBytes, Unit: Bytes, Description: "A message's content, and its attachments and ambient each."},
	{Name: "messagesAtOnce", Value: chain.MaxDrafts, Unit: Count, Description: "Messages in one append."},
	{Name: "refs", Value: chain.MaxRefs, Unit: Count, Description: "Refs of one message."},
	{Name: "selection", Value: selection.MaxLimit, Unit: Count, Description: "Messages and records in a selection."},
	{Name: "tokenBudget", Value: selection.MaxTokenBudget, Unit: Count, Description: "Tokens of a selection's text."},
	{Name: "sockets", Value: MaxSockets, Unit: Count, Description: "WebSockets."},
	{Name: "streams", Value: MaxStreams, Unit: Count, Description: "Subscriptions."},
	{Name: "playerSockets", Value: MaxPlayerSockets, Unit: Count, Description: "WebSockets of a player."},
	{Name: "playerStreams", Value: MaxPlayerStreams, Unit: Count, Description: "Subscriptions of a player."},
	{Name: "playerTokens", Value: db.MaxPlayerTokens, Unit: Count, Description: "Valid tokens of a player."},
}

const day = 24 * time.Hour

// ownRetention is how long what no setting changes is kept.
func ownRetention() []Limit {
	days := func(name, description string, n int) Limit {
		return Limit{Name: name, Value: int64(time.Duration(n) * day / time.Second), Unit: Seconds, Description: description}
	}
	return []Limit{
		days("agentToken", "An agent's token is valid, unless it is made with another end.", auth.DefaultLifetimeDays(auth.Agent)),
		days("clientToken", "A client's token is valid, unless it is made with another end.", auth.DefaultLifetimeDays(auth.Client)),
		days("longestToken", "A token is valid at most.", auth.MaxLifetimeDays),
	}
}

// limitsOf gives limits as the schema has them.
func limitsOf(limits ...[]Limit) []model.ServerLimit {
	var out []model.ServerLimit
	for _, list := range limits {
		for _, l := range list {
			limit := model.ServerLimit{Name: l.Name, Value: int(l.Value), Unit: l.Unit, Description: l.Description}
			if l.Setting != "" {
				limit.Setting = &l.Setting
			}
			out = append(out, limit)
		}
	}
	return out
}

// serverInfo tells of the server.
func (r *Resolver) serverInfo(ctx context.Context) (*model.ServerInfo, error) {
	if r.About == nil {
		return nil, fault.New(fault.Unavailable, "this server does not tell of itself")
	}
	facts, err := r.Store.Facts(ctx)
	if err != nil {
		return nil, err
	}
	info := &model.ServerInfo{
		Version: r.About.Version, GoVersion: runtime.Version(), StartedAt: r.About.Started.UTC(),
		DatabaseVersion: facts.Version, PgvectorVersion: facts.Pgvector, Migration: int(facts.Migration), DatabaseBytes: int(facts.Bytes),
		PrivateDatabase: r.About.Private, RowLevelSecurity: r.Store.Fenced(),
		Limits: limitsOf(r.About.Limits, ownLimits), Retention: limitsOf(r.About.Retention, ownRetention()),
	}
	for _, role := range facts.Roles {
		info.Roles = append(info.Roles, model.DatabaseRole{
			Name: role.Name, Purpose: role.Use, Superuser: role.Superuser, BypassesRowSecurity: role.Bypasses,
		})
	}
	if disk, err := r.About.Disk(); err == nil { // a directory that is not there is no reason to tell nothing
		info.DataDirectory = &model.DataDirectory{FreeBytes: int(disk.Free), TotalBytes: int(disk.Total), Low: disk.Low}
	}
	return info, nil
}

// problems tells what is wrong; players no more than that it is.
func (r *Resolver) problems(ctx context.Context) ([]model.Problem, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	find := r.Store.Problems
	if r.About != nil {
		find = r.About.Problems
	}
	problems := []model.Problem{}
	for _, p := range find(ctx) {
		text := p.Word
		if reason := p.Reason(); reason != "" && caller.IsAdmin() {
			text += ": " + reason
		}
		problems = append(problems, model.Problem{Severity: p.Severity, Code: p.Code, Message: text})
	}
	return problems, nil
}
