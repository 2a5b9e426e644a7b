package db

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/expirable"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// Limits of windows.
const (
	MaxWindows      = 10_000 // of an agent
	MaxScratchpad   = 1000   // contents that are put aside in one call
	MaxRemoved      = 1000   // items in one call
	MaxToolsQuery   = 4 << 10
	MaxDrafts       = 1000 // of what a window did not take, that are kept: see memory.keep_drafts
	windowTries     = 20   // while other servers write to the same window
	rememberedTexts = 20_000
	rememberedText  = 16 << 10 // bytes
	rememberedForms = 2 * window.MaxTools
	rememberedForm  = 4 << 10 // bytes of a tool's text
	// What windows were like when they were read last, each with its version, which says whether they still are. Not for long,
	// since what is erased should not stay in memory either.
	rememberedWindows = 512
	rememberedFor     = time.Minute
	rememberedBytes   = 256 << 10 // of a window's texts
)

// windows is what writing to windows needs besides the database.
type windows struct {
	judge      window.Judge
	summariser window.Summariser
	words      *lru.Cache[chain.Hash, []int32]              // of texts, by their hash
	forms      *lru.Cache[chain.Hash, []embeddings.Passage] // of tools, by the hash of their text
	states     *expirable.LRU[string, loaded]               // by window; nothing that is in one is ever changed

	mu   sync.Mutex
	busy map[string]*queue // by window; guarded by mu
}

// queue is of those who write to a window: one after the other, so that none of them decides in vain.
type queue struct {
	turn chan struct{}
	n    int
}

func newWindows() *windows {
	words, _ := lru.New[chain.Hash, []int32](rememberedTexts) // fails for no size only
	forms, _ := lru.New[chain.Hash, []embeddings.Passage](rememberedForms)
	j, s := BuiltIn()
	return &windows{judge: j, summariser: s, words: words, forms: forms, states: expirable.NewLRU[string, loaded](rememberedWindows, nil, rememberedFor), busy: map[string]*queue{}}
}

// UseModels has a model judge and summarise for windows. It must be called before the store is used; without, the built-in
// ones do.
func (d *DB) UseModels(j window.Judge, s window.Summariser) {
	d.windows.judge, d.windows.summariser = j, s
}

// enter waits for one's turn to write to a window.
func (w *windows) enter(ctx context.Context, id string) (leave func(), err error) {
	w.mu.Lock()
	q := w.busy[id]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		w.busy[id] = q
	}
	q.n++
	w.mu.Unlock()
	done := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if q.n--; q.n == 0 {
			delete(w.busy, id)
		}
	}
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn; done() }, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}

// wordsOf gives what stands for the words of a text, and remembers it unless the text is long.
func (w *windows) wordsOf(text string) []int32 {
	if len(text) > rememberedText {
		return keysOf(text)
	}
	key := chain.Sum([]byte(text))
	if known, ok := w.words.Get(key); ok {
		return known
	}
	words := keysOf(text)
	w.words.Add(key, words)
	return words
}

func keysOf(text string) []int32 {
	var words []int32
	for _, p := range (embeddings.Lexical{}).Document(text) {
		words = append(words, p.Keys...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// newItemID gives an id of 12 characters, short enough for a prompt to list many, of 60 random bits.
func newItemID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[:])[:12])
}

// NewWindow is a window to make.
type NewWindow struct {
	Name, Task, Encoding string
	Agent                chain.Hash
	Capacity             int
}

// CreateWindow makes a window.
//
// Faults: BAD_USER_INPUT names the field; CONFLICT if the agent has MaxWindows.
func (d *DB) CreateWindow(ctx context.Context, n NewWindow) (window.Window, error) {
	if err := checkName("input.name", n.Name); err != nil {
		return window.Window{}, err
	}
	if err := chain.CheckText("input.task", &n.Task, window.MaxTask); err != nil {
		return window.Window{}, err
	}
	if n.Capacity < window.MinCapacity || n.Capacity > window.MaxCapacity {
		return window.Window{}, fault.Input("input.capacity", "%d is outside of %d to %d", n.Capacity, window.MinCapacity, window.MaxCapacity)
	}
	if _, err := token.Named(n.Encoding); err != nil {
		return window.Window{}, renameField(err, "encoding", "input.encoding")
	}
	if n.Encoding == "" {
		n.Encoding = token.DefaultEncoding
	}
	rows, err := d.queries().NewWindow(ctx, dbgen.NewWindowParams{
		Name: n.Name, Agent: n.Agent.String(), Task: n.Task, Capacity: int32(n.Capacity), Encoding: n.Encoding, CreatedAt: d.moment(), Most: MaxWindows,
	})
	if err == nil && len(rows) == 0 {
		err = fault.New(fault.Conflict, "the agent has %d windows, which is the most at a time", MaxWindows)
	}
	if err != nil {
		return window.Window{}, mapError(err)
	}
	return windowOf(rows[0])
}

func checkName(field, name string) error {
	if strings.TrimSpace(name) == "" {
		return fault.Input(field, "is empty")
	}
	return chain.CheckText(field, &name, window.MaxName)
}

// DeleteWindow removes a window with all that is its own, and tells whether it was there.
func (d *DB) DeleteWindow(ctx context.Context, id string) (bool, error) {
	there := false
	err := d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		if err := q.LockSharers(ctx, id); err != nil { // who sees a segment is asked once nobody else can leave it
			return err
		}
		rows, err := q.DropWindow(ctx, id, d.viewerText())
		there = len(rows) > 0
		return err
	})
	return there, err
}

func errNoWindow(field string) error {
	return &fault.Error{Code: fault.NotFound, Field: field, Message: "there is no such window"}
}

func windowOf(r dbgen.MemoryWindow) (window.Window, error) {
	agent, err := chain.ParseHash(r.Agent)
	return window.Window{
		ID: r.ID, Name: r.Name, Agent: agent, Task: r.Task, Capacity: int(r.Capacity), Encoding: r.Encoding, Version: r.Version, CreatedAt: r.CreatedAt.UTC(),
	}, err
}

// loaded is a window with what was said of it.
type loaded struct {
	window.Window
	overruled map[string]bool
	next      *loaded // as it is once what was decided is kept; nil: not known
}

// remember keeps a state for the next who asks.
func (w *windows) remember(l loaded) {
	bytes := bytesOf(l.Items)
	for _, s := range l.Segments {
		bytes += bytesOf(s.Items)
	}
	for _, t := range l.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	if l.next = nil; bytes <= rememberedBytes {
		w.states.Add(l.ID, l)
	}
}

func bytesOf(items []window.Item) (n int) {
	for i := range items {
		n += len(items[i].Content) + len(items[i].Key)
		for _, id := range items[i].SummaryOf {
			n += len(id) + 16 // a string's header
		}
	}
	return n
}

// load reads a window with all that is in it. Its version is read first, so that a change since then is noticed by whoever
// changes it.
func (d *DB) load(ctx context.Context, q *dbgen.Queries, id string) (loaded, error) {
	rows, err := q.WindowByID(ctx, id, d.viewerText())
	if err == nil && len(rows) == 0 {
		err = errNoWindow("window")
	}
	if err != nil {
		return loaded{}, err
	}
	if known, ok := d.windows.states.Get(id); ok && known.Version == rows[0].MemoryWindow.Version {
		return known, d.noteWindow(ctx, q, &known.Window)
	}
	l := loaded{}
	if l.Window, err = windowOf(rows[0].MemoryWindow); err != nil {
		return l, err
	}
	items, err := q.WindowItems(ctx, id)
	if err == nil {
		l.Items, err = itemsOf(items)
	}
	if err == nil && rows[0].Shares {
		l.Segments, err = segmentsOf(ctx, q, id)
	}
	if err == nil && rows[0].Tools {
		l.Tools, err = toolsOf(ctx, q, id)
	}
	if err == nil && rows[0].Overruled {
		var pairs []string
		pairs, err = q.WindowOverruled(ctx, id)
		l.overruled = make(map[string]bool, len(pairs))
		for _, p := range pairs {
			l.overruled[p] = true
		}
	}
	if err == nil {
		d.windows.remember(l)
		err = d.noteWindow(ctx, q, &l.Window)
	}
	return l, err
}

func segmentsOf(ctx context.Context, q *dbgen.Queries, id string) ([]window.Segment, error) {
	rows, err := q.SegmentsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	segments, ids := make([]window.Segment, len(rows)), make([]string, len(rows))
	for i, r := range rows {
		segments[i] = window.Segment{ID: r.ID, Name: r.Name, WindowCount: int(r.Windows)}
		ids[i] = r.ID
	}
	items, err := q.SegmentItems(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range items {
		item, err := itemOf(r)
		if err != nil {
			return nil, err
		}
		at := slices.Index(ids, r.SegmentID.String())
		segments[at].Items = append(segments[at].Items, item)
	}
	return segments, nil
}

func toolsOf(ctx context.Context, q *dbgen.Queries, id string) ([]window.Tool, error) {
	rows, err := q.WindowTools(ctx, id)
	tools := make([]window.Tool, len(rows))
	for i, r := range rows {
		tools[i] = window.Tool{Name: r.Name, Description: r.Description, Schema: r.Schema, Tokens: int(r.Tokens), Shown: r.Shown}
	}
	return tools, err
}

func itemsOf(rows []dbgen.MemoryWindowItem) ([]window.Item, error) {
	items := make([]window.Item, len(rows))
	var err error
	for i, r := range rows {
		if items[i], err = itemOf(r); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func itemOf(r dbgen.MemoryWindowItem) (window.Item, error) {
	item := window.Item{
		ID: r.ID, Place: r.Place, Type: window.ContentType(r.Type), Key: r.Key, Content: r.Content, Tokens: int(r.Tokens),
		ObservedAt: r.ObservedAt.UTC(), AddedAt: r.AddedAt.UTC(), SummaryOf: r.SummaryOf, Injected: r.Injected,
	}
	err := json.Unmarshal([]byte(r.Quality), &item.Quality)
	if err == nil {
		item.VerifiedBy, err = optionalHash(r.VerifiedBy)
	}
	if err == nil {
		item.Source, err = sourceOfItem(r.Source, r.SourceType)
	}
	return item, err
}

func optionalHash(text *string) (*chain.Hash, error) {
	if text == nil {
		return nil, nil
	}
	h, err := chain.ParseHash(*text)
	return &h, err
}

func sourceOfItem(text *string, kind *chain.RefType) (*window.Source, error) {
	h, err := optionalHash(text)
	if h == nil || err != nil {
		return nil, err
	}
	return &window.Source{Hash: *h, Type: *kind}, nil
}

// env gives what deciding about a window needs, for content in it that may contradict records.
func (d *DB) env(ctx context.Context, l *loaded, contents ...string) (*window.Env, error) {
	count, err := token.Named(l.Encoding)
	if err != nil {
		return nil, err
	}
	e := &window.Env{
		Judge: d.windows.judge, Summariser: d.windows.summariser, Count: count, Words: d.windows.wordsOf, NewID: newItemID, Now: d.moment(), Overruled: l.overruled,
	}
	return e, d.speaking(ctx, e, contents...)
}

// changing runs f on a window as it is, until nobody has changed it meanwhile, one caller after the other. What f gives is kept
// by itself.
func (d *DB) changing(ctx context.Context, id string, f func(q *dbgen.Queries, l *loaded) (kept bool, err error)) error {
	leave, err := d.windows.enter(ctx, id)
	if err != nil {
		return mapError(err)
	}
	defer leave()
	for try := 1; ; try++ {
		q := d.queries()
		l, err := d.load(ctx, q, id)
		if err != nil {
			return mapError(err)
		}
		kept, err := f(q, &l)
		switch {
		case (quarantinedMeanwhile(err) || erasedMeanwhile(err) || deadlock(err) || err == nil && !kept) && try < windowTries:
			wait(ctx, time.Duration(try)*time.Millisecond)
		case err != nil:
			return mapError(err)
		case !kept:
			return fault.New(fault.Unavailable, "too many write to this window at once; nothing was done, try again")
		default:
			if l.next != nil {
				d.windows.remember(*l.next)
			}
			return nil
		}
	}
}
