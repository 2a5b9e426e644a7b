package chain

import (
	"regexp"

	"github.com/tzzr/context-manager/internal/fault"
)

// actedBy stands before the hash of an administrator at the end of a source.
const actedBy = "; by "

// ActedBy is what the server alone writes at the end of the source of a message that an administrator has appended for
// another player. It is in what the hash covers, and CheckUnclaimed keeps everybody else from writing it; that an
// administrator is a message's master player says nothing, since its owner may have named them.
func ActedBy(administrator Hash) string { return actedBy + administrator.String() }

// claimsActor is what reads like the end that ActedBy gives, however it is spaced, punctuated and capitalised.
var claimsActor = regexp.MustCompile(`(?i)\bby\b\W*[0-9a-f]{64}\W*$`)

// CheckUnclaimed refuses a source from outside that ends as if an administrator had acted. Nil is none.
func CheckUnclaimed(field string, source *string) error {
	if source == nil || !claimsActor.MatchString(*source) {
		return nil
	}
	return fault.Input(field, "ends in %q and a hash, which is the server's mark of administrators who act for others", actedBy)
}
