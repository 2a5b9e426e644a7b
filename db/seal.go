package db

import (
	"github.com/tzzr/context-manager/internal/chain"
)

// SealCondition says whether a server seals.
type SealCondition string

// The conditions.
const (
	Sealing SealCondition = "sealing" // or standing by, while another server of the same database does
	Refused SealCondition = "refused" // the tree does not extend what was signed before
	Failing SealCondition = "failing" // this server cannot seal, though the tree is whole
)

// Place is where a message stands: in its session.
type Place struct {
	Session  chain.Hash
	Sequence int64
}
