package db

import (
	"context"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// MaxUsageBuckets is over how many times use is counted.
const MaxUsageBuckets = 1000

// UsageBucket says over how long a time use is counted, by the calendar of UTC: "day", "week" (from Monday) or "month".
type UsageBucket string

// Usage is how messages name a component.
type Usage struct {
	Hash                       chain.Hash
	Total, Sent, Received, Led int64
	First, Last                *time.Time // nil of one that none names
	Buckets                    []UsageCount
}

// UsageCount is how often they do from one time to the next.
type UsageCount struct {
	Start                      time.Time
	Total, Sent, Received, Led int64
}

// ComponentUsage counts the messages that name a component, over the latest MaxUsageBuckets times in which any does.
func (d *DB) ComponentUsage(ctx context.Context, hash chain.Hash, bucket UsageBucket) (Usage, error) {
	rows, err := d.read().ComponentUsage(ctx, string(bucket), hash.String(), d.viewerText(), MaxUsageBuckets)
	u := Usage{Hash: hash, Buckets: make([]UsageCount, len(rows))}
	for i, r := range rows {
		first, last := r.FirstAt.UTC(), r.LastAt.UTC()
		u.Total, u.Sent, u.Received, u.Led, u.First, u.Last = r.AllTotal, r.AllSent, r.AllReceived, r.AllLed, &first, &last
		u.Buckets[i] = UsageCount{r.Start.UTC(), r.Total, r.Sent, r.Received, r.Led}
	}
	slices.Reverse(u.Buckets)
	return u, mapError(err)
}
