package graph

import (
	"context"
	"fmt"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
)

func (r *queryResolver) VerifySession(ctx context.Context, hash chain.Hash) (*model.SessionVerification, error) {
	panic(fmt.Errorf("not implemented: VerifySession - verifySession"))
}

func (r *queryResolver) VerifyLog(ctx context.Context) (*model.LogVerification, error) {
	panic(fmt.Errorf("not implemented: VerifyLog - verifyLog"))
}

func (r *subscriptionResolver) VerificationProgress(ctx context.Context, session *chain.Hash) (<-chan *model.VerificationProgress, error) {
	panic(fmt.Errorf("not implemented: VerificationProgress - verificationProgress"))
}
