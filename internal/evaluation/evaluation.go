// Package evaluation measures how well a log finds what a question needs: it imports a LoCoMo file, asks its
// questions, and computes the share of their evidence that came back among the first few messages.
//
// It never ranks anything itself, and never speaks SQL.
package evaluation

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/ingest"
)

// Asker ranks messages for a question.
type Asker interface {
	// Ask gives the hashes of at most limit messages of the thread, best first, whatever their scores, and how
	// long it took.
	Ask(ctx context.Context, query string, thread chain.Hash, limit int) (messages []chain.Hash, took time.Duration, err error)
}

// Depths are the numbers of first messages among which evidence is looked for.
var Depths = [...]int{5, 10, 25, 50}

// Options are what a caller of Run may want to see on the way. The zero value is fine.
type Options struct {
	Imported func(ingest.Summary)  // once the file is imported
	Asked    func(done, total int) // after each question
}

// Run imports a LoCoMo file into the log, asks each of its questions once, one after the other, and measures the
// answers. name stands for the file in errors. Questions without evidence are not asked.
func Run(ctx context.Context, log ingest.Log, asker Asker, name string, file io.ReadSeeker, options Options) (*Report, error) {
	samples, err := readSamples(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	messages := map[string]chain.Hash{}
	summary, err := ingest.Import(ctx, log, name, file, ingest.Options{
		Labelled: func(label string, m chain.Message) { messages[label] = m.Hash },
	})
	if err != nil {
		return nil, err
	}
	if options.Imported != nil {
		options.Imported(summary)
	}
	results, err := askAll(ctx, asker, samples, messages, options)
	if err != nil {
		return nil, err
	}
	return newReport(summary, samples, results), nil
}

// result is how one question went.
type result struct {
	sample   string
	category int
	recall   [len(Depths)]float64
	missing  []string // evidence that no message is
	took     time.Duration
}

func askAll(ctx context.Context, asker Asker, samples []sample, messages map[string]chain.Hash, options Options) ([]result, error) {
	total := 0
	for _, s := range samples {
		total += len(s.questions)
	}
	var results []result
	for _, s := range samples {
		for _, q := range s.questions {
			found, took, err := asker.Ask(ctx, q.text, ingest.LocomoThread(s.id), Depths[len(Depths)-1])
			if err != nil {
				return nil, fmt.Errorf("conversation %s, question %q: %w", s.id, q.text, err)
			}
			evidence, missing := q.resolve(s.id, messages)
			results = append(results, result{
				sample: s.id, category: q.category, recall: recall(found, evidence, len(q.evidence)), missing: missing, took: took,
			})
			if options.Asked != nil {
				options.Asked(len(results), total)
			}
		}
	}
	return results, nil
}

// resolve gives the messages that a question's evidence names, and the ids that no message has.
func (q *question) resolve(sampleID string, messages map[string]chain.Hash) (evidence []chain.Hash, missing []string) {
	for _, id := range q.evidence {
		if hash, ok := messages[ingest.TurnLabel(sampleID, id)]; ok {
			evidence = append(evidence, hash)
		} else {
			missing = append(missing, id)
		}
	}
	return evidence, missing
}

// recall is, for each depth, how many of the evidence messages are among the first of found, as a share of total.
// Evidence that no message is counts in total, so as not found.
func recall(found, evidence []chain.Hash, total int) (shares [len(Depths)]float64) {
	for i, depth := range Depths {
		first := found[:min(depth, len(found))]
		hits := 0
		for _, hash := range evidence {
			if slices.Contains(first, hash) {
				hits++
			}
		}
		shares[i] = float64(hits) / float64(total)
	}
	return shares
}
