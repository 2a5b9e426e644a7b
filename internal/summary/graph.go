package summary

import "math"

const (
	damping  = 0.85
	rounds   = 30   // at most; it converges in some ten
	accuracy = 1e-4 // of a unit's share, relative to the mean
)

// entry is a value of a row of a matrix, at a column.
type entry struct {
	column int
	value  float64
}

// graph is the sentences of a text and how much each says of what each other says: the cosine of their vectors, terms weighed
// by IDF. The matrix of cosines is V·Vᵀ with the unit vectors as V's rows, and only its products with vectors are needed, so
// it is never made: a product takes as many steps as V has values, not sentences squared.
type graph struct {
	rows    [][]entry
	columns int
}

// newGraph makes the graph of units, whose parts are texts of their own for IDF, unless it is over.
func newGraph(units []unit, parts int, over func() error) (graph, error) {
	columns := map[int32]int{}
	var df, last []int // of a column: how many parts have it, and which was the last
	for _, u := range units {
		if err := over(); err != nil {
			return graph{}, err
		}
		for _, term := range u.vector.Terms {
			c, ok := columns[term]
			if !ok {
				c = len(columns)
				columns[term] = c
				df, last = append(df, 0), append(last, -1)
			}
			if last[c] != u.part {
				last[c] = u.part
				df[c]++
			}
		}
	}
	g := graph{rows: make([][]entry, len(units)), columns: len(columns)}
	for i, u := range units {
		if err := over(); err != nil {
			return g, err
		}
		row, squares := make([]entry, len(u.vector.Terms)), 0.0
		for k, term := range u.vector.Terms {
			c := columns[term]
			value := float64(u.vector.Values[k]) * idf(df[c], parts)
			row[k] = entry{c, value}
			squares += value * value
		}
		for k := range row {
			row[k].value /= math.Sqrt(squares)
		}
		g.rows[i] = row
	}
	return g, nil
}

// times gives the product of the matrix of cosines and a vector.
func (g graph) times(x []float64) []float64 {
	sums := make([]float64, g.columns)
	for i, row := range g.rows {
		for _, e := range row {
			sums[e.column] += e.value * x[i]
		}
	}
	y := make([]float64, len(g.rows))
	for i, row := range g.rows {
		for _, e := range row {
			y[i] += e.value * sums[e.column]
		}
	}
	return y
}

// centrality is continuous LexRank: the share of its time that a walk spends at each sentence which goes on to another in
// proportion to their cosine, and to any with probability 1 − damping. The most central has 1.
func (g graph) centrality(over func() error) ([]float64, error) {
	n := len(g.rows)
	rank, ones := make([]float64, n), make([]float64, n)
	for i := range ones {
		rank[i], ones[i] = 1, 1
	}
	degree := g.times(ones)
	step := make([]float64, n)
	for range rounds {
		if err := over(); err != nil {
			return nil, err
		}
		for i := range step {
			step[i] = 0
			if degree[i] > 0 {
				step[i] = rank[i] / degree[i]
			}
		}
		moved := 0.0
		for i, arrived := range g.times(step) {
			next := 1 - damping + damping*arrived
			moved = max(moved, math.Abs(next-rank[i]))
			rank[i] = next
		}
		if moved < accuracy {
			break
		}
	}
	most := 0.0
	for _, r := range rank {
		most = max(most, r)
	}
	for i := range rank {
		rank[i] /= most
	}
	return rank, nil
}
