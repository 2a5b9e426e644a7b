package graph

import (
	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// Sizes of a connection's page.
const (
	defaultPage = 50
	maxPage     = 200
)

// pageArgs are the arguments of a connection, by the Relay specification.
type pageArgs struct {
	first, last   *int
	after, before *string
}

// pageOf reads a connection's arguments. With last the page is taken from the end, and first is not looked at: it
// may be there by default.
func pageOf[K any](a pageArgs, parse func(string) (K, bool)) (db.Page[K], error) {
	p := db.Page[K]{Limit: defaultPage}
	name, size := "first", a.first
	if a.last != nil {
		name, size, p.Backward = "last", a.last, true
	}
	if size != nil {
		p.Limit = *size
	}
	if p.Limit < 0 || p.Limit > maxPage {
		return p, fault.Input(name, "%d is outside of 0 to %d", p.Limit, maxPage)
	}
	var err error
	if p.After, err = key("after", a.after, parse); err != nil {
		return p, err
	}
	p.Before, err = key("before", a.before, parse)
	return p, err
}

func key[K any](field string, text *string, parse func(string) (K, bool)) (*K, error) {
	if text == nil {
		return nil, nil
	}
	k, ok := parse(*text)
	if !ok {
		return nil, fault.Input(field, "is not a cursor of this list")
	}
	return &k, nil
}

// connect makes the edges of a page, and says where it stands.
func connect[T, K, E any](p db.Page[K], rows db.Rows[T, K], cursorOf func(K) string, edge func(cursor string, value T) E) ([]E, model.PageInfo) {
	edges := make([]E, len(rows.Items))
	info := model.PageInfo{HasNextPage: rows.More, HasPreviousPage: p.After != nil}
	if p.Backward {
		info = model.PageInfo{HasNextPage: p.Before != nil, HasPreviousPage: rows.More}
	}
	for i, item := range rows.Items {
		c := cursorOf(item.Key)
		edges[i] = edge(c, item.Value)
		if i == 0 {
			info.StartCursor = &c
		}
		if i == len(rows.Items)-1 {
			info.EndCursor = &c
		}
	}
	return edges, info
}

func messageEdge(c string, m chain.Message) model.MessageEdge {
	return model.MessageEdge{Cursor: c, Node: model.Message{Message: m}}
}

func sessionEdge(c string, s chain.Session) model.SessionEdge {
	return model.SessionEdge{Cursor: c, Node: model.Session{Session: s}}
}

func threadEdge(c string, t chain.Thread) model.ThreadEdge {
	return model.ThreadEdge{Cursor: c, Node: model.Thread{Thread: t}}
}

func componentEdge(c string, v component.Component) model.ComponentEdge {
	return model.ComponentEdge{Cursor: c, Node: model.NewComponent(v)}
}

func recordEdge(c string, r knowledge.Record) model.RecordEdge {
	return model.RecordEdge{Cursor: c, Node: model.Record{Record: r}}
}
