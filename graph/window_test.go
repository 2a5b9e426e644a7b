package graph_test

import (
	"fmt"
	"math"
)

type windowItem struct {
	ID, Type, Content string
	Key               *string
	Tokens            int
	Quality           struct{ Relevance, Freshness, Accuracy, Completeness, Consistency, Score float64 }
	VerifiedBy        *struct{ Hash string }
	SummaryOf         []string
	Injected          bool
	Source            *struct{ Hash string }
}

type windowState struct {
	ID             string
	Capacity, Used int
	Usage          float64
	Level          string
	Items          []windowItem
	Segments       []struct {
		ID    string
		Items []windowItem
	}
	Tools []tool
}

type tool struct {
	Name   string
	Tokens int
	Shown  bool
}

type compression struct {
	Strategies                        []string
	TokensBefore, TokensAfter, TookMs int
	Ratio                             float64
	Steps                             []struct {
		Strategy, Summary, By string
		Freed                 int
		Items                 []string
	}
}

type written struct {
	Item        *windowItem
	Quality     struct{ Relevance, Freshness, Accuracy, Completeness, Consistency, Score float64 }
	Rejected    *string
	Mitigations []struct {
		Failure, Action, Reason string
		Items                   []string
		Record                  *struct{ Hash string }
	}
	Compression *compression
	Operation   struct{ ID string }
	Window      windowState
}

const (
	itemFields        = `{ id type content key tokens injected summaryOf verifiedBy { hash } quality { relevance freshness accuracy completeness consistency score } source { ... on Message { hash } ... on Record { hash } } }`
	windowFields      = `{ id capacity used usage level items ` + itemFields + ` segments { id items ` + itemFields + ` } tools { name tokens shown } }`
	compressionFields = `{ strategies tokensBefore tokensAfter ratio tookMs steps { strategy freed items summary by } }`
	writtenFields     = `{ item ` + itemFields + ` quality { relevance freshness accuracy completeness consistency score } rejected mitigations { failure action reason items record { hash } } compression ` + compressionFields + ` operation { id } window ` + windowFields + ` }`
)

// windowOf makes a window.
func (a *api) newWindow(name string, capacity int, task string) string {
	a.t.Helper()
	var out struct{ CreateWindow struct{ ID string } }
	input := object{"name": name, "capacity": capacity}
	if task != "" {
		input["task"] = task
	}
	a.ask(`mutation($i: WindowInput!) { createWindow(input: $i) { id } }`, object{"i": input}, &out)
	return out.CreateWindow.ID
}

func (a *api) writeTo(id, kind, content string, more ...object) written {
	a.t.Helper()
	input := object{"window": id, "type": kind, "content": content}
	for _, o := range more {
		for k, v := range o {
			input[k] = v
		}
	}
	var out struct{ WriteContext written }
	a.ask(`mutation($i: WriteInput!) { writeContext(input: $i) `+writtenFields+` }`, object{"i": input}, &out)
	a.checkUsed(out.WriteContext.Window)
	return out.WriteContext
}

func (a *api) mustWrite(id, kind, content string, more ...object) written {
	a.t.Helper()
	w := a.writeTo(id, kind, content, more...)
	if w.Item == nil || w.Rejected != nil {
		a.t.Fatalf("%q is rejected: %v", content, *w.Rejected)
	}
	return w
}

func (a *api) window(id string) windowState {
	a.t.Helper()
	var out struct{ Window windowState }
	a.ask(`query($id: ID!) { window(id: $id) `+windowFields+` }`, object{"id": id}, &out)
	a.checkUsed(out.Window)
	return out.Window
}

// checkUsed expects that a window says what it holds, and never holds more than it may.
func (a *api) checkUsed(w windowState) {
	a.t.Helper()
	sum := 0
	for _, i := range w.Items {
		sum += i.Tokens
	}
	for _, s := range w.Segments {
		for _, i := range s.Items {
			sum += i.Tokens
		}
	}
	for _, t := range w.Tools {
		if t.Shown {
			sum += t.Tokens
		}
	}
	if sum != w.Used || w.Used > w.Capacity || math.Abs(w.Usage-float64(w.Used)/float64(w.Capacity)) > 1e-9 {
		a.t.Fatalf("the window says %d of %d, %v; its parts have %d", w.Used, w.Capacity, w.Usage, sum)
	}
}

func texts(items []windowItem) (out []string) {
	for _, i := range items {
		out = append(out, i.Content)
	}
	return out
}

// sentence is a message of some 20 tokens, of which no two contradict each other.
func sentence(n int) string {
	topics := []string{"the garden", "the bakery", "the harbour", "the museum", "the library", "the stadium", "the theatre"}
	verbs := []string{"walked past", "asked about", "talked of", "read about", "looked for", "remembered", "wrote about"}
	return fmt.Sprintf("In note %d somebody %s %s and then went on to the next thing on a long list of things to do.", n, verbs[n/7%7], topics[n%7])
}

func (a *api) addRecord(title, content string) string {
	a.t.Helper()
	var out struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation($r: [RecordInput!]!) { addRecords(records: $r) { hash } }`,
		object{"r": []object{{"kind": "SECRETARY", "book": "facts", "title": title, "content": content, "verified": true}}}, &out)
	return out.AddRecords[0].Hash
}

func (a *api) metrics() (m map[string]float64) {
	a.t.Helper()
	var out struct{ ContextMetrics map[string]float64 }
	a.ask(`{ contextMetrics { contextWindowUsageAvg contextWindowUsageP95 compressionTriggeredCount compressionRatioAvg compressionLatencyP95 poisoningAttemptsBlocked
		distractionMitigations confusionMitigations clashesResolved contextQualityScoreAvg relevanceScoreAvg accuracyScoreAvg scratchpadWrites scratchpadReads ragOverToolsCalls
		windowCriticalExceeded } }`, nil, &out)
	return out.ContextMetrics
}
