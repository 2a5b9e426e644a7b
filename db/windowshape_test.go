package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// outOfShape are what must not be found of windows, each with what it would mean.
var outOfShape = map[string]string{
	"does not say what it holds, or holds more than it may": `SELECT w.id::TEXT FROM memory.windows w WHERE w.used <> memory.window_used(w.id) OR w.used > w.capacity`,
	"has a history with a gap": `SELECT o.window_id::TEXT || ' at ' || o.place FROM (
		SELECT o.*, lag(o.tokens_after, 1, 0) OVER (PARTITION BY o.window_id ORDER BY o.place) AS held FROM memory.window_operations o
		WHERE o.window_id IS NOT NULL AND o.kind NOT IN ('offload', 'read', 'exceeded')) o WHERE o.tokens_before <> o.held`,
	"has a history that does not lead to what it holds": `SELECT w.id::TEXT FROM memory.windows w CROSS JOIN LATERAL (
		SELECT o.tokens_after FROM memory.window_operations o WHERE o.window_id = w.id AND o.kind NOT IN ('offload', 'read', 'exceeded') ORDER BY o.place DESC LIMIT 1) o
		WHERE o.tokens_after <> w.used`,
	"has fewer versions than changes": `SELECT w.id::TEXT FROM memory.windows w
		WHERE w.version < (SELECT count(*) FROM memory.window_operations o WHERE o.window_id = w.id AND o.kind NOT IN ('offload', 'read', 'exceeded'))`,
	"has a summary that leads nowhere": `SELECT i.id FROM memory.window_items i, unnest(i.summary_of) AS of (id)
		WHERE NOT EXISTS (SELECT FROM memory.scratchpad s WHERE s.id = of.id AND s.window_id = i.window_id)`,
	"has an item that it also has put aside": `SELECT i.id FROM memory.window_items i JOIN memory.scratchpad s ON s.id = i.id WHERE NOT i.injected OR s.window_id <> i.window_id`,
	"has lost what entered": `SELECT e.id FROM memory.window_operations o, unnest(o.entered) AS e (id) WHERE o.kind NOT IN ('search_tools', 'read')
		AND NOT EXISTS (SELECT FROM memory.window_items i WHERE i.id = e.id) AND NOT EXISTS (SELECT FROM memory.scratchpad s WHERE s.id = e.id)
		AND NOT EXISTS (SELECT FROM memory.window_operations l WHERE l.window_id = o.window_id AND e.id = ANY (l.gone))`,
	"has put aside what is persistent": `SELECT s.id FROM memory.scratchpad s WHERE s.type IN ('system_instruction', 'user_preference', 'goal', 'decision')`,
	"has two items in a slot":          `SELECT i.key FROM memory.window_items i WHERE i.key <> '' GROUP BY i.window_id, i.segment_id, i.key HAVING count(*) > 1`,
	"describes too many tools":         `SELECT t.window_id::TEXT FROM memory.tools t WHERE t.shown GROUP BY t.window_id HAVING count(*) > 30`,
}

type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// wantShape holds all windows of a database against what must hold of them.
func wantShape(t testing.TB, r reporter, conn *pgx.Conn) {
	r.Helper()
	var all []string
	for what, sql := range outOfShape {
		all = append(all, "SELECT '"+what+": ' || f.f FROM ("+sql+") f (f)")
	}
	rows, _ := conn.Query(t.Context(), strings.Join(all, " UNION ALL "))
	if found, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(found) > 0 {
		r.Fatalf("a window %q, %v", found, err)
	}
}

// windowText gives all of a window that can be seen.
func windowText(w window.Window) string {
	var b strings.Builder
	items := func(items []window.Item) {
		for _, i := range items {
			fmt.Fprintln(&b, i.ID, i.Place, i.Type, i.Key, i.Content, i.Tokens, i.SummaryOf, i.Injected, i.ObservedAt.UnixMicro(), i.Quality, i.VerifiedBy != nil, i.Source != nil)
		}
	}
	fmt.Fprintln(&b, w.Used(), w.Capacity, w.Version)
	items(w.Items)
	for _, s := range w.Segments {
		fmt.Fprintln(&b, s.ID)
		items(s.Items)
	}
	for _, tool := range w.Tools {
		fmt.Fprintln(&b, tool.Name, tool.Tokens, tool.Shown)
	}
	return b.String()
}

var shapeTypes = []window.ContentType{
	window.UserMessage, window.AssistantMessage, window.ToolResult, window.Knowledge, window.UserPreference, window.Goal, window.Decision, window.SystemInstruction,
}

var shapeTexts = []string{
	"The hotel in Lisbon is booked for May.", "The hotel in Lisbon is booked for June.", "User prefers budget hotels", "User prefers luxury 5-star hotels", "The Eiffel Tower is in London",
	"Breakfast is at eight.", "It costs 140 euros.", "It costs 150 euros.", "¿Cuándo sale el tren de Madrid?", "会议在三月举行，花园需要浇水。", "hello",
}

// shape is windows of two servers, of one database, that a test does all that can be done to.
type shape struct {
	t       testing.TB
	stores  []*db.DB
	conn    *pgx.Conn
	windows []string
	segment string
	n       int
}

// step does something to a window through one of the servers, and gives what the window then should be like, if it says.
func (s *shape) step(r *rapid.T) (id string, is *window.Window, err error) {
	store := s.stores[rapid.IntRange(0, len(s.stores)-1).Draw(r, "server")]
	id, ctx := rapid.SampledFrom(s.windows).Draw(r, "window"), s.t.Context()
	draw := func() window.Draft {
		s.n++
		d := window.Draft{Type: rapid.SampledFrom(shapeTypes).Draw(r, "type"), Content: rapid.SampledFrom(shapeTexts).Draw(r, "text"), Key: rapid.SampledFrom([]string{"", "", "a"}).Draw(r, "key")}
		if rapid.Bool().Draw(r, "long") {
			d.Content = strings.Repeat(said(s.n)+" ", rapid.IntRange(1, 6).Draw(r, "length"))
		}
		if rapid.Bool().Draw(r, "late") {
			d.ObservedAt = longAgo
		}
		return d
	}
	switch rapid.SampledFrom([]string{"write", "write", "write", "write", "share", "select", "compress", "remove", "offload", "inject", "tools", "search", "overrule", "read"}).Draw(r, "what") {
	case "write":
		w, err := store.WriteContext(ctx, id, draw(), nil, agent)
		return id, &w.Window, err
	case "share":
		w, err := store.WriteToSegment(ctx, s.segment, id, draw(), nil, agent)
		return id, &w.Window, err
	case "select":
		_, err := store.SelectIntoWindow(ctx, id, selection.Request{Query: "When is the hotel in Lisbon booked?", Limit: 5}, agent)
		return id, nil, err
	case "compress":
		c, err := store.CompressWindow(ctx, id, rapid.Float64Range(0, 1).Draw(r, "target"), agent)
		if w, e := store.Window(ctx, id); e != nil || err == nil && w.Used() != c.After {
			r.Fatalf("compressed to %d, it holds %d, %v", c.After, w.Used(), e)
		}
		return id, nil, err
	case "remove":
		w, err := store.Window(ctx, id)
		if err != nil {
			r.Fatal(err)
		}
		var ids []string
		for _, item := range slices.Concat(w.Items, w.Segments[0].Items) {
			if rapid.IntRange(0, 4).Draw(r, "gone") == 0 {
				ids = append(ids, item.ID)
			}
		}
		if len(ids) == 0 {
			return id, nil, nil
		}
		w, err = store.RemoveFromWindow(ctx, id, ids, agent)
		return id, &w, err
	case "offload":
		_, err := store.Offload(ctx, id, []string{said(s.n), said(s.n + 1)}, agent)
		return id, nil, err
	case "inject", "read":
		aside, err := store.Scratchpad(ctx, id, db.Page[string]{Limit: 50})
		if err != nil || len(aside.Items) == 0 {
			return id, nil, err
		}
		entry := aside.Items[rapid.IntRange(0, len(aside.Items)-1).Draw(r, "entry")]
		if rapid.Bool().Draw(r, "read") {
			_, err = store.ReadScratchpad(ctx, entry.Value.ID, agent)
		} else {
			_, err = store.InjectFromScratchpad(ctx, id, entry.Value.ID, agent)
		}
		return id, nil, err
	case "tools":
		tools := make([]window.Tool, rapid.IntRange(1, 20).Draw(r, "tools"))
		first := rapid.IntRange(0, 25).Draw(r, "first")
		for i := range tools {
			tools[i] = window.Tool{Name: fmt.Sprint("find_", first+i), Description: "finds"}
		}
		_, err := store.RegisterTools(ctx, id, tools, agent)
		return id, nil, err
	case "search":
		_, err := store.SearchTools(ctx, id, "find", 5, agent)
		return id, nil, err
	default:
		ops, err := store.WindowOperations(ctx, id, db.Page[string]{Limit: 50})
		for _, item := range ops.Items {
			o := item.Value
			if o.Overruled == nil && (len(o.Judgements) > 0 || o.Rejected != nil) {
				_, err = store.Overrule(ctx, o.ID, "it was right", agent)
				break
			}
		}
		return id, nil, err
	}
}

// codeOf gives the code of a fault, empty for none.
func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.CodeOf(err)
}

// expected are the codes of what may be refused; whatever else fails is a fault of the store.
var expected = []fault.Code{"", fault.ContextWindowExceeded, fault.BadUserInput, fault.ContentRejected}

// Whatever is done to windows, through whichever server: what is kept is what was said to be, and is in shape.
func TestWindowsStayInShape(t *testing.T) {
	t.Parallel()
	one, url := open(t)
	stores, conn := []*db.DB{one, openURL(t, url)}, superuser(t, url)
	mustAppend(t, one, draft("s", "The hotel in Lisbon is booked for May."), draft("s", "The hotel in Madrid has a garden."))
	addRecord(t, one, "Eiffel Tower", "The Eiffel Tower is in Paris")
	rapid.Check(t, func(r *rapid.T) {
		s := shape{t: t, stores: stores, conn: conn}
		for range 2 {
			s.windows = append(s.windows, newWindow(t, one, rapid.SampledFrom([]int{40, 150, 400, 1500}).Draw(r, "capacity"), "").ID)
		}
		segment, err := one.CreateSegment(t.Context(), "both", slices.Clone(s.windows))
		if err != nil {
			r.Fatal(err)
		}
		s.segment = segment.ID
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			before := map[string]string{}
			for _, id := range s.windows {
				w, err := one.Window(t.Context(), id)
				if err != nil {
					r.Fatal(err)
				}
				before[id] = windowText(w)
			}
			id, is, err := s.step(r)
			if !slices.Contains(expected, codeOf(err)) {
				r.Fatalf("%v", err)
			}
			for _, each := range s.windows {
				first, err1 := stores[0].Window(t.Context(), each)
				second, err2 := stores[1].Window(t.Context(), each)
				if err1 != nil || err2 != nil {
					r.Fatal(err1, err2)
				}
				got := windowText(first)
				switch {
				case got != windowText(second):
					r.Fatalf("two servers show %s\nand %s", got, windowText(second))
				case codeOf(err) == fault.ContextWindowExceeded && got != before[each]:
					r.Fatalf("%v, and the window was\n%s and is\n%s", err, before[each], got)
				case each == id && err == nil && is != nil && windowText(*is) != got:
					r.Fatalf("the window should be\n%s and is\n%s", windowText(*is), got)
				}
			}
		}
		wantShape(t, r, conn)
	})
}

func addRecord(t testing.TB, store *db.DB, title, content string) chain.Hash {
	t.Helper()
	added, err := store.AddRecords(t.Context(), []knowledge.Draft{{Kind: chain.RefSecretary, Book: "b", Title: title, Content: content, Verified: true}})
	if err != nil {
		t.Fatal(err)
	}
	return added[0].Hash
}

// endOthers ends all other connections to a database.
const endOthers = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"

// allOf gives all that a database holds of windows.
func allOf(t testing.TB, conn *pgx.Conn) string {
	t.Helper()
	return value[string](t, conn, `SELECT concat_ws(E'\n', (SELECT jsonb_agg(to_jsonb(w) ORDER BY w.id) FROM memory.windows w), (SELECT jsonb_agg(to_jsonb(i) ORDER BY i.id) FROM memory.window_items i),
		(SELECT jsonb_agg(to_jsonb(s) ORDER BY s.id) FROM memory.scratchpad s), (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.name) FROM memory.tools t),
		(SELECT jsonb_agg(to_jsonb(o) ORDER BY o.id) FROM memory.window_operations o))`)
}
