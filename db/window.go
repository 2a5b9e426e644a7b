package db

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"hash/maphash"
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
	MaxAside        = 100_000
	MaxAsideContent = 1 << 20   // bytes of a content that is put aside
	MaxAsideBytes   = 256 << 20 // of a window's scratchpad, in all
	MaxRemoved      = 1000      // items in one call
	MaxToolsQuery   = 4 << 10
	MaxDrafts       = 1000 // of what a window did not take, or gave up, that are kept: see memory.keep_heavy
	windowTries     = 20   // while other servers write to the same window
	rememberedTexts = 20_000
	rememberedText  = 16 << 10 // bytes
	rememberedLong  = 1024     // texts that are longer than that, at up to 50 kB of words each
	rememberedForms = 2 * window.MaxTools
	rememberedForm  = 4 << 10 // bytes of a tool's text
	// What windows were like when they were read last, each with its version, which says whether they still are. Not for long,
	// since what is erased should not stay in memory either.
	rememberedWindows = 512
	rememberedFor     = time.Minute
	rememberedBytes   = 256 << 10 // of a window's texts
	rememberedWide    = 8         // windows with more than that
	rememberedMost    = 16 << 20  // bytes of the texts of one of these
	rememberedRecords = 4096
	rememberedAsides  = 4096
	rememberedRecord  = 4 << 10 // bytes of its content
)

// windows is what writing to windows needs besides the database.
type windows struct {
	judge      window.Judge
	summariser window.Summariser
	slow       bool // a model judges and summarises: it is not asked on a guess
	records    *recordWords
	spoken     *lru.Cache[int64, window.Record]             // records that were asked, by id
	words      *lru.Cache[textKey, []int32]                 // of texts
	longs      *lru.Cache[textKey, []int32]                 // of long texts
	forms      *lru.Cache[chain.Hash, []embeddings.Passage] // of tools, by the hash of their text
	states     *expirable.LRU[string, loaded]               // by window; nothing that is in one is ever changed
	wide       *expirable.LRU[string, loaded]               // of those with many texts

	asides *expirable.LRU[string, *aside] // by window

	mu   sync.Mutex        // of busy, and of what is added to asides
	busy map[string]*queue // by window
}

// queue is of those who write to a window: one after the other, so that none of them decides in vain.
type queue struct {
	turn chan struct{}
	n    int
}

func newWindows() *windows {
	words, _ := lru.New[textKey, []int32](rememberedTexts) // fails for no size only
	longs, _ := lru.New[textKey, []int32](rememberedLong)
	forms, _ := lru.New[chain.Hash, []embeddings.Passage](rememberedForms)
	spoken, _ := lru.New[int64, window.Record](rememberedRecords)
	j, s := BuiltIn()
	return &windows{judge: j, summariser: s, records: newRecordWords(), spoken: spoken, words: words, longs: longs, forms: forms, states: expirable.NewLRU[string, loaded](rememberedWindows, nil, rememberedFor), wide: expirable.NewLRU[string, loaded](rememberedWide, nil, rememberedFor), asides: expirable.NewLRU[string, *aside](rememberedAsides, nil, rememberedFor), busy: map[string]*queue{}}
}

// UseModels has a model judge and summarise for windows. It must be called before the store is used; without, the built-in
// ones do.
func (d *DB) UseModels(j window.Judge, s window.Summariser) {
	d.windows.judge, d.windows.summariser, d.windows.slow = j, s, true
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

// textKey stands for a text, within this process: no two texts have the same, and nobody outside can tell which would. A window is
// compared whole at each write, and SHA-256 took longer than all else of that.
type textKey [2]uint64

var textSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOfText(text string) textKey {
	return textKey{maphash.String(textSeeds[0], text), maphash.String(textSeeds[1], text)}
}

// wordsOf gives what stands for the words of a text, of a long one as far as a judge reads, and remembers it: every write compares all
// that the window has.
func (w *windows) wordsOf(text string) []int32 {
	known := w.words
	if text = text[:min(len(text), mostSpokenOf)]; len(text) > rememberedText {
		known = w.longs
	}
	key := keyOfText(text)
	if words, ok := known.Get(key); ok {
		return words
	}
	words := keysOf(text)
	known.Add(key, words)
	return words
}

var documents = sync.Pool{New: func() any { d := embeddings.NewDocuments(); return &d }}

func keysOf(text string) []int32 {
	d := documents.Get().(*embeddings.Documents)
	defer documents.Put(d)
	return d.Keys(text)
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
