package window

import (
	"cmp"
	"slices"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// ContentType says what an item is.
type ContentType string

// The types of the specification UC-SYS-003.
const (
	UserMessage       ContentType = "user_message"
	AssistantMessage  ContentType = "assistant_message"
	SystemInstruction ContentType = "system_instruction"
	ToolResult        ContentType = "tool_result"
	Knowledge         ContentType = "knowledge"
	UserPreference    ContentType = "user_preference"
	Goal              ContentType = "goal"
	Decision          ContentType = "decision"
)

// Persistent tells whether what is of this type stays however full a window gets.
func (t ContentType) Persistent() bool {
	return t == SystemInstruction || t == UserPreference || t == Goal || t == Decision
}

// IsMessage tells whether it is part of the conversation's history.
func (t ContentType) IsMessage() bool { return t == UserMessage || t == AssistantMessage }

// Measured tells whether what is of this type has to be relevant. Of everything else it is the other way round: what the
// people, and whoever instructs, say is what the window is about; and a tool's result is what the agent asked the tool for.
func (t ContentType) Measured() bool { return t == Knowledge }

// rank is the place of a type in a prompt: who you are, what you are to do, for whom, what was decided, what is known, and
// then what was said, the last message at the end.
func (t ContentType) rank() int {
	switch t {
	case SystemInstruction:
		return 0
	case Goal:
		return 1
	case UserPreference:
		return 2
	case Decision:
		return 3
	case Knowledge:
		return 4
	default:
		return 5
	}
}

// Level is how full a window is.
type Level string

// The levels, from 0, 0.70, 0.80, 0.90 and 0.95 of the capacity on.
const (
	LevelOK         Level = "ok"
	LevelWarning    Level = "warning"
	LevelCompress   Level = "compress"
	LevelAggressive Level = "aggressive"
	LevelCritical   Level = "critical"
)

// Thresholds of the specification (RT-007), as shares of the capacity.
const (
	WarningAt    = 0.70
	CompressAt   = 0.80
	AggressiveAt = 0.90
	CriticalAt   = 0.95
	Target       = 0.60 // what a compression comes down to
)

// LevelOf gives the level of a usage.
func LevelOf(usage float64) Level {
	switch {
	case usage >= CriticalAt:
		return LevelCritical
	case usage >= AggressiveAt:
		return LevelAggressive
	case usage >= CompressAt:
		return LevelCompress
	case usage >= WarningAt:
		return LevelWarning
	}
	return LevelOK
}

// Limits of a window.
const (
	MinCapacity       = 16
	MaxCapacity       = 2_000_000
	DefaultCapacity   = 8192
	MaxName           = 256       // bytes, of windows, segments, keys
	MaxTask           = 64 << 10  // bytes
	MaxContent        = 256 << 10 // bytes of what is written as one item
	MaxItems          = 20_000
	MaxTools          = 1000
	MaxToolBytes      = 1 << 20   // of the descriptions and schemas of a window's tools
	MaxShownToolBytes = 256 << 10 // of up to ToolsShown, which have to be counted before they can turn out not to fit
	MaxShared         = 100       // segments of a window, and windows of a segment
)

// History that is longer distracts: its oldest messages are summarised, and the newest stay word for word.
const (
	MaxHistory  = 20
	KeptHistory = 10
)

// ToolsShown is how many tools a window describes at most: of more, those that are searched for.
const ToolsShown = 30

// Source is the message or record that an item came from.
type Source struct {
	Hash chain.Hash
	Type chain.RefType // RefContext for a message
}

// Item is a piece of a window.
type Item struct {
	ID         string
	Place      int64 // ascending in the order of writing
	Type       ContentType
	Key        string // a slot; a newer item with the same key takes the place of the older one
	Content    string
	Tokens     int
	Quality    Quality
	VerifiedBy *chain.Hash // the record that says so, too; nil: unverified
	Source     *Source
	ObservedAt time.Time
	AddedAt    time.Time
	SummaryOf  []string // ids of what a summary stands for, which is in the scratchpad
	Injected   bool     // from the scratchpad, where it still is

	words []int32 // of the content, by Env.Words, as long as the item is remembered; nil: to be asked for
}

// IsSummary tells whether an item stands for others.
func (i *Item) IsSummary() bool { return len(i.SummaryOf) > 0 }

// rank is the place of an item in a prompt. What comes from the scratchpad was not said just now.
func (i *Item) rank() int {
	if i.Injected {
		return min(i.Type.rank(), Knowledge.rank())
	}
	return i.Type.rank()
}

// part gives an item as a part of a summary.
func (i *Item) part() Part {
	p := Part{Content: i.Content, Vital: i.Type.Persistent()}
	switch i.Type {
	case UserMessage:
		p.Speaker = "user"
	case AssistantMessage:
		p.Speaker = "assistant"
	case ToolResult:
		p.Speaker = "tool"
	}
	return p
}

// Segment is what several windows share.
type Segment struct {
	ID          string
	Name        string
	Items       []Item
	WindowCount int // that see it
}

// Tool is something that an agent may call.
type Tool struct {
	Name        string
	Description string
	Schema      chain.JSON
	Tokens      int
	Shown       bool // described in the window, where it counts
}

// Window is what an agent's model is to see.
type Window struct {
	ID        string
	Name      string
	Agent     chain.Hash // whose it is
	Task      string
	Capacity  int // in tokens
	Encoding  string
	CreatedAt time.Time
	Version   int64 // counts changes
	Items     []Item
	Segments  []Segment
	Tools     []Tool
	Overruled map[string]bool // by PairKey: pairs that an administrator said do not contradict each other here
}

// Used gives how many tokens a window holds: of its items, those that it shares, and the tools that it describes.
func (w *Window) Used() int {
	n := sum(w.Items)
	for _, s := range w.Segments {
		n += sum(s.Items)
	}
	for _, t := range w.Tools {
		if t.Shown {
			n += t.Tokens
		}
	}
	return n
}

func sum(items []Item) (n int) {
	for i := range items {
		n += items[i].Tokens
	}
	return n
}

// maxSkew is how far ahead another server's clock may be: what was added by one that is wrong moves no other.
const maxSkew = time.Minute

// since gives now, or if that is later the time when an item was added: servers' clocks differ by a moment, and what is
// written comes behind all that is there.
func (w *Window) since(now time.Time) time.Time {
	latest := now.Add(maxSkew)
	look := func(items []Item) {
		for i := range items {
			if added := items[i].AddedAt; added.After(now) && !added.After(latest) {
				now = added
			}
		}
	}
	look(w.Items)
	for i := range w.Segments {
		look(w.Segments[i].Items)
	}
	return now
}

// Usage gives the share of the capacity that is used.
func (w *Window) Usage() float64 { return float64(w.Used()) / float64(w.Capacity) }

// Level gives how full it is.
func (w *Window) Level() Level { return LevelOf(w.Usage()) }

// PromptOrder gives the items as a prompt has them.
func PromptOrder(items []Item) []Item {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Place, b.Place))
	})
	return items
}

// item gives the item with an id, nil for none.
func (w *Window) item(id string) *Item {
	for i := range w.Items {
		if w.Items[i].ID == id {
			return &w.Items[i]
		}
	}
	return nil
}

// keyed gives the item in a slot, nil for none.
func keyed(items []Item, key string) *Item {
	if key == "" {
		return nil
	}
	for i := range items {
		if items[i].Key == key {
			return &items[i]
		}
	}
	return nil
}

// query gives the last message of the user, nil for none. What was brought back from the scratchpad is no question of now.
func (w *Window) query() *Item {
	for i := len(w.Items) - 1; i >= 0; i-- {
		if w.Items[i].Type == UserMessage && !w.Items[i].Injected {
			return &w.Items[i]
		}
	}
	return nil
}
