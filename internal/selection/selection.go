// Package selection is the outcome of a request for context: which items were taken and dropped, and why, within
// which budget, with a receipt that commits to all of it. It is pure: it packs what it is given, and neither
// searches, counts tokens with a library of its own, nor keeps anything.
package selection

import (
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// Scope says which part of the log to look at. A nil list does not narrow; an empty one matches nothing.
type Scope struct {
	Sessions, Threads, Players, Owners, Hashtags, Flags, Items, Locations []chain.Hash

	Types        []chain.RefType
	EventTypes   []chain.EventType
	Since, Until *time.Time
}

// Request is a question to the log.
type Request struct {
	Query       string
	Scope       Scope
	Player      *chain.Hash // whose preferences count
	Limit       int
	Threshold   float64
	TokenBudget *int // nil: none
	At          time.Time
}

// NarrowsMessages says whether the scope leaves out any message.
func (s Scope) NarrowsMessages() bool {
	return s.Sessions != nil || s.Threads != nil || s.Players != nil || s.Owners != nil || s.Hashtags != nil || s.Flags != nil ||
		s.Items != nil || s.Locations != nil || s.EventTypes != nil || s.Since != nil || s.Until != nil
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
