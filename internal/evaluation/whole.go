package evaluation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// wholeName is the name of what Whole does.
const wholeName = "whole messages"

// Whole is the summariser to compare others with. It chooses whole messages by the mean IDF of their different words, and of
// those the best, one after another, that fit. It knows the words of the whole conversation.
type Whole struct {
	statistics *statistics
	count      token.Counter
}

// Summarise is window.Summariser's.
func (w Whole) Summarise(_ context.Context, parts []window.Part, budget int) (window.Summary, error) {
	summary := window.Summary{By: wholeName}
	order, score := make([]int, len(parts)), make([]float64, len(parts))
	for i, p := range parts {
		sum, different := w.statistics.information(ranking.Words(p.Content))
		order[i], score[i] = i, sum/float64(max(different, 1))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	chosen := make([]bool, len(parts))
	text := func() string {
		var contents []string
		for i, p := range parts {
			if chosen[i] {
				contents = append(contents, p.Content)
			}
		}
		return strings.Join(contents, "\n")
	}
	for _, i := range order {
		chosen[i] = true
		tokens, err := w.count(text())
		if err != nil {
			return summary, err
		}
		if tokens > budget {
			chosen[i] = false
		} else {
			summary.Tokens = tokens
		}
	}
	summary.Text = text()
	return summary, nil
}
