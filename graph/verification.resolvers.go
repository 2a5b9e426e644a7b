package graph

import (
	"context"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/internal/chain"
)

func (r *logVerificationResolver) TookMs(ctx context.Context, obj *chain.LogReport) (int, error) {
	return int(obj.Took.Milliseconds()), nil
}

func (r *queryResolver) VerifySession(ctx context.Context, hash chain.Hash) (*chain.SessionReport, error) {
	report, err := r.Store.VerifySession(ctx, hash, nil)
	return &report, err
}

func (r *queryResolver) VerifyLog(ctx context.Context) (*chain.LogReport, error) {
	report, err := r.Store.VerifyLog(ctx, nil)
	return &report, err
}

func (r *subscriptionResolver) VerificationProgress(ctx context.Context, session *chain.Hash) (<-chan *chain.Progress, error) {
	out := make(chan *chain.Progress)
	report := func(p chain.Progress) {
		select {
		case out <- &p:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(out)
		var err error
		if session != nil {
			_, err = r.Store.VerifySession(ctx, *session, report)
		} else {
			_, err = r.Store.VerifyLog(ctx, report)
		}
		if err != nil && ctx.Err() == nil {
			r.Log.ErrorContext(ctx, "the check ended early", "error", err)
		}
	}()
	return out, nil
}

func (r *Resolver) LogVerification() generated.LogVerificationResolver {
	return &logVerificationResolver{r}
}

type logVerificationResolver struct{ *Resolver }
