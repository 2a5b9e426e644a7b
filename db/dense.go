package db

import (
	"cmp"
	"context"
	_ "embed" // for the statements
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/selection"
)

// The statements on one model's vectors. {model} and {dimensions} have to be constants there: so the planner knows
// which partition is meant, and that its index fits.
var (
	//go:embed dense/nearest.sql
	nearestSQL string
	//go:embed dense/among.sql
	nearestAmongSQL string
	//go:embed dense/amongindexed.sql
	nearestAmongIndexedSQL string
	//go:embed dense/scope.sql
	nearestInScopeSQL string
	//go:embed dense/records.sql
	nearestRecordsSQL string
	//go:embed dense/cosines.sql
	cosinesSQL string
	//go:embed dense/settings.sql
	settingsSQL string
	//go:embed dense/build.sql
	buildIndexSQL string
	//go:embed dense/drop.sql
	dropIndexSQL string
	//go:embed dense/sample.sql
	sampleIndexSQL string
)

// How the nearest are found.
const (
	minSearch = 100    // what HNSW keeps in view, at least: hnsw.ef_search
	maxSearch = 1000   // the same, at most
	exactIDs  = 30_000 // messages that are gone through one by one
)

// denseQuery is a query's vector under a model.
type denseQuery struct {
	model     int32 // id of the model
	name      string
	vector    []float32          // of length 1
	unrelated *ranking.Unrelated // nil if the model was not measured
}

// denseHit is how near a message (kind RefContext) or a record is to a query.
type denseHit struct {
	kind   chain.RefType
	id     int64
	cosine float64
}

// fill writes the model into a statement.
func (m *denseModel) fill(sql string) string { return fillModel(sql, m.id, m.dimensions) }

func fillModel(sql string, model int32, dimensions int) string {
	return strings.NewReplacer("{model}", strconv.Itoa(int(model)), "{dimensions}", strconv.Itoa(dimensions)).Replace(sql)
}

func (q *denseQuery) fill(sql string) string { return fillModel(sql, q.model, len(q.vector)) }

// denseNearest gives what is nearest to the query, nearest first, of what the scope holds at that state of the log. ids,
// if it is not nil, are the messages that the scope holds. Exact in a scope of at most exactIDs messages, and for records
// in a scope of a time, or if exact is asked for, since what HNSW finds depends on what is out of the scope; else as near
// as HNSW comes.
func denseNearest(ctx context.Context, tx reader, query denseQuery, scope selection.Scope, ids []int64, at *asOf, limit int, exact bool) ([]denseHit, error) {
	kinds := words(scope.RecordKinds())
	if exact && ids == nil { // nothing is not the whole log
		ids = []int64{}
	}
	narrowed := scope.NarrowsMessages() || ids != nil
	var hits []denseHit
	var err error
	switch {
	case !scope.HasMessages():
	case !narrowed && len(kinds) > 0:
		return query.indexed(ctx, tx, nearestSQL, at, limit, append(kinds, string(chain.RefContext)))
	case !narrowed:
		hits, err = query.indexed(ctx, tx, nearestSQL, at, limit, []string{string(chain.RefContext)})
	case ids != nil:
		hits, err = query.among(ctx, tx, ids, at, limit, exact)
	default:
		hits, err = query.inScope(ctx, tx, scope, at, limit)
	}
	if err != nil || len(kinds) == 0 {
		return hits, err
	}
	_, _, last := stateOf(at)
	records, err := query.hits(ctx, tx, nearestRecordsSQL, query.parameter(), limit, last, kinds, scope.Since, scope.Until)
	hits = append(hits, records...)
	nearestFirst(hits)
	return hits[:min(len(hits), limit)], err
}

// nearestFirst orders hits; equal ones always in the same way.
func nearestFirst(hits []denseHit) {
	slices.SortFunc(hits, func(a, b denseHit) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
	})
}

func (q *denseQuery) parameter() pgvector.HalfVector { return pgvector.NewHalfVector(q.vector) }

// stateOf gives a state of the log as parameters: all of it for nil.
func stateOf(at *asOf) (position int64, absent []int64, records int64) {
	if at == nil {
		return math.MaxInt64, []int64{}, math.MaxInt64
	}
	return at.position, append([]int64{}, at.absent...), at.records
}

// indexed searches by the model's index: what it keeps in view is more than is asked for, and it goes on where a filter
// leaves out what is near.
func (q *denseQuery) indexed(ctx context.Context, tx reader, sql string, at *asOf, limit int, more ...any) ([]denseHit, error) {
	position, absent, records := stateOf(at)
	batch := &pgx.Batch{}
	batch.Queue(settingsSQL, strconv.Itoa(min(max(minSearch, limit), maxSearch)))
	batch.Queue(q.fill(sql), append([]any{q.parameter(), limit, position, absent, records}, more...)...)
	results := tx.SendBatch(ctx, batch)
	defer results.Close()
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	hits, err := collectHits(rows)
	nearestFirst(hits) // the index gives them nearly so
	return hits, err
}

// among searches messages that are known by id: one by one, if they are not too many or the index does not find enough
// of them.
func (q *denseQuery) among(ctx context.Context, tx reader, ids []int64, at *asOf, limit int, exact bool) ([]denseHit, error) {
	if len(ids) > exactIDs && !exact {
		if hits, err := q.indexed(ctx, tx, nearestAmongIndexedSQL, at, limit, ids); err != nil || len(hits) >= limit {
			return hits, err
		}
	}
	position, absent, _ := stateOf(at)
	return q.hits(ctx, tx, nearestAmongSQL, q.parameter(), limit, position, absent, ids)
}

// inScope searches a scope whose messages are not known: by index, and if that gives up before it has found enough,
// in all of the scope.
func (q *denseQuery) inScope(ctx context.Context, tx reader, scope selection.Scope, at *asOf, limit int) ([]denseHit, error) {
	args := scopeList(scope, nil, nil)
	hits, err := q.indexed(ctx, tx, nearestInScopeSQL, at, limit, args...)
	if err != nil || len(hits) >= limit {
		return hits, err
	}
	rows, err := tx.Query(ctx, "SELECT m.id FROM log.in_scope($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) m", args...)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	position, absent, _ := stateOf(at)
	return q.hits(ctx, tx, nearestAmongSQL, q.parameter(), limit, position, absent, ids)
}

// denseCosines gives the cosines of these messages and records with the query, of those that have vectors.
func denseCosines(ctx context.Context, tx reader, query denseQuery, messages, records []int64) ([]denseHit, error) {
	return query.hits(ctx, tx, cosinesSQL, query.parameter(), messages, records)
}

func (q *denseQuery) hits(ctx context.Context, tx reader, sql string, args ...any) ([]denseHit, error) {
	rows, err := tx.Query(ctx, q.fill(sql), args...)
	if err != nil {
		return nil, err
	}
	return collectHits(rows)
}

func collectHits(rows pgx.Rows) ([]denseHit, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h denseHit, err error) {
		err = row.Scan(&h.kind, &h.id, &h.cosine)
		return h, err
	})
}
