package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// How windows are worked on: so many of one agent, through so many servers, by so many scribes at each.
const (
	windowServers  = 3
	windowCount    = 4
	windowScribes  = 4
	windowCapacity = 4096
)

// scribe does to windows what an agent does, through one server, one thing after the other. What is not answered is not done again:
// it has happened or it has not.
type scribe struct {
	client     *client
	windows    []string
	number     int
	decides    int            // one write in so many is a decision, which stays in its window for good
	done       map[string]int // by kind, what was acknowledged
	unanswered int
	deeds
}

// deeds are ids of what was acknowledged.
type deeds struct {
	operations, items []string // writes, and what entered by them
	decisions         []string // items that stay
	aside             []string // entries of scratchpads
}

// said is a text that contradicts no other, and says which it is.
func (s *scribe) said(n int) string {
	topics := []string{"the garden", "the bakery", "the harbour", "the museum", "the library", "the stadium", "the theatre"}
	verbs := []string{"walked past", "asked about", "talked of", "read about", "looked for", "remembered", "wrote about"}
	return fmt.Sprintf("In note %d of the journey somebody %s %s and went on to the next thing on a long list.", n*windowServers*windowScribes+s.number, verbs[n/7%7], topics[n%7])
}

// named is what has an id.
type named struct {
	ID string `json:"id"`
}

// work goes on until it is told to stop.
func (s *scribe) work(ctx context.Context, stop *atomic.Bool, acknowledged *atomic.Int64) error {
	for n := 0; !stop.Load() && ctx.Err() == nil; n++ {
		kind, err := s.one(ctx, n)
		switch code, _ := outcome(err); code {
		case answered:
			s.done[kind]++
			acknowledged.Add(1)
		case "CONTEXT_WINDOW_EXCEEDED":
		case transport, silent, unavailable:
			s.unanswered++
			if err := pause(ctx, retryEvery); err != nil {
				return err
			}
		default:
			return fmt.Errorf("scribe %d, %s: %w", s.number, kind, err)
		}
	}
	return ctx.Err()
}

// one does one thing to one of the windows, and notes what was acknowledged of it.
func (s *scribe) one(ctx context.Context, n int) (kind string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	window := s.windows[rand.IntN(len(s.windows))]
	switch d := rand.IntN(20); {
	case d == 0:
		return "compress", s.client.ask(ctx, "mutation($w: ID!) { compressWindow(window: $w, target: 0.4) { tokensAfter } }", map[string]any{"w": window}, nil)
	case d < 3:
		return "select", s.client.ask(ctx, "mutation($w: ID!, $q: String!) { selectIntoWindow(window: $w, input: { query: $q, tokenBudget: 200 }) { receipt } }",
			map[string]any{"w": window, "q": s.said(n)}, nil)
	case d < 6:
		var data struct {
			Offload []named `json:"offload"`
		}
		err := s.client.ask(ctx, "mutation($w: ID!, $c: [String!]!) { offload(window: $w, contents: $c) { id } }",
			map[string]any{"w": window, "c": []string{s.said(n), s.said(n) + " Again."}}, &data)
		for _, entry := range data.Offload {
			s.aside = append(s.aside, entry.ID)
		}
		return "offload", err
	}
	kind = []string{"USER_MESSAGE", "ASSISTANT_MESSAGE", "KNOWLEDGE", "TOOL_RESULT"}[n%4]
	if n%s.decides == s.decides-1 {
		kind = "DECISION"
	}
	var data struct {
		WriteContext struct {
			Item      *named `json:"item"`
			Operation named  `json:"operation"`
		} `json:"writeContext"`
	}
	err = s.client.ask(ctx, "mutation($i: WriteInput!) { writeContext(input: $i) { item { id } operation { id } } }",
		map[string]any{"i": map[string]any{"window": window, "type": kind, "content": s.said(n)}}, &data)
	if err != nil {
		return "write", err
	}
	w := data.WriteContext
	s.operations = append(s.operations, w.Operation.ID)
	if w.Item != nil {
		s.items = append(s.items, w.Item.ID)
		if kind == "DECISION" {
			s.decisions = append(s.decisions, w.Item.ID)
		}
	}
	return "write", nil
}

// wrong is what must not be found of windows: in the database by itself, or of what was acknowledged, which is $1.
type wrong struct {
	what, sql string
	of        func(d *deeds) []string // nil: by itself
}

var wrongWindows = []wrong{
	{"does not use the sum of its tokens, or more than its capacity", "SELECT w.id::TEXT FROM memory.windows w WHERE w.used <> memory.window_used(w.id) OR w.used > w.capacity", nil},
	{"has a history with a gap", `SELECT o.window_id::TEXT FROM (SELECT o.*, lag(o.tokens_after, 1, 0) OVER (PARTITION BY o.window_id ORDER BY o.place) AS held
		FROM memory.window_operations o WHERE o.kind NOT IN ('offload', 'exceeded')) o WHERE o.tokens_before <> o.held`, nil},
	{"has another number of changes than of operations", `SELECT w.id::TEXT FROM memory.windows w
		WHERE w.version <> (SELECT count(*) FROM memory.window_operations o WHERE o.window_id = w.id AND o.kind NOT IN ('offload', 'exceeded'))`, nil},
	{"has an operation without its effect", `SELECT e.id FROM memory.window_operations o, unnest(o.entered) AS e (id)
		WHERE NOT EXISTS (SELECT FROM memory.window_items i WHERE i.id = e.id AND i.window_id = o.window_id)
			AND NOT EXISTS (SELECT FROM memory.scratchpad s WHERE s.id = e.id AND s.window_id = o.window_id)
			AND NOT EXISTS (SELECT FROM memory.window_operations l WHERE l.window_id = o.window_id AND e.id = ANY (l.gone))`, nil},
	{"has an effect without its operation", `SELECT i.id FROM memory.window_items i
		WHERE NOT EXISTS (SELECT FROM memory.window_operations o WHERE o.window_id = i.window_id AND i.id = ANY (o.entered))
			OR EXISTS (SELECT FROM memory.window_operations o WHERE o.window_id = i.window_id AND i.id = ANY (o.gone))
			OR EXISTS (SELECT FROM memory.scratchpad s WHERE s.id = i.id)`, nil},
	{"has put aside another number than its operations say", `SELECT w.id::TEXT FROM memory.windows w WHERE (SELECT count(*) FROM memory.scratchpad s WHERE s.window_id = w.id)
		<> (SELECT COALESCE(sum(o.put_aside), 0) FROM memory.window_operations o WHERE o.window_id = w.id)`, nil},
	{"has put aside what is persistent", "SELECT s.id FROM memory.scratchpad s WHERE s.type = 'decision'", nil},
	{"has lost an operation", "SELECT a FROM unnest($1::TEXT[]) a WHERE NOT EXISTS (SELECT FROM memory.window_operations o WHERE o.id = a::UUID)",
		func(d *deeds) []string { return d.operations }},
	{"has lost an item", "SELECT a FROM unnest($1::TEXT[]) a WHERE NOT EXISTS (SELECT FROM memory.window_operations o WHERE a = ANY (o.entered))",
		func(d *deeds) []string { return d.items }},
	{"has lost what is persistent", "SELECT a FROM unnest($1::TEXT[]) a WHERE NOT EXISTS (SELECT FROM memory.window_items i WHERE i.id = a AND i.type = 'decision')",
		func(d *deeds) []string { return d.decisions }},
	{"has lost what was put aside", "SELECT a FROM unnest($1::TEXT[]) a WHERE NOT EXISTS (SELECT FROM memory.scratchpad s WHERE s.id = a)",
		func(d *deeds) []string { return d.aside }},
}

// killUnderWindows kills one of several servers of one database while scribes work on the same windows through all of them.
func killUnderWindows(ctx context.Context, s *stage) error {
	all, kills := size(s, 400, 10_000), size(s, 2, 50)
	c, err := s.started(ctx, nil)
	if err != nil {
		return err
	}
	var servers []*server
	for i := range windowServers {
		var settings []string
		if i > 0 {
			settings = []string{"LOG_KEY=" + filepath.Join(servers[0].dataDir, "log.key")}
		}
		v, err := s.serve(ctx, c.url(database), settings...)
		if err != nil {
			return err
		}
		servers = append(servers, v)
	}
	scribes, err := s.scribes(ctx, servers)
	if err != nil {
		return err
	}

	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var acknowledged atomic.Int64
	var stop atomic.Bool
	var wait sync.WaitGroup
	for _, one := range scribes {
		wait.Go(func() {
			if err := one.work(working, &stop, &acknowledged); err != nil {
				cancel(err)
			}
		})
	}
	ready, err := s.killBetween(working, servers[0], &acknowledged, all, kills)
	if err == nil {
		_, err = until(working, s.limit(5*time.Minute), "all is written", func() bool { return acknowledged.Load() >= int64(all) })
	}
	if err != nil {
		cancel(err)
	}
	stop.Store(true)
	wait.Wait()
	if err := context.Cause(working); err != nil {
		return err
	}
	if err := s.windowsHold(ctx, c, scribes, kills); err != nil {
		return err
	}
	s.timed("ready again, while others write to the same windows", "ready after the start", ready, readyLimit)
	return nil
}

// scribes makes an agent, with something to select and windows, and scribes of it at each server.
func (s *stage) scribes(ctx context.Context, servers []*server) ([]*scribe, error) {
	admin, agent := servers[0].client(1), hashOf("agent of windows")
	s.later(admin.http.CloseIdleConnections)
	var made struct {
		CreateToken struct {
			Secret string `json:"secret"`
		} `json:"createToken"`
	}
	if err := admin.ask(ctx, "mutation($i: TokenInput!) { createToken(input: $i) { secret } }",
		map[string]any{"i": map[string]any{"kind": "AGENT", "player": agent}}, &made); err != nil {
		return nil, fmt.Errorf("createToken: %w", err)
	}
	by := admin.with(made.CreateToken.Secret)
	for i := range 50 {
		content := (&scribe{}).said(1_000_000 + i)
		if _, _, err := by.append(ctx, message{hashOf("session of windows"), agent, content, content}); err != nil {
			return nil, err
		}
	}
	var windows []string
	for i := range windowCount {
		var data struct {
			CreateWindow named `json:"createWindow"`
		}
		if err := by.ask(ctx, "mutation($i: WindowInput!) { createWindow(input: $i) { id } }",
			map[string]any{"i": map[string]any{"name": fmt.Sprint("window ", i), "capacity": windowCapacity}}, &data); err != nil {
			return nil, fmt.Errorf("createWindow: %w", err)
		}
		windows = append(windows, data.CreateWindow.ID)
	}
	var scribes []*scribe
	for _, v := range servers {
		at := v.client(windowScribes).with(made.CreateToken.Secret)
		s.later(at.http.CloseIdleConnections)
		for range windowScribes {
			scribes = append(scribes, &scribe{client: at, windows: windows, number: len(scribes), decides: size(s, 8, 80), done: map[string]int{}})
		}
	}
	return scribes, nil
}

// windowsHold reads windows from the database itself, holds them against what was acknowledged, and adds the row.
func (s *stage) windowsHold(ctx context.Context, c *cluster, scribes []*scribe, kills int) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	done, unanswered, acknowledged := map[string]int{}, 0, 0
	var all deeds
	for _, one := range scribes {
		for kind, n := range one.done {
			done[kind], acknowledged = done[kind]+n, acknowledged+n
		}
		unanswered += one.unanswered
		all.operations, all.items = append(all.operations, one.operations...), append(all.items, one.items...)
		all.decisions, all.aside = append(all.decisions, one.decisions...), append(all.aside, one.aside...)
	}
	problems, err := all.wrong(ctx, conn)
	if err != nil {
		return err
	}
	measured := fmt.Sprintf("%d writes, %d selections, %d compressions and %d times put aside are acknowledged, %d are not answered; %d decisions",
		done["write"], done["select"], done["compress"], done["offload"], unanswered, len(all.decisions))
	if len(problems) > 0 {
		measured += fmt.Sprintf(": %q", problems)
	}
	s.found(fmt.Sprintf("SIGKILL of one of %d servers; %d at each work on the same %d windows", windowServers, windowScribes, windowCount), kills,
		"what is used is the sum of tokens; no operation without its effect, no effect without its operation; nothing that was acknowledged, or is persistent, is lost", measured,
		len(problems) == 0 && len(done) == 4 && len(all.decisions) > 0,
		map[string]float64{"acknowledged": float64(acknowledged), "unanswered": float64(unanswered), "decisions": float64(len(all.decisions)), "checks": 1})
	return ctx.Err()
}

// wrong tells what is wrong of windows, and of what was acknowledged of them.
func (d *deeds) wrong(ctx context.Context, conn *pgx.Conn) (problems []string, err error) {
	for _, w := range wrongWindows {
		var arguments []any
		if w.of != nil {
			arguments = append(arguments, w.of(d))
		}
		rows, err := conn.Query(ctx, w.sql, arguments...)
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.what, err)
		}
		if len(found) > 0 {
			problems = append(problems, fmt.Sprintf("%d times, a window %s: %s", len(found), w.what, found[0]))
		}
	}
	return problems, nil
}
