package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/tzzr/context-manager/db/dbgen"
)

// How a model comes to serve.
const (
	switchSlack = 10 * time.Second // messages that wait for less do not hold up the switch: some always do
	indexLease  = time.Minute      // renewed while an index is built
	indexMemory = 2 << 20          // kB that building an index may use, at most; it has less where less will do
	indexCores  = 2                // that help
)

// advance does what is next for the model of the settings: files what is missing once nothing else is outstanding,
// builds its index, and switches to it. Each step begins anew where another server, or this one, left off.
func (e *denseEmbedder) advance(ctx context.Context, mine *denseTarget, serves, wanted bool) error {
	q := e.db.queries()
	backlog, err := q.BacklogState(ctx, mine.id, switchSlack.Seconds())
	if err != nil {
		return err
	}
	if !backlog.Outstanding {
		e.mu.Lock()
		unbuilt := e.unbuilt
		e.mu.Unlock()
		if err := e.tell(ctx, mine, unbuilt, false); err != nil {
			return err
		}
	}
	if backlog.Old {
		return nil
	}
	if !e.settled && (!e.filed || time.Now().After(e.refile)) {
		if err := e.fileMissing(ctx, mine); err != nil || !e.filed {
			return err
		}
	}
	if serves || !wanted {
		return nil
	}
	built, err := e.index(ctx, mine)
	if err != nil || !built {
		return err
	}
	if err := e.config.step("switch"); err != nil {
		return err
	}
	if vector, err := probe(ctx, mine.embedder); err != nil || !same(vector, mine.probe) {
		if err == nil || isWrongDimension(err) {
			mine.doubt()
		}
		return err
	}
	var switched int64
	err = e.db.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockModels(ctx); err != nil {
			return err
		}
		var err error
		if switched, err = q.SwitchModel(ctx, mine.id); err != nil {
			return err
		}
		return retire(ctx, q)
	})
	if err == nil && switched == 1 {
		e.db.log.InfoContext(ctx, "searches use another embedding model", "model", mine.name)
	}
	return err
}

// fileMissing files what is neither embedded nor outstanding: what was written by a transaction that had begun before the
// model was there and was not committed yet, or whose vectors somebody removed. filed says that nothing was.
func (e *denseEmbedder) fileMissing(ctx context.Context, mine *denseTarget) error {
	return e.db.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		missing, err := q.FileMissing(ctx, mine.id)
		if err != nil {
			return err
		}
		records, err := q.FileMissingRecords(ctx, mine.id)
		if err != nil {
			return err
		}
		e.filed = missing.Filed == 0 && records == 0
		e.settled = e.filed && missing.Settled
		e.refile = time.Now().Add(e.config.pace.refile)
		return nil
	})
}

// index has the HNSW index of a model built, unless it is there, or somebody is at it; built says that it is there.
// Built while others read and write, it may be left half done by a server that is killed; the next one begins again.
func (e *denseEmbedder) index(ctx context.Context, mine *denseTarget) (built bool, err error) {
	e.mu.Lock()
	busy := e.building || time.Now().Before(e.rebuild)
	e.mu.Unlock()
	if busy {
		return false, nil
	}
	q := e.db.queries()
	state, err := q.DenseIndex(ctx, mine.id)
	if err != nil || state.Valid || state.Building {
		return state.Valid, err
	}
	if taken, err := q.LeaseIndex(ctx, indexLease.Seconds(), mine.id, false); err != nil || taken == 0 {
		return false, err
	}
	done := e.keepIndexLease(ctx, mine)
	if err := e.config.step("index"); err != nil {
		done()
		return false, err
	}
	e.setBuilding(true, nil)
	e.wait.Go(func() {
		defer done()
		// Of shared memory there may be too little for others to help, so it is tried without them as well.
		memory := min(indexMemory, 65536+state.Vectors*int64(2*mine.dimensions+512)/1024)
		var err error
		for _, cores := range []int{indexCores, 0} {
			if err = e.buildIndex(ctx, mine, memory, cores); err == nil || ctx.Err() != nil {
				break
			}
			e.db.log.WarnContext(ctx, "an index of dense vectors was not built", "model", mine.name, "helpers", cores, "cause", err)
		}
		e.setBuilding(false, err)
	})
	return false, nil
}

// setBuilding notes whether an index is being built, and why the last time failed: then there is a pause.
func (e *denseEmbedder) setBuilding(building bool, failed error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.building, e.unbuilt = building, failed
	if failed != nil {
		e.rebuild = time.Now().Add(e.config.pace.lasting)
	}
}

// keepIndexLease renews the lease until done is called, which gives it back.
func (e *denseEmbedder) keepIndexLease(ctx context.Context, mine *denseTarget) (done func()) {
	renewing, end := context.WithCancel(ctx)
	e.wait.Go(func() {
		for wait(renewing, indexLease/3); renewing.Err() == nil; wait(renewing, indexLease/3) {
			_, _ = e.db.queries().LeaseIndex(renewing, indexLease.Seconds(), mine.id, true) // else it ends
		}
	})
	return func() {
		end()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), denseFinish)
		defer cancel()
		_ = e.db.queries().EndIndexLease(ending, mine.id) // else it ends by itself
	}
}

// buildIndex builds on a connection of its own, whose settings go with it (but for a pooler, which may keep them), and which stops building when ctx ends.
func (e *denseEmbedder) buildIndex(ctx context.Context, mine *denseTarget, memory int64, cores int) error {
	config := e.db.address.with(nil).ConnConfig
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: denseFinish}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	// As parameters of the connection, a pooler between might refuse them.
	for _, setting := range []string{fmt.Sprintf("maintenance_work_mem = %d", memory), fmt.Sprintf("max_parallel_maintenance_workers = %d", cores)} {
		if _, err := conn.Exec(ctx, "SET "+setting); err != nil && ctx.Err() == nil {
			e.db.log.WarnContext(ctx, "an index is built without a setting", "setting", setting, "cause", err)
		}
	}
	for _, sql := range []string{dropIndexSQL, buildIndexSQL, sampleIndexSQL} {
		if _, err := conn.Exec(ctx, mine.fill(sql)); err != nil {
			return err
		}
	}
	return nil
}
