package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
)

func (r *logVerificationResolver) Checkpoint(ctx context.Context, obj *chain.LogReport) (*model.Checkpoint, error) {
	if obj.Checkpoint == nil {
		return nil, nil
	}
	return verifiedCheckpoint(obj.Checkpoint), nil
}

func (r *logVerificationResolver) TookMs(ctx context.Context, obj *chain.LogReport) (int, error) {
	return int(obj.Took.Milliseconds()), nil
}

func (r *queryResolver) VerifySession(ctx context.Context, hash chain.Hash) (*chain.SessionReport, error) {
	report, err := r.view(ctx).VerifySession(ctx, hash, nil)
	return &report, err
}

func (r *queryResolver) VerifyLog(ctx context.Context) (*chain.LogReport, error) {
	report, err := r.view(ctx).VerifyLog(ctx, nil)
	return &report, err
}

func (r *subscriptionResolver) VerificationProgress(ctx context.Context, session *chain.Hash) (<-chan *chain.Progress, error) {
	out := make(chan *chain.Progress, 1)
	report := func(p chain.Progress) {
		select {
		case <-out: // it is out of date; a client that reads slowly does not hold up the check
		default:
		}
		out <- &p
	}
	go func() {
		defer close(out)
		var err error
		if session != nil {
			_, err = r.view(ctx).VerifySession(ctx, *session, report)
		} else {
			_, err = r.view(ctx).VerifyLog(ctx, report)
		}
		if err != nil {
			endStream(ctx, err)
		}
	}()
	return out, nil
}

func (r *Resolver) LogVerification() generated.LogVerificationResolver {
	return &logVerificationResolver{r}
}

type logVerificationResolver struct{ *Resolver }
