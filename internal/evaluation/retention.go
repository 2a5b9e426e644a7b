package evaluation

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tzzr/context-manager/internal/ranking"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

const (
	// summaryShare is the share of a session's tokens that its summary may have: one of so many.
	summaryShare = 5
	// heldShare is how much of what a message says a summary holds at least, if it is said to hold the message.
	heldShare = 0.5
	// rounding is more than sums of the same numbers in different orders differ by.
	rounding = 1e-9
)

// Summaries measures what is left of a question's evidence when each session of a LoCoMo file is summarised to a fifth of its
// tokens, by the summariser and, for comparison, by Whole. The first speaker of a conversation is taken for the user, the
// other for the assistant; no summariser sees a question. summarised, if there is one, is called after each session.
//
// A summary holds a message if some run of the summary's words, no longer than the message, has half of what the message says:
//
//	Σ IDF of the message's words that are in the run ≥ ½ · Σ IDF of the message's words
//
// each different word once, IDF over the messages of the conversation. A question counts if the summary of a session holds a
// message of the session that is among its evidence. A summary over its budget, which is counted here, holds nothing.
func Summaries(ctx context.Context, file io.Reader, summariser window.Summariser, summarised func(done, total int)) (*Retention, error) {
	samples, err := readSamples(file)
	if err != nil {
		return nil, err
	}
	count, err := token.Default()
	if err != nil {
		return nil, err
	}
	sessions, total := make([][]session, len(samples)), 0
	for i := range samples {
		if sessions[i], err = samples[i].sessions(); err != nil {
			return nil, err
		}
		total += len(sessions[i])
	}
	r := newRetention(samples)
	done := 0
	for i, s := range samples {
		statistics := newStatistics(sessions[i])
		m := measure{count: count, statistics: statistics}
		for _, method := range []struct {
			summariser window.Summariser
			retained   *Retained
		}{{summariser, &r.Summariser}, {Whole{statistics, count}, &r.Whole}} {
			held := map[string]float64{}
			for _, one := range sessions[i] {
				if err := m.session(ctx, method.summariser, s.speakers[0], one, method.retained, held); err != nil {
					return nil, fmt.Errorf("conversation %s, %s: %w", s.id, one.name, err)
				}
				if done++; summarised != nil {
					summarised(done, 2*total)
				}
			}
			method.retained.ask(s, held)
		}
		r.note(s, sessions[i])
	}
	r.Summariser.finish()
	r.Whole.finish()
	return r, nil
}

// measure measures the summaries of a conversation's sessions.
type measure struct {
	count      token.Counter
	statistics *statistics
}

// session summarises a session and notes, by message, how much of it the summary holds.
func (m measure) session(ctx context.Context, by window.Summariser, user string, s session, to *Retained, held map[string]float64) error {
	parts, total := make([]window.Part, len(s.turns)), 0
	for i, t := range s.turns {
		parts[i] = window.Part{Speaker: "assistant", Content: t.Text}
		if t.Speaker == user {
			parts[i].Speaker = "user"
		}
		n, err := m.count(t.Text)
		if err != nil {
			return err
		}
		total += n
	}
	start := time.Now()
	summary, err := by.Summarise(ctx, parts, total/summaryShare)
	if err != nil {
		return err
	}
	took := time.Since(start)
	tokens, err := m.count(summary.Text)
	if err != nil {
		return err
	}
	to.add(summary, total, tokens, took)
	if tokens > total/summaryShare {
		return nil
	}
	words := ranking.Words(summary.Text)
	for _, t := range s.turns {
		held[t.ID] = m.statistics.held(words, ranking.Words(t.Text))
	}
	return nil
}

// statistics tell how rare the words of a conversation are.
type statistics struct {
	messages  int
	frequency map[string]int // in how many messages a word is
}

func newStatistics(sessions []session) *statistics {
	s := &statistics{frequency: map[string]int{}}
	for _, one := range sessions {
		for _, t := range one.turns {
			s.messages++
			for w := range set(ranking.Words(t.Text)) {
				s.frequency[w]++
			}
		}
	}
	return s
}

func set(words []string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, w := range words {
		all[w] = true
	}
	return all
}

// idf is BM25's.
func (s *statistics) idf(word string) float64 {
	f := float64(s.frequency[word])
	return math.Log(1 + (float64(s.messages)-f+0.5)/(f+0.5))
}

// information is the sum of the IDF of the different words among some, in their order, so that it is the same each time.
func (s *statistics) information(words []string) (sum float64, different int) {
	seen := make(map[string]bool, len(words))
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			sum += s.idf(w)
		}
	}
	return sum, len(seen)
}

// held is the most that a run of a summary's words, no longer than a message, has of the message's information, 0 to 1.
func (s *statistics) held(summary, message []string) float64 {
	total, _ := s.information(message)
	if total == 0 {
		return 0
	}
	of, within := set(message), map[string]int{}
	most := 0.0
	for end, w := range summary {
		if of[w] {
			within[w]++
		}
		if begin := end - len(message); begin >= 0 && of[summary[begin]] {
			within[summary[begin]]--
		}
		sum := 0.0
		for w, n := range within {
			if n > 0 {
				sum += s.idf(w)
			}
		}
		most = max(most, sum)
	}
	return min(most/total, 1)
}
