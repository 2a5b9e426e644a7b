package graph

import (
	"context"
	"sync"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/graph/loader"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/window"
)

// Defaults of arguments that somebody gives as null.
const (
	defaultTarget = window.Target
	defaultTools  = 5
)

// windowKey reads the global id of a window.
func windowKey(field, id string) (string, error) {
	kind, key, ok := model.ParseGlobalID(id)
	if !ok || kind != model.WindowKind || !uuid.MatchString(key) {
		return "", fault.Input(field, "is not the id of a window")
	}
	return key, nil
}

func callerAndWindow(ctx context.Context, field, id string) (auth.Caller, string, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return caller, "", err
	}
	key, err := windowKey(field, id)
	return caller, key, err
}

// windowDraft reads what somebody wants to write.
func (r *Resolver) windowDraft(ctx context.Context, input model.WriteInput) (auth.Caller, string, window.Draft, error) {
	draft := window.Draft{Type: input.Type, Content: input.Content}
	caller, key, err := callerAndWindow(ctx, "input.window", input.Window)
	if input.Key != nil {
		draft.Key = *input.Key
	}
	if input.ObservedAt != nil {
		draft.ObservedAt = *input.ObservedAt
	}
	return caller, key, draft, err
}

func (r *Resolver) createWindow(ctx context.Context, input model.WindowInput) (*model.ContextWindow, error) {
	caller, err := auth.From(ctx)
	if err != nil {
		return nil, err
	}
	n := db.NewWindow{Name: input.Name, Agent: caller.Player, Capacity: input.Capacity}
	if input.Agent != nil {
		n.Agent = *input.Agent
	}
	if input.Task != nil {
		n.Task = *input.Task
	}
	if input.Encoding != nil {
		n.Encoding = *input.Encoding
	}
	made, err := r.view(ctx).CreateWindow(ctx, n)
	if err != nil {
		return nil, err
	}
	return showWindow(made), nil
}

func (r *Resolver) createSegment(ctx context.Context, name string, windows []string) (*model.SharedSegment, error) {
	keys := make([]string, len(windows))
	for i, id := range windows {
		var err error
		if keys[i], err = windowKey("windows", id); err != nil {
			return nil, err
		}
	}
	made, err := r.view(ctx).CreateSegment(ctx, name, keys)
	if err != nil {
		return nil, err
	}
	return &r.showSegments(ctx, []window.Segment{made})[0], nil
}

func (r *Resolver) selectIntoWindow(ctx context.Context, id string, input model.ContextRequestInput) (*model.ContextSelection, error) {
	caller, key, err := callerAndWindow(ctx, "window", id)
	if err != nil {
		return nil, err
	}
	request, err := contextRequest(input, "input")
	if err != nil {
		return nil, err
	}
	chosen, err := r.view(ctx).SelectIntoWindow(ctx, key, request, caller.Player)
	if err != nil {
		return nil, err
	}
	return showSelection(ctx, chosen), nil
}

// window gives a window, nil if there is none that the caller sees.
func (r *Resolver) window(ctx context.Context, key string) (*model.ContextWindow, error) {
	w, err := r.view(ctx).Window(ctx, key)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return showWindow(w), nil
}

func showWindow(w window.Window) *model.ContextWindow {
	shown := model.NewContextWindow(w)
	return &shown
}

// showItems gives items their form, and announces what they name.
func showItems(ctx context.Context, items []window.Item) []model.WindowItem {
	var of sources
	for _, item := range items {
		if item.Source != nil {
			of.add(item.Source.Type, item.Source.Hash)
		}
		if item.VerifiedBy != nil {
			of.records = append(of.records, *item.VerifiedBy)
		}
	}
	of.expect(ctx)
	return model.NewWindowItems(items)
}

// showSegments gives segments their form. Who sees them is read when it is first asked for, of all of them at once.
func (r *Resolver) showSegments(ctx context.Context, segments []window.Segment) []model.SharedSegment {
	view := r.view(ctx)
	ids := make([]string, len(segments))
	for i, s := range segments {
		ids[i] = s.ID
	}
	sharing := sync.OnceValues(func() (map[string][]db.WindowBrief, error) { return view.WindowsSharing(ctx, ids) })
	shown := make([]model.SharedSegment, len(segments))
	for i, s := range segments {
		showItems(ctx, s.Items)
		shown[i] = model.SharedSegment{Segment: s, Sharing: func(context.Context) ([]model.ContextWindow, error) {
			found, err := sharing()
			windows := make([]model.ContextWindow, len(found[s.ID]))
			for n, w := range found[s.ID] {
				windows[n] = showBrief(view, w)
			}
			return windows, err
		}}
	}
	return shown
}

// showBrief gives a window of a list its form.
func showBrief(view *db.DB, w db.WindowBrief) model.ContextWindow {
	return model.ContextWindow{Of: w.Window, Used: w.Used, Whole: whole(view, w.ID)}
}

func showWritten(ctx context.Context) func(db.WindowWritten, error) (*model.WriteResult, error) {
	return func(w db.WindowWritten, err error) (*model.WriteResult, error) {
		if err != nil {
			return nil, err
		}
		result := model.NewWriteResult(w)
		return &result, nil
	}
}

func optionalRecord(ctx context.Context, hash *chain.Hash) (*model.Record, error) {
	if hash == nil {
		return nil, nil
	}
	record, err := loader.From(ctx).Records.Load(ctx, *hash)
	if err != nil || record == nil {
		return nil, err
	}
	return &model.Record{Record: *record}, nil
}

func (r *Resolver) windows(ctx context.Context, a pageArgs) (*model.ContextWindowConnection, error) {
	p, err := pageOf(a, cursor.AllWindows.Parse)
	if err != nil {
		return nil, err
	}
	view := r.view(ctx)
	rows, err := view.Windows(ctx, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.AllWindows.Encode, func(c string, w db.WindowBrief) model.ContextWindowEdge {
		return model.ContextWindowEdge{Cursor: c, Node: showBrief(view, w)}
	})
	return &model.ContextWindowConnection{Edges: edges, PageInfo: info, Count: view.CountWindows}, nil
}

// whole reads what is in a window of a list when it is first asked for, and once.
func whole(view *db.DB, id string) func(ctx context.Context) (window.Window, error) {
	var once sync.Once
	var w window.Window
	var err error
	return func(ctx context.Context) (window.Window, error) {
		once.Do(func() { w, err = view.Window(ctx, id) })
		return w, err
	}
}

func (r *Resolver) scratchpad(ctx context.Context, key string, a pageArgs) (*model.ScratchpadEntryConnection, error) {
	p, err := pageOf(a, cursor.WindowScratchpad.Parse)
	if err != nil {
		return nil, err
	}
	view := r.view(ctx)
	rows, err := view.Scratchpad(ctx, key, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.WindowScratchpad.Encode, func(c string, e db.ScratchpadEntry) model.ScratchpadEntryEdge {
		return model.ScratchpadEntryEdge{Cursor: c, Node: e}
	})
	return &model.ScratchpadEntryConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) { return view.CountScratchpad(ctx, key) }}, nil
}

func (r *Resolver) windowOperations(ctx context.Context, key string, a pageArgs) (*model.WindowOperationConnection, error) {
	p, err := pageOf(a, cursor.WindowOperations.Parse)
	if err != nil {
		return nil, err
	}
	view := r.view(ctx)
	rows, err := view.WindowOperations(ctx, key, p)
	if err != nil {
		return nil, err
	}
	edges, info := connect(p, rows, cursor.WindowOperations.Encode, func(c string, o db.WindowOperation) model.WindowOperationEdge {
		return model.WindowOperationEdge{Cursor: c, Node: model.WindowOperation{WindowOperation: o}}
	})
	return &model.WindowOperationConnection{Edges: edges, PageInfo: info, Count: func(ctx context.Context) (int64, error) { return view.CountWindowOperations(ctx, key) }}, nil
}
