package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/chain"
)

// single is one message a request.
func (r *run) single(ctx context.Context) (Figure, error) {
	return r.appending(ctx, "one message a request, 32 connections, 1,000 sessions", Connections, 1, Sessions, 1.0)
}

// hot is the same into one session.
func (r *run) hot(ctx context.Context) (Figure, error) {
	return r.appending(ctx, "one message a request, 32 connections, one session", Connections, 1, 1, 0.8)
}

// bulk is a thousand messages a request.
func (r *run) bulk(ctx context.Context) (Figure, error) {
	return r.appending(ctx, "1,000 messages a request, 4 connections", BulkConnections, BulkMessages, Sessions, 0.7)
}

// appending measures requests, and INSERTs of the same rows with as many a statement, in turns.
func (r *run) appending(ctx context.Context, name string, connections, messages, sessions int, target float64) (Figure, error) {
	if err := r.plain.catchUp(ctx); err != nil {
		return Figure{}, err
	}
	limitName := "single-row INSERTs"
	if messages > 1 {
		limitName = "multi-row INSERTs"
	}
	var ours, limit turn
	var settled time.Duration
	for n := range r.Turns {
		done, err := r.appendByHTTP(ctx, connections, messages, sessions, uint64(n*1000+sessions+messages))
		if err != nil {
			return Figure{}, err
		}
		ours.add(done)
		// What was put off is done before the limit's turn, and told beside the rate.
		behind, err := r.settle(ctx)
		if err != nil {
			return Figure{}, err
		}
		settled += behind
		if done, err = r.plain.insert(ctx, connections, messages, r.Turn); err != nil {
			return Figure{}, err
		}
		limit.add(done)
	}
	if ours.messages == 0 || limit.messages == 0 {
		return Figure{}, errors.New("a turn was too short for one request")
	}
	f := Figure{Name: name, Limit: limitName, Unit: "messages/s", Value: ours.rate(), LimitValue: limit.rate(), Target: target, AtLeast: true,
		Behind: milliseconds(settled) / float64(r.Turns)}
	f.Ratio = f.Value / f.LimitValue
	f.P50, f.P99 = ours.percentile(0.5), ours.percentile(0.99)
	f.LimitP50, f.LimitP99 = limit.percentile(0.5), limit.percentile(0.99)
	return f, nil
}

func (t *turn) add(o turn) {
	t.messages += o.messages
	t.took += o.took
	t.each = append(t.each, o.each...)
}

func (t *turn) rate() float64 { return float64(t.messages) / t.took.Seconds() }

// percentile gives the nearest rank, in milliseconds.
func (t *turn) percentile(p float64) float64 {
	if len(t.each) == 0 {
		return 0
	}
	slices.Sort(t.each)
	rank := int(p*float64(len(t.each)) + 0.999999)
	return milliseconds(t.each[min(max(rank, 1), len(t.each))-1])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// checkRuns is how often the whole log is checked, and copied.
const checkRuns = 3

// checking is the check of the whole log, beside a binary copy of its messages.
func (r *run) checking(ctx context.Context) (Figure, error) {
	var ours, limit turn
	var memory uint64
	for range checkRuns {
		measure := startMemory()
		began := time.Now()
		valid, messages, err := r.Log.Verify(ctx, nil)
		took := time.Since(began)
		memory = max(memory, measure())
		if err != nil {
			return Figure{}, err
		}
		if !valid || messages < int64(r.have) {
			return Figure{}, fmt.Errorf("the check of %d messages says valid %t of %d", r.have, valid, messages)
		}
		ours.add(turn{messages: int(messages), took: took, each: []time.Duration{took}})
		if took, err = r.copyOut(ctx); err != nil {
			return Figure{}, err
		}
		limit.add(turn{messages: int(messages), took: took, each: []time.Duration{took}})
	}
	f := Figure{
		Name: "verifyLog", Limit: "COPY of the messages, binary", Unit: "ms", Value: ours.percentile(0.5), LimitValue: limit.percentile(0.5),
		Target: 3, Memory: memory, MemoryTarget: 200 << 20,
	}
	f.Ratio = f.Value / f.LimitValue
	f.P50, f.P99, f.LimitP50, f.LimitP99 = ours.percentile(0.5), ours.percentile(0.99), limit.percentile(0.5), limit.percentile(0.99)
	return f, nil
}

func (r *run) copyOut(ctx context.Context) (time.Duration, error) {
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	began := time.Now()
	_, err = conn.Conn().PgConn().CopyTo(ctx, io.Discard, "COPY (SELECT * FROM log.messages) TO STDOUT (FORMAT binary)")
	return time.Since(began), err
}

// proofs is how many proofs are made, each beside the SQL that reads its hashes.
const proofs = 500

// proving is one message's proof, beside the SQL statements that bring its hashes, and nothing else.
func (r *run) proving(ctx context.Context) (Figure, error) {
	rows, err := r.pool.Query(ctx, "SELECT session_hash, sequence FROM seal.leaves TABLESAMPLE BERNOULLI ($1) LIMIT $2",
		min(100, 100*3*proofs/float64(r.have)), proofs)
	if err != nil {
		return Figure{}, err
	}
	type place struct {
		Session  chain.Hash
		Sequence int64
	}
	places, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
	if err != nil {
		return Figure{}, err
	}
	random := rand.New(rand.NewPCG(1, 1))
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return Figure{}, err
	}
	defer conn.Release()
	var ours, limit turn
	for _, p := range places {
		r.Recorder.take()
		if _, err := r.Log.Prove(ctx, p.Session, p.Sequence); err != nil {
			return Figure{}, err
		}
		statements := slices.DeleteFunc(r.Recorder.take(), func(s statement) bool { return !s.readsHashes() })
		began := time.Now()
		if err := replay(ctx, conn.Conn(), statements); err != nil {
			return Figure{}, err
		}
		limit.each = append(limit.each, time.Since(began))
		began = time.Now()
		proof, err := r.Log.Prove(ctx, p.Session, p.Sequence)
		if err != nil {
			return Figure{}, err
		}
		ours.each = append(ours.each, time.Since(began))
		if proof == "" {
			return Figure{}, fmt.Errorf("message %d of session %s has no proof", p.Sequence, p.Session)
		}
	}
	f := Figure{Name: "a proof", Limit: "the SQL that reads its hashes", Unit: "ms", Target: 5}
	f.P50, f.P99, f.LimitP50, f.LimitP99 = ours.percentile(0.5), ours.percentile(0.99), limit.percentile(0.5), limit.percentile(0.99)
	f.Value, f.LimitValue = f.P50, f.LimitP50
	f.Ratio = f.Value / f.LimitValue
	return f, nil
}

// lag is how long messages waited for their seal, appended one a request as fast as it goes and then a thousand a
// request as fast as that goes.
func (r *run) lag(ctx context.Context) (Figure, error) {
	f := Figure{Name: "sealing lag at full rate", Unit: "ms", Target: 1000}
	if _, err := r.settle(ctx); err != nil {
		return f, err
	}
	var since time.Time
	if err := r.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&since); err != nil {
		return f, err
	}
	want := 0
	for _, messages := range []int{1, BulkMessages} {
		connections := Connections
		if messages > 1 {
			connections = BulkConnections
		}
		done, err := r.appendByHTTP(ctx, connections, messages, Sessions, uint64(r.have+messages))
		if err != nil {
			return f, err
		}
		want += done.messages
	}
	if _, err := r.settle(ctx); err != nil {
		return f, err
	}
	var sealed int
	if err := r.pool.QueryRow(ctx, lagSQL, since).Scan(&sealed, &f.P50, &f.P99); err != nil {
		return f, err
	}
	if sealed < want {
		return f, fmt.Errorf("%d of %d messages are sealed", sealed, want)
	}
	f.Value = f.P99
	return f, nil
}
