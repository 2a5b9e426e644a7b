// Package selection is the outcome of a request for context: which items were taken and dropped, and why, within
// which budget, with a receipt that commits to all of it. It is pure: it packs what it is given, and neither
// searches, counts tokens with a library of its own, nor keeps anything.
package selection

import (
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
