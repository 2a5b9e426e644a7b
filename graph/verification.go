package graph

import (
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// verifiedCheckpoint gives the checkpoint that a check held the tree against.
func verifiedCheckpoint(head *chain.SignedHead) *model.Checkpoint {
	c := seal.Checkpoint{
		Head: seal.Head{Size: head.Size, Root: head.Root}, Origin: head.Origin, Note: head.Note, SignedAt: head.SignedAt,
	}
	for _, line := range head.Cosignatures {
		c.Cosignatures = append(c.Cosignatures, seal.Cosignature{Line: line})
	}
	return &model.Checkpoint{Checkpoint: c}
}
