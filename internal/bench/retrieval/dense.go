package retrieval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
)

// Dense is a store that embeds with a provider's model.
type Dense interface {
	// ByMeaning gives what is nearest to a text as a request for context finds it, and how long that took once the
	// text's vector was there.
	ByMeaning(ctx context.Context, text string, limit int) (vector []float32, hits []Hit, took time.Duration, err error)
	Close()
}

const (
	denseQuestions = 50
	largestSearch  = 1000 // hnsw.ef_search can be no greater
)

// dense embeds the log with a model that is new, waits until it serves, and searches the whole log by it, beside the
// same search by the index alone, which keeps as little in view as gives it the same recall.
func (r *run) dense(ctx context.Context) (f Figure, builds []Build, err error) {
	f = Figure{Name: fmt.Sprintf("whole log, dense, %d dimensions", Dimensions), Limit: "HNSW alone at the same recall", Target: 1.5, Messages: r.size}
	provider, err := startProvider()
	if err != nil {
		return f, nil, err
	}
	defer provider.stop()
	name := fmt.Sprintf("made-up-%d", r.size)
	store, err := r.OpenDense(ctx, provider.url, name)
	if err != nil {
		return f, nil, err
	}
	defer store.Close()
	model, builds, err := r.awaitModel(ctx, name)
	if err != nil {
		return f, builds, err
	}
	table := fmt.Sprintf("embedding.dense_%d", model)
	if _, err := r.conn.Exec(ctx, "VACUUM ANALYZE "+table); err != nil {
		return f, builds, err
	}
	questions := r.queries(denseQuestions, r.anyThread)
	if err := awaitStore(ctx, store, questions[0].text); err != nil {
		return f, builds, err
	}
	vectors, exact := make([]pgvector.HalfVector, len(questions)), make([][]Hit, len(questions))
	for i, q := range questions { // warms up as well
		vector, _, _, err := store.ByMeaning(ctx, q.text, first)
		if err != nil {
			return f, builds, err
		}
		vectors[i] = pgvector.NewHalfVector(vector)
		if exact[i], err = r.near(ctx, table, "d.vector", vectors[i]); err != nil {
			return f, builds, err
		}
	}
	least, err := r.recallOf(ctx, questions, exact, store)
	if err != nil {
		return f, builds, err
	}
	search, err := r.sameRecall(ctx, table, vectors, exact, least)
	if err != nil {
		return f, builds, err
	}
	f.Limit = fmt.Sprintf("HNSW alone at the same recall (ef_search %d)", search)
	f.Recall = least
	var ours, theirs []time.Duration
	for i, q := range questions {
		_, _, took, err := store.ByMeaning(ctx, q.text, first)
		if err != nil {
			return f, builds, err
		}
		began := time.Now()
		if _, err := r.near(ctx, table, indexed, vectors[i]); err != nil {
			return f, builds, err
		}
		ours, theirs = append(ours, took), append(theirs, time.Since(began))
	}
	f.Ours, f.Theirs = times(ours), times(theirs)
	f.Ratio = f.Ours.P50 / f.Theirs.P50
	return f, builds, nil
}

// indexed is the expression that the index of a model has.
var indexed = fmt.Sprintf("d.vector::halfvec(%d)", Dimensions)

// near gives the first ten by cosine: with the index's expression by index, and otherwise exactly.
func (r *run) near(ctx context.Context, table, expression string, vector pgvector.HalfVector) ([]Hit, error) {
	sql := strings.NewReplacer("{table}", table, "{expression}", expression, "{dimensions}", fmt.Sprint(Dimensions)).Replace(nearSQL)
	rows, err := r.conn.Query(ctx, sql, vector.String(), first)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Hit])
}

// recallOf gives the recall of the store's searches.
func (r *run) recallOf(ctx context.Context, questions []question, exact [][]Hit, store Dense) (float64, error) {
	found, wanted := 0, 0
	for i, q := range questions {
		_, hits, _, err := store.ByMeaning(ctx, q.text, first)
		if err != nil {
			return 0, err
		}
		found, wanted = found+overlap(hits, exact[i]), wanted+len(exact[i])
	}
	return float64(found) / float64(max(1, wanted)), nil
}

// sameRecall gives the least that the index has to keep in view to reach a recall, or the most that it can.
func (r *run) sameRecall(ctx context.Context, table string, vectors []pgvector.HalfVector, exact [][]Hit, least float64) (int, error) {
	steps := []int{first, 15, 20, 30, 40, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 600, 800, largestSearch}
	var failure error
	reaches := func(search int) bool {
		if failure != nil {
			return true
		}
		if _, failure = r.conn.Exec(ctx, fmt.Sprintf("SET hnsw.ef_search = %d", search)); failure != nil {
			return true
		}
		found, wanted := 0, 0
		for i, vector := range vectors {
			hits, err := r.near(ctx, table, indexed, vector)
			if err != nil {
				failure = err
				return true
			}
			found, wanted = found+overlap(hits, exact[i]), wanted+len(exact[i])
		}
		return float64(found) >= least*float64(wanted)-1e-9
	}
	at, _ := slices.BinarySearchFunc(steps, true, func(search int, _ bool) int {
		if reaches(search) {
			return 0
		}
		return -1
	})
	search := steps[min(at, len(steps)-1)]
	if failure == nil {
		_, failure = r.conn.Exec(ctx, fmt.Sprintf("SET hnsw.ef_search = %d", search))
	}
	return search, failure
}

// awaitModel waits until the model serves, and tells how long that took, and of it the index.
func (r *run) awaitModel(ctx context.Context, name string) (id int32, builds []Build, err error) {
	began := time.Now()
	var embedded time.Time
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		var left int64
		var serves bool
		err := r.conn.QueryRow(ctx, modelSQL, name).Scan(&id, &left, &serves)
		if err != nil && err != pgx.ErrNoRows {
			return 0, nil, err
		}
		if err == nil && left == 0 && embedded.IsZero() {
			embedded = time.Now()
		}
		if serves {
			if embedded.IsZero() {
				embedded = time.Now()
			}
			return id, []Build{
				{r.size, "dense vectors, with the provider's time", embedded.Sub(began).Seconds()},
				{r.size, "their HNSW index", time.Since(embedded).Seconds()},
			}, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// awaitStore waits until the store has heard that its model serves.
func awaitStore(ctx context.Context, store Dense, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, _, _, err := store.ByMeaning(ctx, text, first)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return err
		}
	}
}

// dropModel lets go of the model, so that the next size's is alone.
func (r *run) dropModel(ctx context.Context) error {
	_, err := r.conn.Exec(ctx, "DELETE FROM embedding.serving")
	if err == nil {
		_, err = r.conn.Exec(ctx, "SELECT embedding.drop_dense(m.id) FROM embedding.models m WHERE m.kind = 'dense'")
	}
	return err
}
