package auth

import (
	"slices"
	"strings"
)

// Scopes is a set of what a token may be used for. Its zero value is the empty set.
type Scopes uint16

// The scopes. Several together are written with |.
const (
	LogRead       Scopes = 1 << iota // reads the log, records and components
	LogAppend                        // appends messages
	ContextSelect                    // asks for ranked context, and reads what was selected
	MemoryWrite                      // writes components and records
	EventsIngest                     // delivers events of hooks
	Verify                           // checks chains, the tree and proofs
	TokensManage                     // makes and revokes tokens
	Erase                            // erases messages
)

// AllScopes is every scope.
const AllScopes = LogRead | LogAppend | ContextSelect | MemoryWrite | EventsIngest | Verify | TokensManage | Erase

// scopeNames are the scopes as the outside knows them, in the order of the constants.
var scopeNames = [...]string{
	"log:read", "log:append", "context:select", "memory:write", "events:ingest", "verify", "tokens:manage", "erase",
}

// Has tells whether the set holds all of the others.
func (s Scopes) Has(others Scopes) bool { return s&others == others }

// Names gives the scopes' names, always in the same order.
func (s Scopes) Names() []string {
	names := []string{}
	for i, name := range scopeNames {
		if s.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// String gives the names with blanks between them, as OAuth writes scopes.
func (s Scopes) String() string { return strings.Join(s.Names(), " ") }

// ParseScope gives the scope of a name, and false for a name that is none.
func ParseScope(name string) (Scopes, bool) {
	i := slices.Index(scopeNames[:], name)
	if i < 0 {
		return 0, false
	}
	return 1 << i, true
}

// ScopesOf gives the set of those of the names that are scopes.
func ScopesOf(names []string) Scopes {
	var set Scopes
	for _, name := range names {
		scope, _ := ParseScope(name)
		set |= scope
	}
	return set
}

// DefaultScopes gives the scopes that a token of a role has unless it is made with others.
func DefaultScopes(role Role) Scopes {
	switch role {
	case Admin:
		return AllScopes
	case Agent:
		return LogRead | LogAppend | ContextSelect | MemoryWrite | Verify
	case Client:
		return LogRead | LogAppend | ContextSelect | Verify
	case Hook:
		return EventsIngest
	}
	return 0
}
