package selection

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of a request.
const (
	DefaultLimit     = 5
	DefaultThreshold = 0.7
	MaxLimit         = 200
	MaxQueryBytes    = 64 << 10
	MaxTokenBudget   = 1_000_000
	MaxScopeEntries  = 1000 // of each list
)

// Scope says which part of the log to look at. A nil list does not narrow; an empty one matches nothing.
type Scope struct {
	Sessions   []chain.Hash      `json:"sessions,omitzero"`
	Threads    []chain.Hash      `json:"threads,omitzero"`
	Players    []chain.Hash      `json:"players,omitzero"`
	Owners     []chain.Hash      `json:"owners,omitzero"`
	Hashtags   []chain.Hash      `json:"hashtags,omitzero"`
	Flags      []chain.Hash      `json:"flags,omitzero"`
	Items      []chain.Hash      `json:"items,omitzero"`
	Locations  []chain.Hash      `json:"locations,omitzero"`
	Types      []chain.RefType   `json:"types,omitzero"`
	EventTypes []chain.EventType `json:"eventTypes,omitzero"`
	Since      *time.Time        `json:"since,omitempty"`
	Until      *time.Time        `json:"until,omitempty"`
}

// Request is a question to the log. Its JSON, with the fields in this order, is what a receipt commits to.
type Request struct {
	Query       string       `json:"query"`
	Scope       Scope        `json:"scope"`
	Player      *chain.Hash  `json:"player,omitempty"` // whose preferences count
	Limit       int          `json:"limit"`
	Threshold   float64      `json:"threshold"`
	TokenBudget *int         `json:"tokenBudget,omitempty"` // nil: none
	Previous    *chain.Hash  `json:"previous,omitempty"`    // the receipt of the earlier selection whose beginning is kept
	Except      []chain.Hash `json:"except,omitzero"`       // messages that whoever asks has anyway: neither they come, nor what says the same
	At          time.Time    `json:"at"`                    // the clock that recency counts from

	PreviousID string `json:"-"` // the earlier selection; empty: none
}

// Validate says what is wrong with a request; the fault names the field below field.
func (r *Request) Validate(field string) error {
	if err := CheckQuery(field+".query", r.Query); err != nil {
		return err
	}
	switch {
	case r.Limit < 1 || r.Limit > MaxLimit:
		return fault.Input(field+".limit", "%d is outside of 1 to %d", r.Limit, MaxLimit)
	case math.IsNaN(r.Threshold) || r.Threshold < 0 || r.Threshold > 1:
		return fault.Input(field+".threshold", "%v is outside of 0 to 1", r.Threshold)
	case r.TokenBudget != nil && (*r.TokenBudget < 1 || *r.TokenBudget > MaxTokenBudget):
		return fault.Input(field+".tokenBudget", "%d is outside of 1 to %d", *r.TokenBudget, MaxTokenBudget)
	}
	return r.Scope.Validate(field + ".scope")
}

// CheckQuery says what is wrong with a query; the fault names the field.
func CheckQuery(field, query string) error {
	if err := chain.CheckText(field, &query, MaxQueryBytes); err != nil {
		return err
	}
	if strings.TrimSpace(query) == "" {
		return fault.Input(field, "is empty")
	}
	return nil
}

// Validate says what is wrong with a scope; the fault names the field below field.
func (s *Scope) Validate(field string) error {
	for _, l := range []struct {
		name   string
		length int
	}{
		{"sessions", len(s.Sessions)}, {"threads", len(s.Threads)}, {"players", len(s.Players)}, {"owners", len(s.Owners)},
		{"hashtags", len(s.Hashtags)}, {"flags", len(s.Flags)}, {"items", len(s.Items)}, {"locations", len(s.Locations)},
		{"types", len(s.Types)}, {"eventTypes", len(s.EventTypes)},
	} {
		if l.length > MaxScopeEntries {
			return fault.Input(fmt.Sprintf("%s.%s", field, l.name), "has %d entries; at most %d are allowed", l.length, MaxScopeEntries)
		}
	}
	return nil
}

// NarrowsMessages says whether the scope leaves out any message.
func (s Scope) NarrowsMessages() bool {
	return s.Sessions != nil || s.Threads != nil || s.Players != nil || s.Owners != nil || s.Hashtags != nil || s.Flags != nil ||
		s.Items != nil || s.Locations != nil || s.EventTypes != nil || s.Since != nil || s.Until != nil
}

// ByKey gives the column of messages that alone narrows the scope, and its values, if that is the one of sessions or of
// threads.
func (s Scope) ByKey() (column string, hashes []chain.Hash, ok bool) {
	rest := s
	switch {
	case s.Sessions != nil:
		column, hashes, rest.Sessions = "session_hash", s.Sessions, nil
	case s.Threads != nil:
		column, hashes, rest.Threads = "thread_hash", s.Threads, nil
	}
	return column, hashes, column != "" && !rest.NarrowsMessages()
}

// HasMessages says whether the scope's types hold messages at all.
func (s Scope) HasMessages() bool {
	return s.Types == nil || slices.Contains(s.Types, chain.RefContext)
}

// RecordKinds gives the kinds of records that the scope holds. Records are in no session and name no component, so
// any list of those leaves all of them out.
func (s Scope) RecordKinds() []chain.RefType {
	listed := s
	listed.Since, listed.Until = nil, nil
	if listed.NarrowsMessages() {
		return []chain.RefType{}
	}
	kinds := []chain.RefType{}
	for _, kind := range []chain.RefType{chain.RefAccountant, chain.RefSecretary} {
		if s.Types == nil || slices.Contains(s.Types, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
