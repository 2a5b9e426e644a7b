package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings/provider"
)

const (
	denseBatch    = 64               // texts
	denseAttempts = 8                // of a text that fails alone while others do not; by then it is alone
	denseFinish   = 10 * time.Second // to keep what came, also when the server stops
)

// denseSource names what a vector is of.
type denseSource struct {
	records bool // of knowledge.records, or else of log.messages
	id      int64
}

// denseLeased is a batch that this server has taken: others leave it alone until the lease ends.
type denseLeased struct {
	runs     []int64 // ids in the backlog
	sources  []denseSource
	attempts int32
}

// denseOutcome is what came of a batch.
type denseOutcome struct {
	sources []denseSource
	vectors [][]float32    // one a source; nil: none came
	refused map[int]string // by place: why it will have none
	struck  map[int]string // by place: why it was refused, which may pass
	err     error          // what ended the batch; nil if nothing did
}

// work embeds batch after batch. No transaction is open while the provider is asked.
func (e *denseEmbedder) work(ctx context.Context) {
	for ctx.Err() == nil {
		worked := false
		for _, target := range e.targets() {
			if target.paused() {
				continue
			}
			some, err := e.batch(ctx, target)
			if err != nil && ctx.Err() == nil {
				e.db.log.WarnContext(ctx, "dense vectors wait", "model", target.name, "cause", err)
				break
			}
			worked = worked || some
		}
		if !worked {
			wait(ctx, e.config.pace.poll)
		}
	}
}

// batch embeds what is next in the backlog of a model; some is false if that is empty, or the provider failed. The error
// is the database's. A server that stops gives back what it has taken, so what it does there goes on without ctx.
func (e *denseEmbedder) batch(ctx context.Context, target *denseTarget) (some bool, err error) {
	finishing, cancel := withGrace(ctx, denseFinish)
	defer cancel()
	leased, err := e.lease(finishing, target)
	if err != nil || len(leased.runs) == 0 {
		return false, err
	}
	outcome, texts, err := e.texts(ctx, target, leased)
	if err != nil {
		return false, errors.Join(err, e.db.queries().FreeRunsAgain(finishing, leased.runs))
	}
	if err := e.config.step("embed"); err != nil {
		return false, err
	}
	if len(texts) > 0 {
		limited, cancel := context.WithTimeout(ctx, e.config.pace.lease*2/3)
		outcome.vectors, outcome.err = target.embedder.Embed(limited, texts)
		cancel()
		e.judge(ctx, target, leased, &outcome)
	}
	if err := e.config.step("keep"); err != nil {
		return false, err
	}
	if isWrongDimension(outcome.err) {
		target.doubt()
	}
	pause := e.account(ctx, target, outcome)
	if err := e.finish(finishing, target, leased, outcome, pause); err != nil {
		return false, err
	}
	if err := e.tell(finishing, target, outcome.err, ctx.Err() != nil); err != nil {
		return false, err
	}
	return outcome.err == nil, nil
}

// withGrace gives a context that ends some time after ctx.
func withGrace(ctx context.Context, grace time.Duration) (context.Context, func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return later, func() { stop(); cancel() }
}

// lease takes the newest runs, at most denseBatch sources. One that failed before goes alone.
func (e *denseEmbedder) lease(ctx context.Context, target *denseTarget) (leased denseLeased, err error) {
	seconds := e.config.pace.lease.Seconds()
	err = e.db.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		leased = denseLeased{}
		runs, err := q.FreeRuns(ctx, target.id, denseBatch)
		if err != nil || len(runs) == 0 {
			return err
		}
		leased.attempts = runs[0].Attempts
		for i, run := range runs {
			room := int64(denseBatch - len(leased.sources))
			if room == 0 || i > 0 && (run.Attempts > 0 || leased.attempts > 0) {
				break
			}
			first, id := run.FirstID, run.ID
			if run.LastID-run.FirstID+1 > room {
				first = run.LastID - room + 1
				if id, err = splitRun(ctx, q, target.id, run, first, seconds); err != nil {
					return err
				}
			}
			leased.runs = append(leased.runs, id)
			for source := run.LastID; source >= first; source-- {
				leased.sources = append(leased.sources, denseSource{run.Records, source})
			}
		}
		return q.LeaseRuns(ctx, seconds, leased.runs)
	})
	return leased, err
}

// splitRun leases the end of a run and leaves the rest free.
func splitRun(ctx context.Context, q *dbgen.Queries, model int32, run dbgen.FreeRunsRow, first int64, seconds float64) (int64, error) {
	filed, err := q.ShortenRun(ctx, first-1, run.ID)
	if err != nil {
		return 0, err
	}
	return q.LeaseRun(ctx, dbgen.LeaseRunParams{
		ModelID: model, Records: run.Records, FirstID: first, LastID: run.LastID, FiledAt: filed, Seconds: seconds, Attempts: run.Attempts,
	})
}

// texts reads what is to be embedded: what is there, and has no vector yet.
func (e *denseEmbedder) texts(ctx context.Context, target *denseTarget, leased denseLeased) (o denseOutcome, texts []string, err error) {
	messages, records := ids(leased.sources)
	q := e.db.queries()
	if len(messages) > 0 {
		rows, err := q.DenseTexts(ctx, messages, target.id)
		if err != nil {
			return o, nil, err
		}
		for _, row := range rows {
			o.sources, texts = append(o.sources, denseSource{false, row.ID}), append(texts, row.Content)
		}
	}
	if len(records) > 0 {
		rows, err := q.DenseRecordTexts(ctx, records, target.id)
		if err != nil {
			return o, nil, err
		}
		for _, row := range rows {
			o.sources, texts = append(o.sources, denseSource{true, row.ID}), append(texts, row.Content)
		}
	}
	return o, texts, nil
}

func ids(sources []denseSource) (messages, records []int64) {
	for _, s := range sources {
		if s.records {
			records = append(records, s.id)
		} else {
			messages = append(messages, s.id)
		}
	}
	return messages, records
}

// judge says of each text without a vector whether it will ever have one. A text that fails or is refused again and again,
// alone, while the provider embeds another, will not.
func (e *denseEmbedder) judge(ctx context.Context, target *denseTarget, leased denseLeased, o *denseOutcome) {
	o.refused, o.struck = map[int]string{}, map[int]string{}
	for _, one := range provider.TextErrors(o.err) {
		if one.Empty || len(o.sources) == 1 && leased.attempts >= denseAttempts {
			o.refused[one.Index] = one.Message
		} else {
			o.struck[one.Index] = one.Message
		}
	}
	failure, failed := errors.AsType[*provider.Error](o.err)
	switch {
	case failed && ctx.Err() == nil && len(o.sources) == 1 && leased.attempts >= denseAttempts && strikes(failure):
		if vector, err := probe(ctx, target.embedder); err == nil && same(vector, target.probe) {
			o.refused[0], o.err = "cannot be embedded: "+failure.Error(), nil
		}
	case failed:
		o.err = failure
	case len(o.refused)+len(o.struck) > 0 && !errors.Is(o.err, context.Canceled) && !errors.Is(o.err, context.DeadlineExceeded):
		o.err = nil // every text was judged
	}
	for i, vector := range o.vectors {
		if vector != nil && len(vector) != target.dimensions {
			o.vectors[i] = nil
			o.err = &provider.Error{Kind: provider.WrongDimension, Message: fmt.Sprintf(
				"gave a vector of %d dimensions instead of %d: another model answers to the name %s", len(vector), target.dimensions, target.askedAs)}
		}
	}
}

func isWrongDimension(err error) bool {
	failure, ok := errors.AsType[*provider.Error](err)
	return ok && failure.Kind == provider.WrongDimension
}

// strikes says whether a failure may be one text's.
func strikes(failure *provider.Error) bool {
	switch failure.Kind {
	case provider.Failing, provider.TimedOut, provider.Unreachable, provider.Unusable:
		return true
	default:
		return false
	}
}

// account notes how the provider fared, and gives for how long it is left alone.
func (e *denseEmbedder) account(ctx context.Context, target *denseTarget, o denseOutcome) (pause time.Duration) {
	target.mu.Lock()
	defer target.mu.Unlock()
	switch {
	case ctx.Err() != nil: // stopped, and others may go on at once
	case o.err == nil:
		target.failures = 0
	default:
		e.counts.of(target.name).failures.Add(1)
		pause = e.pauseAfter(target.failures, o.err)
		target.failures++
		target.until = time.Now().Add(pause)
	}
	return pause
}

// finish keeps what came, and puts back what did not, in one transaction.
func (e *denseEmbedder) finish(ctx context.Context, target *denseTarget, leased denseLeased, o denseOutcome, pause time.Duration) error {
	var kept int64
	err := e.db.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockIndexing(ctx); err != nil {
			return err
		}
		filed, err := q.DoneRuns(ctx, leased.runs)
		if err != nil {
			return err
		}
		if kept, err = keepDense(ctx, q, target.id, o); err != nil {
			return err
		}
		oldest := time.Now()
		for _, at := range filed {
			if at.Before(oldest) {
				oldest = at
			}
		}
		var again []denseSource
		for i, source := range o.sources {
			if _, refused := o.refused[i]; refused || o.vectors != nil && o.vectors[i] != nil {
				continue
			}
			cause, struck := o.struck[i]
			if !struck {
				again = append(again, source)
				continue
			}
			if err := q.ReturnRuns(ctx, dbgen.ReturnRunsParams{
				ModelID: target.id, Records: source.records, Firsts: []int64{source.id}, Lasts: []int64{source.id}, FiledAt: oldest,
				Seconds: e.config.pace.wait(int(leased.attempts), nil).Seconds(), Attempts: leased.attempts + 1, Cause: cause,
			}); err != nil {
				return err
			}
		}
		if len(again) == 0 {
			return nil
		}
		return putBack(ctx, q, target.id, leased, again, oldest, o.err, pause)
	})
	if err == nil {
		e.counts.of(target.name).embedded.Add(kept)
	}
	return err
}

// keepDense writes the vectors that came, and what will have none.
func keepDense(ctx context.Context, q *dbgen.Queries, model int32, o denseOutcome) (kept int64, err error) {
	var idsOf, refused [2][]int64 // of messages, of records
	var vectors [2][]pgvector.HalfVector
	var causes [2][]string
	for i, source := range o.sources {
		kind := 0
		if source.records {
			kind = 1
		}
		if cause, ok := o.refused[i]; ok {
			refused[kind], causes[kind] = append(refused[kind], source.id), append(causes[kind], cause)
		} else if o.vectors != nil && o.vectors[i] != nil {
			idsOf[kind], vectors[kind] = append(idsOf[kind], source.id), append(vectors[kind], pgvector.NewHalfVector(o.vectors[i]))
		}
	}
	for kind, keep := range []func(context.Context, int32, []int64, []pgvector.HalfVector) (int64, error){q.KeepDense, q.KeepDenseRecords} {
		if len(idsOf[kind]) > 0 {
			n, err := keep(ctx, model, idsOf[kind], vectors[kind])
			if err != nil {
				return 0, err
			}
			kept += n
		}
		if len(refused[kind]) > 0 {
			if err := q.NoteRefused(ctx, model, kind == 1, refused[kind], causes[kind]); err != nil {
				return 0, err
			}
		}
	}
	return kept, nil
}

// putBack files what no vector came for again. What may have failed for one text's sake comes back in halves, so that
// the others are soon rid of it.
func putBack(ctx context.Context, q *dbgen.Queries, model int32, leased denseLeased, again []denseSource, filed time.Time, failed error, pause time.Duration) error {
	longest, attempts := int64(denseBatch), leased.attempts
	if failure, ok := errors.AsType[*provider.Error](failed); ok && strikes(failure) {
		longest, attempts = max(1, int64(len(leased.sources)/2)), attempts+1
	}
	slices.SortFunc(again, func(a, b denseSource) int { return cmp.Compare(a.id, b.id) })
	cause := denseProblem(failed)
	for _, records := range []bool{false, true} {
		p := dbgen.ReturnRunsParams{ModelID: model, Records: records, FiledAt: filed, Seconds: pause.Seconds(), Attempts: attempts, Cause: cause}
		for _, source := range again {
			n := len(p.Firsts) - 1
			switch {
			case source.records != records:
			case n >= 0 && p.Lasts[n] == source.id-1 && source.id-p.Firsts[n] < longest:
				p.Lasts[n] = source.id
			default:
				p.Firsts, p.Lasts = append(p.Firsts, source.id), append(p.Lasts, source.id)
			}
		}
		if len(p.Firsts) == 0 {
			continue
		}
		if err := q.ReturnRuns(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// tell keeps in the database, for all servers to see, what keeps a model from embedding; nothing does if err is nil.
func (e *denseEmbedder) tell(ctx context.Context, target *denseTarget, err error, stopped bool) error {
	if stopped {
		return nil
	}
	problem := ""
	if err != nil {
		problem = denseProblem(err)
	}
	var text *string
	if problem != "" {
		text = &problem
	}
	return e.db.queries().SetProblem(ctx, text, target.id) // writes only what is not there
}
