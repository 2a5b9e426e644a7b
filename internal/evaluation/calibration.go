package evaluation

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/ranking"
)

// Selector selects as an agent would that says nothing of a threshold.
type Selector interface {
	// Select tells how many messages of the thread are selected for a query at the default threshold, and the best
	// score that any got, selected or not: 0 if nothing was found.
	Select(ctx context.Context, query string, thread chain.Hash) (selected int, best float64, err error)
}

// Calibrate imports a LoCoMo file of at least two conversations into the log and asks each conversation its own
// questions, for which a selection should not be empty, and those of the next one in the file, the names of that one's
// speakers replaced by its own, for which it should be. Questions without evidence are not asked. name stands for the
// file in errors; asked, if not nil, is called after each question.
func Calibrate(
	ctx context.Context, log ingest.Log, selector Selector, name string, file io.ReadSeeker, asked func(done, total int),
) (*Calibration, error) {
	samples, err := readSamples(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	samples = slices.DeleteFunc(samples, func(s sample) bool { return len(s.questions) == 0 })
	if len(samples) < 2 {
		return nil, fmt.Errorf("%s: %w", name, fault.New(fault.BadUserInput, "holds one conversation with questions: a calibration needs two"))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := ingest.Import(ctx, log, name, file, ingest.Options{}); err != nil {
		return nil, err
	}
	all := trials(samples)
	for i := range all {
		t := &all[i]
		start := time.Now()
		t.selected, t.best, err = selector.Select(ctx, t.question, ingest.LocomoThread(t.conversation))
		if err != nil {
			return nil, fmt.Errorf("conversation %s, question %q: %w", t.conversation, t.question, err)
		}
		t.took = time.Since(start)
		if asked != nil {
			asked(i+1, len(all))
		}
	}
	return newCalibration(samples, all), nil
}

// trial is one question that was asked of a conversation.
type trial struct {
	conversation string
	question     string
	own          bool // of this conversation, not another
	words        int
	selected     int
	best         float64
	took         time.Duration
}

func trials(samples []sample) []trial {
	var all []trial
	for i, s := range samples {
		for _, q := range s.questions {
			all = append(all, trial{conversation: s.id, question: q.text, own: true})
		}
		other := samples[(i+1)%len(samples)]
		rename := renaming(other.speakers, s.speakers)
		for _, q := range other.questions {
			all = append(all, trial{conversation: s.id, question: rename(q.text)})
		}
	}
	for i := range all {
		all[i].words = len(ranking.Words(all[i].question))
	}
	return all
}

// renaming replaces names, as whole words, by those at the same place of another list.
func renaming(from, to []string) func(string) string {
	names := map[string]string{}
	pattern := ""
	for i, name := range from {
		if name == "" || i >= len(to) {
			continue
		}
		names[name] = to[i]
		if pattern != "" {
			pattern += "|"
		}
		pattern += regexp.QuoteMeta(name)
	}
	if pattern == "" {
		return func(text string) string { return text }
	}
	words := regexp.MustCompile(`\b(?:` + pattern + `)\b`)
	return func(text string) string {
		return words.ReplaceAllStringFunc(text, func(name string) string { return names[name] })
	}
}

// middle gives the number of words that half of the questions do not exceed.
func middle(all []trial) int {
	words := make([]int, len(all))
	for i, t := range all {
		words[i] = t.words
	}
	slices.Sort(words)
	return words[(len(words)-1)/2]
}

// area is the area under the curve: how often a question of its own gets a better best score than another's does,
// where the same counts half.
func area(own, other []float64) float64 {
	if len(own) == 0 || len(other) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range own {
		for _, y := range other {
			sum += float64(cmp.Compare(x, y)+1) / 2
		}
	}
	return sum / float64(len(own)*len(other))
}
