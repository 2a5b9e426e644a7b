package contradiction

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Report is how a judge did.
type Report struct {
	Overall   Count     `json:"overall"`
	Kinds     []Count   `json:"kinds"`     // in alphabetical order
	Languages []Count   `json:"languages"` // in alphabetical order
	Mistakes  []Mistake `json:"mistakes"`  // in the order of the file
	Judges    []By      `json:"judges"`    // who judged, in alphabetical order
	PairTime  float64   `json:"pair_ms"`   // the mean time per pair, in milliseconds
}

// Count is what a judge said of some pairs, and what that is worth. To say "contradicts" is the positive answer:
//
//	precision = true positives / (true positives + false positives)
//	recall    = true positives / (true positives + false negatives)
//	F1        = 2 · precision · recall / (precision + recall)
//
// A share of nothing is 0: a judge that never says "contradicts" has no precision.
type Count struct {
	Name           string  `json:"name"`
	Pairs          int     `json:"pairs"`
	TruePositives  int     `json:"true_positives"`
	FalsePositives int     `json:"false_positives"`
	FalseNegatives int     `json:"false_negatives"`
	TrueNegatives  int     `json:"true_negatives"`
	Precision      float64 `json:"precision"`
	Recall         float64 `json:"recall"`
	F1             float64 `json:"f1"`
}

// Mistake is a pair of which the judge said what people do not.
type Mistake struct {
	Pair
	Line   int    `json:"pair"`   // the number of the pair in its file, from 1
	Reason string `json:"reason"` // what the judge gave; empty if it gave none
}

// By is how many pairs a judge has judged.
type By struct {
	Name     string `json:"name"`
	Pairs    int    `json:"pairs"`
	Fallback int    `json:"fallback"` // of those, how many another judge was asked first
}

// batch is how many pairs a judge is asked at once.
const batch = 50

// Measure asks the judge about each pair.
func Measure(ctx context.Context, judge window.Judge, pairs []Pair) (*Report, error) {
	r := &Report{Mistakes: []Mistake{}, Overall: Count{Name: "overall"}}
	kinds, languages, judges := map[string]*Count{}, map[string]*Count{}, map[string]*By{}
	var took time.Duration
	for first := 0; first < len(pairs); first += batch {
		some := pairs[first:min(first+batch, len(pairs))]
		asked := make([]window.Pair, len(some))
		for i, p := range some {
			asked[i] = window.Pair{Known: p.Known, New: p.New}
		}
		begin := time.Now()
		verdicts, err := judge.Judge(ctx, asked)
		took += time.Since(begin)
		if err != nil {
			return nil, err
		}
		if len(verdicts) != len(some) {
			return nil, fmt.Errorf("judge: %d verdicts of %d pairs", len(verdicts), len(some))
		}
		for i, p := range some {
			said := verdicts[i].Relation == window.Contradicts
			for _, c := range []*Count{&r.Overall, named(kinds, p.Kind, newCount), named(languages, p.Language, newCount)} {
				c.add(p.Contradicts, said)
			}
			by := named(judges, verdicts[i].By, func(name string) *By { return &By{Name: name} })
			by.Pairs++
			if verdicts[i].Fallback != "" {
				by.Fallback++
			}
			if said != p.Contradicts {
				r.Mistakes = append(r.Mistakes, Mistake{Pair: p, Line: first + i + 1, Reason: verdicts[i].Reason})
			}
		}
	}
	r.Overall.share()
	r.Kinds, r.Languages = sorted(kinds), sorted(languages)
	for _, name := range names(judges) {
		r.Judges = append(r.Judges, *judges[name])
	}
	r.PairTime = took.Seconds() * 1000 / float64(max(len(pairs), 1))
	return r, nil
}

func newCount(name string) *Count { return &Count{Name: name} }

func named[T any](list map[string]*T, name string, create func(string) *T) *T {
	if list[name] == nil {
		list[name] = create(name)
	}
	return list[name]
}

func names[T any](list map[string]T) []string {
	var all []string
	for name := range list {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func sorted(counts map[string]*Count) []Count {
	var list []Count
	for _, name := range names(counts) {
		counts[name].share()
		list = append(list, *counts[name])
	}
	return list
}

func (c *Count) add(contradicts, said bool) {
	c.Pairs++
	switch {
	case contradicts && said:
		c.TruePositives++
	case said:
		c.FalsePositives++
	case contradicts:
		c.FalseNegatives++
	default:
		c.TrueNegatives++
	}
}

func (c *Count) share() {
	c.Precision = ratio(c.TruePositives, c.TruePositives+c.FalsePositives)
	c.Recall = ratio(c.TruePositives, c.TruePositives+c.FalseNegatives)
	c.F1 = ratio(2*c.TruePositives, 2*c.TruePositives+c.FalsePositives+c.FalseNegatives)
}

func ratio(part, whole int) float64 {
	return float64(part) / float64(max(whole, 1))
}

// ReadFile reads the pairs of a file: a JSON object a line, with the fields of Pair.
//
// Faults: BAD_USER_INPUT, with the line and the field.
func ReadFile(path string) ([]Pair, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadUserInput, "%s", err)
	}
	defer file.Close()
	return readPairs(path, file)
}

// RunFile measures the judge on the pairs of a file, and writes the report: as JSON or as a table.
func RunFile(ctx context.Context, judge window.Judge, path string, asJSON bool, stdout io.Writer) error {
	pairs, err := ReadFile(path)
	if err != nil {
		return err
	}
	report, err := Measure(ctx, judge, pairs)
	if err != nil {
		return err
	}
	if asJSON {
		return report.WriteJSON(stdout)
	}
	return report.WriteTable(stdout)
}
