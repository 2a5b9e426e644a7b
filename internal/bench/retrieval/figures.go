package retrieval

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/selection"
)

var (
	//go:embed sql/exact.sql
	exactSQL string
	//go:embed sql/thread.sql
	threadSQL string
	//go:embed sql/player.sql
	playerSQL string
	//go:embed sql/kept.sql
	keptSQL string
	//go:embed sql/near.sql
	nearSQL string
	//go:embed sql/model.sql
	modelSQL string
	//go:embed sql/sizes.sql
	sizesSQL string
)

// How many questions each figure asks. A whole scan of a large log takes its time; a request about a thread takes so little that a
// hundred of them told from 2.4 to 3.4 times the limit of the same code.
const (
	wholeQuestions  = 60
	threadQuestions = 1500 // of a log of as many hundreds, or more
	playerQuestions = 60
)

// warming is which part of them are asked before any is measured: a server that has just been asked of a log for the first time has
// to read, plan and remember what it and its database hold while they work.
const warming = 3

func (r *run) figures(ctx context.Context) (figures []Figure, err error) {
	steps := []func(context.Context) (Figure, error){r.whole, r.inThread, r.ofPlayer}
	meter := ingest.NewMeter(r.Progress, fmt.Sprintf("measuring at %d messages", r.size), int64(len(steps)), "figures")
	defer meter.Done()
	for _, step := range steps {
		f, err := step(ctx)
		if err != nil {
			return figures, err
		}
		figures = append(figures, f)
		meter.Add(1)
	}
	return figures, nil
}

// whole is a search of the whole log by words, beside a scan of all vectors.
func (r *run) whole(ctx context.Context) (Figure, error) {
	f := Figure{Name: "whole log, by words", Limit: "exact scan of the vectors", Target: 0.2, RecallTarget: 0.95}
	return r.compare(ctx, f, r.administrator, r.queries(wholeQuestions, r.anyThread), nothing, func(question) (map[string]any, selection.Scope) {
		return nil, selection.Scope{}
	}, func(ctx context.Context, vector string, _ question) ([]Hit, error) {
		return r.hits(ctx, exactSQL, vector, first)
	})
}

// inThread is a search in a thread by an agent who takes part in it, kept, beside the statement that ranks it and one INSERT.
func (r *run) inThread(ctx context.Context) (Figure, error) {
	f := Figure{Name: "one thread, by words, kept", Limit: "the ranking statement and one INSERT", Target: 3, RecallTarget: 0.95}
	questions := r.queries(min(threadQuestions, max(20, r.size/100)), r.busyThread)
	if _, err := r.agent.ask(ctx, questions[0].text, scopeOf("threads", thread(questions[0].thread))); err != nil {
		return f, err
	}
	keep, err := r.keeping(ctx)
	if err != nil {
		return f, err
	}
	defer keep.close()
	return r.compare(ctx, f, r.agent, questions, keep.take, func(q question) (map[string]any, selection.Scope) {
		return scopeOf("threads", thread(q.thread)), selection.Scope{Threads: []chain.Hash{thread(q.thread)}}
	}, func(ctx context.Context, vector string, q question) ([]Hit, error) {
		hits, err := r.hits(ctx, threadSQL, vector, first, thread(q.thread).String())
		if err == nil {
			err = keep.again(ctx)
		}
		return hits, err
	})
}

// keeping keeps selections once more: a bare INSERT of the row, committed, into a table that has the columns and indexes of the
// selections' and nothing else.
type keeping struct {
	conn   *pgconn.PgConn // over which it inserts
	reads  *pgconn.PgConn
	values [][]byte // of the selection that was taken, all but its id
}

const keepName = "keep"

func (r *run) keeping(ctx context.Context) (*keeping, error) {
	reads, err := pgconn.Connect(ctx, r.Database)
	if err != nil {
		return nil, err
	}
	k := &keeping{conn: r.conn.PgConn(), reads: reads}
	if err := k.prepare(ctx); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *keeping) close() { _ = k.reads.Close(context.Background()) }

func (k *keeping) prepare(ctx context.Context) error {
	fields, err := k.newest(ctx)
	if err != nil {
		return err
	}
	var columns, places []string
	for _, name := range fields {
		columns = append(columns, name)
		places = append(places, fmt.Sprintf("$%d", len(places)+1))
	}
	sql := fmt.Sprintf("INSERT INTO kept_selections (id, %s) VALUES (gen_random_uuid(), %s)", strings.Join(columns, ", "), strings.Join(places, ", "))
	if err := k.conn.Deallocate(ctx, keepName); err != nil { // that of another size, if there is one
		return err
	}
	_, err = k.conn.Prepare(ctx, keepName, sql, nil)
	return err
}

// take takes the newest selection, which was kept for the question before, over another connection than inserts it.
func (k *keeping) take(ctx context.Context) error {
	_, err := k.newest(ctx)
	return err
}

func (k *keeping) newest(ctx context.Context) (columns []string, err error) {
	newest := k.reads.ExecParams(ctx, keptSQL, nil, nil, nil, nil).Read()
	if newest.Err != nil {
		return nil, newest.Err
	}
	if len(newest.Rows) == 0 {
		return nil, errors.New("no selection was kept")
	}
	k.values = k.values[:0]
	for i, field := range newest.FieldDescriptions {
		if field.Name != "id" {
			columns, k.values = append(columns, field.Name), append(k.values, newest.Rows[0][i])
		}
	}
	return columns, nil
}

func (k *keeping) again(ctx context.Context) error {
	return k.conn.ExecPrepared(ctx, keepName, k.values, nil, nil).Read().Err
}

// ofPlayer is a search by an agent among all that it may see, a tenth of the log, beside a scan of that.
func (r *run) ofPlayer(ctx context.Context) (Figure, error) {
	f := Figure{Name: "one player's tenth, by words", Limit: "exact scan of the scope", Target: 1, RecallTarget: 0.95}
	return r.compare(ctx, f, r.agent, r.queries(playerQuestions, r.busyThread), nothing, func(question) (map[string]any, selection.Scope) {
		return scopeOf("players", busy()), selection.Scope{Players: []chain.Hash{busy()}}
	}, func(ctx context.Context, vector string, _ question) ([]Hit, error) {
		return r.hits(ctx, playerSQL, vector, first, busy().String())
	})
}

// compare asks each question over HTTP and does what it is measured beside, in turns of which one begins and then the other,
// and holds what was found by words against what the limit finds. Both read the same pages, which were read before: whoever
// came first would else wait for the disk on behalf of both.
func (r *run) compare(ctx context.Context, f Figure, asks *client, questions []question, before func(context.Context) error,
	scope func(question) (map[string]any, selection.Scope), limit func(ctx context.Context, vector string, q question) ([]Hit, error)) (Figure, error) {
	vectors, found := make([]string, len(questions)), make([][]Hit, len(questions))
	for i, q := range questions {
		_, within := scope(q)
		request := selection.Request{Query: q.text, Scope: within, Limit: first, At: time.Now()}
		var err error
		if vectors[i], found[i], err = r.Log.ByWords(ctx, asks.player, request, first); err != nil {
			return f, err
		}
	}
	var ours, theirs []time.Duration
	right, wanted := 0, 0
	for i, q := range questions {
		var took, beside time.Duration
		steps := []func() error{
			func() (err error) {
				asked, _ := scope(q)
				took, err = asks.ask(ctx, q.text, asked)
				return err
			},
			func() error {
				began := time.Now()
				exact, err := limit(ctx, vectors[i], q)
				beside = time.Since(began)
				right, wanted = right+overlap(found[i], exact), wanted+len(exact)
				return err
			},
		}
		if i%2 == 1 {
			slices.Reverse(steps)
		}
		if err := before(ctx); err != nil {
			return f, err
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return f, err
			}
		}
		if i >= len(questions)/warming {
			ours, theirs = append(ours, took), append(theirs, beside)
		}
	}
	f.Ours, f.Theirs, f.Messages = times(ours), times(theirs), r.size
	f.Ratio = f.Ours.P50 / f.Theirs.P50
	if wanted > 0 {
		f.Recall = float64(right) / float64(wanted)
	}
	return f, nil
}

// nothing is done before a question.
func nothing(context.Context) error { return nil }

// overlap counts how many of the hits are as good as the exact ones: of equals, either will do.
func overlap(hits, exact []Hit) int {
	if len(exact) == 0 {
		return 0
	}
	const rounding = 1e-4 // of single precision
	bound, n := exact[len(exact)-1].Score-rounding, 0
	for _, h := range hits[:min(len(hits), len(exact))] {
		if h.Score >= bound {
			n++
		}
	}
	return n
}

func (r *run) hits(ctx context.Context, sql, vector string, limit int, args ...any) ([]Hit, error) {
	rows, err := r.conn.Query(ctx, sql, append([]any{vector, limit}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Hit])
}

// appending is a thousand messages a call, with search vectors made meanwhile and waited for, and without.
func (r *run) appending(ctx context.Context) (Figure, error) {
	f := Figure{Name: "appending, with search vectors", Limit: "without", Target: 0.8}
	var with, without turn
	for n := range 4 * r.Turns { // each twice as often as elsewhere: checkpoints come now and then
		// What was written before a turn makes it dearer. So each comes as often after itself as after the other.
		t, found := &with, n%4 == 0 || n%4 == 3
		if !found {
			t = &without
		}
		if err := r.appendTurn(ctx, t, found); err != nil {
			return f, err
		}
		if err := r.settle(ctx); err != nil {
			return f, err
		}
	}
	f.Rate, f.LimitRate = float64(with.messages)/with.took.Seconds(), float64(without.messages)/without.took.Seconds()
	f.Ratio = f.Rate / f.LimitRate
	f.Ours, f.Theirs, f.Messages = times(with.calls), times(without.calls), r.size
	return f, nil
}

// turn is what some turns of appending did.
type turn struct {
	messages int
	took     time.Duration
	calls    []time.Duration
}

// appendTurn appends for as long as a turn, or until the log is a tenth larger. What is to be found is waited for as well;
// what is not, is not indexed before the turn is over.
func (r *run) appendTurn(ctx context.Context, t *turn, found bool) error {
	if !found {
		r.Log.HoldIndexing(true)
		defer r.Log.HoldIndexing(false)
	}
	began := time.Now()
	for n := 0; n < max(1000, r.size/10) && time.Since(began) < r.Turn; n += 1000 {
		call := time.Now()
		if _, err := r.append(ctx, 1000); err != nil {
			return err
		}
		t.calls, t.messages = append(t.calls, time.Since(call)), t.messages+1000
	}
	if found {
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	t.took += time.Since(began)
	return nil
}

// relations gives what search takes on disk.
func (r *run) relations(ctx context.Context) ([]Relation, error) {
	rows, err := r.conn.Query(ctx, sizesSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Relation, error) {
		x := Relation{Messages: r.size}
		return x, row.Scan(&x.Name, &x.Bytes)
	})
}
