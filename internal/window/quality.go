package window

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/tzzr/context-manager/internal/chain"
)

// Quality is how good content is for a window, each from 0 to 1.
type Quality struct {
	Relevance    float64 `json:"relevance"`    // to the task and the goals; 1 for what says what the window is about
	Freshness    float64 `json:"freshness"`    // 1 within the first hour, then half as much every day
	Accuracy     float64 `json:"accuracy"`     // 1 if a verified record says so, 0.9 if none speaks to it, 0.1 if one contradicts it
	Completeness float64 `json:"completeness"` // 1, or 0 without what its type needs
	Consistency  float64 `json:"consistency"`  // 1, or 0 if it contradicts what stays in the window
}

// Score is the mean.
func (q Quality) Score() float64 {
	return (q.Relevance + q.Freshness + q.Accuracy + q.Completeness + q.Consistency) / 5
}

// Thresholds of the specification (RT-008).
const (
	MinRelevance = 0.7
	MinAccuracy  = 0.9
	FreshFor     = time.Hour
)

// What accuracy is.
const (
	confirmed    = 1.0
	unverified   = 0.9
	contradicted = 0.1
)

// freshness halves every day from the end of the first hour on.
func freshness(age time.Duration) float64 {
	if age <= FreshFor {
		return 1
	}
	return math.Exp2(-(age - FreshFor).Hours() / 24)
}

// Overlap gives the relevance of two texts by their words, given as ascending sets without function words: from 0, no word in
// common, to nearly 1. It rises with the share of the shorter one's words that both have,
//
//	1 − 0.3^(5·shared/shorter)
//
// so that one word of five makes 0.7.
func Overlap(a, b []int32) float64 {
	shorter := min(len(a), len(b))
	if shorter == 0 {
		return 0
	}
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			shared, i, j = shared+1, i+1, j+1
		}
	}
	return 1 - math.Pow(0.3, 5*float64(shared)/float64(shorter))
}

// references are the texts that say what a window is about: its task, its goals, and what the user asked last.
func (w *Window) references() []string {
	var texts []string
	if w.Task != "" {
		texts = append(texts, w.Task)
	}
	for _, s := range append([]Segment{{Items: w.Items}}, w.Segments...) {
		for i := range s.Items {
			if s.Items[i].Type == Goal {
				texts = append(texts, s.Items[i].Content)
			}
		}
	}
	if q := w.query(); q != nil && len(texts) > 0 {
		texts = append(texts, q.Content)
	}
	return texts
}

// relevance measures content by the words of what the window is about. Where nothing says that, everything is relevant.
func (e *Env) relevance(w *Window, t ContentType, content string) float64 {
	texts := w.references()
	if !t.Measured() || len(texts) == 0 {
		return 1
	}
	if wordless(content) {
		return 0
	}
	words, best := e.Words(content), 0.0
	for _, text := range texts {
		best = max(best, Overlap(words, e.Words(text)))
	}
	return best
}

// wordless tells whether there is nothing in content to look for: such content needs not be counted, compared or judged.
func wordless(content string) bool {
	return !strings.ContainsFunc(content, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) })
}

// incomplete says what content lacks that its type needs; empty: nothing.
func incomplete(t ContentType, content string) string {
	if wordless(content) {
		return "it has no words"
	}
	switch {
	case t == ToolResult && broken(content):
		return "it begins as JSON and does not end as JSON: it was cut off"
	case (t == Knowledge || t == UserPreference || t == Decision) && single(content):
		return fmt.Sprintf("it is a single word, which does not say what the %s is about", strings.ReplaceAll(string(t), "_", " "))
	}
	return ""
}

// single tells whether a text is one word.
func single(content string) bool {
	unspaced := func(r rune) bool { // of a script that puts no spaces between words
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
	}
	return len(strings.Fields(content)) < 2 && !strings.ContainsFunc(content, unspaced)
}

// broken tells whether a text was meant to be JSON and is not.
func broken(content string) bool {
	text := strings.TrimSpace(content)
	return (strings.HasPrefix(text, `{"`) || strings.HasPrefix(text, `[{`) || strings.HasPrefix(text, `["`)) && !json.Valid([]byte(text))
}

// Record is a verified record that speaks of what some content speaks of.
type Record struct {
	Hash    chain.Hash
	Title   string
	Content string
}
