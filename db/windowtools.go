package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// Limits of tools.
const (
	MaxToolDescription = 16 << 10
	MaxToolSchema      = 64 << 10
	MaxToolsFound      = 30
)

// checkTools checks tools, each by itself.
func checkTools(tools []window.Tool, least int) error {
	if len(tools) < least || len(tools) > window.MaxTools {
		return fault.Input("tools", "has %d entries; %d to %d are allowed", len(tools), least, window.MaxTools)
	}
	names := make(map[string]bool, len(tools))
	for i := range tools {
		t, field := &tools[i], fmt.Sprintf("tools[%d]", i)
		if err := checkName(field+".name", t.Name); err != nil {
			return err
		}
		if names[t.Name] {
			return fault.Input(field+".name", "%q is there twice", t.Name)
		}
		names[t.Name] = true
		if err := chain.CheckText(field+".description", &t.Description, MaxToolDescription); err != nil {
			return err
		}
		if t.Schema == "" {
			t.Schema = "{}"
		}
		if err := chain.CheckJSON(field+".schema", &t.Schema, MaxToolSchema); err != nil {
			return err
		}
	}
	return nil
}

// countTools counts what tools cost that a window is to have among all: name, description and schema, a line each. Where they are
// described, and cannot fit whatever they cost, that is known a hundred times as soon.
func countTools(tools, all []window.Tool, w window.Window, count token.Counter) error {
	least := 0
	for i := range tools {
		tools[i].Tokens = token.Least(w.Encoding, textOfTool(tools[i]))
		least += tools[i].Tokens
	}
	if len(all) <= window.ToolsShown && least > w.Capacity {
		return nil
	}
	for i := range tools {
		t := &tools[i]
		n, err := count(textOfTool(*t))
		if err != nil {
			return err
		}
		t.Tokens = n
	}
	return nil
}

func textOfTool(t window.Tool) string { return t.Name + "\n" + t.Description + "\n" + string(t.Schema) }

// RegisterTools gives a window tools, all or none, those of the same name in their new form, and gives them.
//
// Faults: BAD_USER_INPUT names the field; NOT_FOUND; CONTEXT_WINDOW_EXCEEDED if they are few, and do not fit.
func (d *DB) RegisterTools(ctx context.Context, id string, tools []window.Tool, by chain.Hash) ([]window.Tool, error) {
	return d.registerTools(ctx, id, tools, 1, by)
}

// ReplaceTools does the same, and takes all other tools from the window: all, if none is given.
func (d *DB) ReplaceTools(ctx context.Context, id string, tools []window.Tool, by chain.Hash) ([]window.Tool, error) {
	return d.registerTools(ctx, id, tools, 0, by)
}

// registerTools replaces what the window has if none is enough.
func (d *DB) registerTools(ctx context.Context, id string, tools []window.Tool, least int, by chain.Hash) ([]window.Tool, error) {
	var registered []window.Tool
	err := d.changing(ctx, id, func(_ *dbgen.Queries, l *loaded) (kept bool, err error) {
		e, err := d.env(ctx, l)
		if err == nil {
			err = checkTools(tools, least)
		}
		if err == nil {
			var all []window.Tool
			if all, err = window.AllTools(l.Window, tools, least == 0); err == nil { // before they are counted, which takes longer
				err = countTools(tools, all, l.Window, e.Count)
			}
		}
		if err != nil {
			return false, err
		}
		o := d.begin(WindowRegisterTools, by)
		var all []window.Tool
		if o.out, all, err = window.Register(ctx, e, l.Window, tools, least == 0); err != nil {
			return false, d.noteExceeded(ctx, l, &o, err)
		}
		rows, err := toolRows(all)
		if err != nil {
			return false, err
		}
		registered = slices.DeleteFunc(all, func(t window.Tool) bool {
			return !slices.ContainsFunc(tools, func(n window.Tool) bool { return n.Name == t.Name })
		})
		err = d.inOrNot(ctx, func(q *dbgen.Queries) (bool, error) {
			if sources := added(o.out); len(sources) > 0 {
				if err := q.RefuseSources(ctx, sources); err != nil {
					return false, err
				}
			}
			if kept, err = d.keep(ctx, q, l, &o); err != nil || !kept {
				return kept, err
			}
			l.next = nil
			if err = q.DropTools(ctx, id); err == nil {
				err = q.AddTools(ctx, id, rows)
			}
			return true, err
		})
		return kept, err
	})
	return registered, err
}

func toolRows(tools []window.Tool) (chain.JSON, error) {
	type row struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Tokens      int             `json:"tokens"`
		Shown       bool            `json:"shown"`
	}
	rows := make([]row, len(tools))
	for i, t := range tools {
		rows[i] = row{t.Name, t.Description, json.RawMessage(t.Schema), t.Tokens, t.Shown}
	}
	text, err := json.Marshal(rows)
	return chain.JSON(text), err
}

// SearchTools gives the tools of a window that fit a purpose, best first. A window of many tools describes those from then on, as
// far as they fit into it, and no others: only these are given.
func (d *DB) SearchTools(ctx context.Context, id, query string, limit int, by chain.Hash) ([]window.Tool, error) {
	if strings.TrimSpace(query) == "" {
		return nil, fault.Input("query", "is empty")
	}
	if err := chain.CheckText("query", &query, MaxToolsQuery); err != nil {
		return nil, err
	}
	if limit < 1 || limit > MaxToolsFound {
		return nil, fault.Input("limit", "%d is outside of 1 to %d", limit, MaxToolsFound)
	}
	var found []window.Tool
	err := d.changing(ctx, id, func(_ *dbgen.Queries, l *loaded) (kept bool, err error) {
		o := d.begin(WindowSearchTools, by)
		o.Query = &query
		o.out, found = window.Describe(l.Window, d.windows.matchTools(query, l.Tools, limit))
		names := []string{}
		for _, t := range found {
			if t.Shown {
				names = append(names, t.Name)
			}
		}
		o.entered = names
		err = d.inOrNot(ctx, func(q *dbgen.Queries) (bool, error) {
			if kept, err = d.keep(ctx, q, l, &o); err != nil || !kept || len(l.Tools) <= window.ToolsShown {
				return kept, err
			}
			l.next = nil
			return true, q.ShowTools(ctx, names, id)
		})
		return kept, err
	})
	return found, err
}

// matchTools ranks tools for a purpose by BM25 over their names, cut into words, and descriptions; a name's words count twice.
func (w *windows) matchTools(query string, tools []window.Tool, limit int) []window.Tool {
	parsed := (embeddings.Lexical{}).Parse(query)
	documents := make([][]embeddings.Passage, len(tools))
	stats := embeddings.Stats{Passages: max(len(tools), 1), Frequency: map[int32]int{}}
	wanted := parsed.Terms()
	for i, t := range tools {
		name := nameWords(t.Name)
		documents[i] = w.formOf(name + ". " + name + ". " + t.Description)
		seen := map[int32]bool{}
		for _, p := range documents[i] {
			for _, term := range p.Terms {
				if _, ok := slices.BinarySearch(wanted, term); ok && !seen[term] {
					seen[term] = true
					stats.Frequency[term]++
				}
			}
		}
	}
	vector := parsed.Weigh(stats)
	type match struct {
		at    int
		score float64
	}
	var matches []match
	for i, passages := range documents {
		best, word := 0.0, false
		for _, p := range passages {
			product := 0.0
			for at, term := range vector.Terms {
				if j, ok := slices.BinarySearch(p.Terms, term); ok {
					product += float64(vector.Values[at]) * float64(p.Values[j])
				}
			}
			best, word = max(best, product), word || len(vector.Matched(p.Terms)) > 0
		}
		if word {
			matches = append(matches, match{i, best})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return strings.Compare(tools[a.at].Name, tools[b.at].Name)
	})
	found := make([]window.Tool, 0, limit)
	for _, m := range matches[:min(len(matches), limit)] {
		found = append(found, tools[m.at])
	}
	return found
}

// formOf gives a tool's passages, and remembers them unless its text is long.
func (w *windows) formOf(text string) []embeddings.Passage {
	if len(text) > rememberedForm {
		return (embeddings.Lexical{}).Document(text)
	}
	key := chain.Sum([]byte(text))
	if known, ok := w.forms.Get(key); ok {
		return known
	}
	form := (embeddings.Lexical{}).Document(text)
	w.forms.Add(key, form)
	return form
}

// nameWords cuts a name such as search_flights or searchFlights into its words.
func nameWords(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		lower = unicode.IsLower(r)
	}
	return b.String()
}
