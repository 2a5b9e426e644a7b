package graph

import (
	"encoding/json"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/db"
)

// How many objects a list is taken to hold. Connections hold what `first` or `last` asks for: see page.go.
const (
	listLength       = 5  // of a list that is no connection
	schemaListLength = 10 // of lists in introspection
)

// lengthOf gives the length of lists that may be longer as the most they can hold.
func lengthOf(objectAndField string) int {
	switch objectAndField {
	case "ContextSelection.items", "ContextSelection.dropped", "ReplayedSelection.items", "ReplayedSelection.dropped":
		return 200
	case "RankingPolicy.weights":
		return 25
	case "WhyNot.verdicts":
		return 10
	case "Thread.players":
		return 100
	case "Session.marks", "Thread.marks":
		return db.MaxMarks
	case "ComponentUsage.buckets":
		return db.MaxUsageBuckets
	default:
		return listLength
	}
}

// complexity is a guess at how many values an answer holds:
//
//	complexity(field) = 1 + length × Σ complexity(children)
//
// where 1 is heavyCost for what is heavy by itself, length is the page's size of a connection, a guess for other lists, and 1 for anything else. Fragments are
// counted where they are spread, but worked out once, so that it takes linear time. The operation must be valid.
func complexity(op *ast.OperationDefinition, variables map[string]any) int {
	c := complexityCounter{variables: variables, fragments: map[string]int{}}
	return c.set(op.SelectionSet)
}

type complexityCounter struct {
	variables map[string]any
	fragments map[string]int
	steps     int // selections looked at, for tests
}

func (c *complexityCounter) set(set ast.SelectionSet) int {
	total := 0
	for _, selection := range set {
		c.steps++
		switch x := selection.(type) {
		case *ast.Field:
			total += c.field(x)
		case *ast.InlineFragment:
			total += c.set(x.SelectionSet)
		case *ast.FragmentSpread:
			total += c.fragment(x)
		}
		total = min(most, total)
	}
	return total
}

func (c *complexityCounter) fragment(spread *ast.FragmentSpread) int {
	n, known := c.fragments[spread.Name]
	if !known {
		n = c.set(spread.Definition.SelectionSet)
		c.fragments[spread.Name] = n
	}
	return n
}

func (c *complexityCounter) field(f *ast.Field) int {
	if len(f.SelectionSet) == 0 {
		return ownCost(f)
	}
	own := ownCost(f)
	return min(most, own+c.length(f)*c.set(f.SelectionSet))
}

// ownCost is what a field counts for without what it holds.
func ownCost(f *ast.Field) int {
	switch {
	case isHeavy(f):
		return heavyCost
	case isByPosition(f):
		return positionCost
	}
	return 1
}

// positionCost is what a field counts for that goes through a whole session or thread.
const positionCost = 1_000

// isByPosition tells whether a field finds messages by position.
func isByPosition(f *ast.Field) bool {
	if f.ObjectDefinition == nil || f.ObjectDefinition.Name != "Session" && f.ObjectDefinition.Name != "Thread" {
		return false
	}
	switch f.Name {
	case "range", "place", "placeAt", "marks", "marksCount":
		return true
	}
	return false
}

// heavyCost is what a field counts for that is heavy by itself: no more than four fit into one request, which are
// worked out at once.
const heavyCost = MaxComplexity/5 + 1

// isHeavy tells whether a root field is a check, searches, or counts what is embedded or named. No other fields have these names.
func isHeavy(f *ast.Field) bool {
	switch f.Name {
	case "replayContext", "tryContext", "whyNot", "embeddingModels", "componentUsage":
		return true
	}
	return isCheck(f)
}

// isCheck tells whether a root field reads the whole log, or a whole session. No other fields have these names.
func isCheck(f *ast.Field) bool {
	switch f.Name {
	case "verifyLog", "verifySession", "verificationProgress":
		return true
	}
	return false
}

// length is how many objects a field is taken to give.
func (c *complexityCounter) length(f *ast.Field) int {
	if f.Definition == nil {
		return 1
	}
	t := f.Definition.Type
	switch {
	case strings.HasSuffix(t.Name(), "Connection"):
		return c.page(f)
	case t.Name() == "MessageRange":
		return c.rangeLength(f)
	case f.ObjectDefinition.Name == "Query" && (f.Name == "threadEvents" || f.Name == "userThreads"):
		return c.eventsLength(f)
	case t.Elem == nil, f.Name == "edges": // an edge is counted by its connection
		return 1
	case f.ObjectDefinition.Name == "MessageRange": // and a message by its range
		return 1
	case strings.HasPrefix(f.ObjectDefinition.Name, "__"):
		return schemaListLength
	default:
		return lengthOf(f.ObjectDefinition.Name + "." + f.Name)
	}
}

// page is the size of the page that a connection is asked for. What is out of range is for the resolver to refuse.
func (c *complexityCounter) page(f *ast.Field) int {
	args := f.ArgumentMap(c.variables)
	first, hasFirst := integer(args["first"])
	last, hasLast := integer(args["last"])
	if !hasFirst && !hasLast {
		return defaultPage
	}
	return min(max(first, last, 1), maxPage)
}

// rangeLength is how many messages a range is asked for.
func (c *complexityCounter) rangeLength(f *ast.Field) int {
	count, _ := integer(f.ArgumentMap(c.variables)["count"])
	return min(max(count, 1), maxRange)
}

// eventsLength is how many events, or threads of events, are asked for.
func (c *complexityCounter) eventsLength(f *ast.Field) int {
	args := f.ArgumentMap(c.variables)
	first, _ := integer(args["first"])
	last, _ := integer(args["last"])
	kept, _ := integer(args["keepImportant"])
	return min(max(first, last+kept, 1), maxPage)
}

func integer(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), true
	case int:
		return v, true
	case json.Number:
		n, err := v.Int64()
		return int(n), err == nil
	default:
		return 0, false
	}
}
