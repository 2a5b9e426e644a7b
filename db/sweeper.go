package db

import (
	"context"
	"sync"
	"time"
)

// sweepEvery is how long what has expired may take room at most.
const sweepEvery = time.Minute

// sweeper frees the room of what has expired from time to time. Nobody depends on it: whoever reads asks for what has not.
type sweeper struct {
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
}

// KeepConversations says how long working memories last after the last interaction, and sweeps those that have expired until
// the store is closed. It must be called once, before the store is used.
func (d *DB) KeepConversations(ttl time.Duration) {
	d.SetConversationTTL(ttl)
	d.sweeper.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		d.sweeper.cancel, d.sweeper.done = cancel, make(chan struct{})
		go d.sweep(ctx)
	})
}

func (d *DB) sweep(ctx context.Context) {
	defer close(d.sweeper.done)
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		bounded, end := d.pool.bounded(ctx)
		if n, err := d.SweepConversations(bounded); err != nil && ctx.Err() == nil {
			d.log.Warn("conversations that have expired are not swept", "error", err)
		} else if n > 0 {
			d.log.Info("conversations swept", "expired", n)
		}
		end()
	}
}

func (s *sweeper) stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
	}
}
