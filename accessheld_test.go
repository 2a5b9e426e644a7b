package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

// refTo cites a record.
func refTo(r knowledge.Record) chain.Ref { return chain.Ref{Type: r.Kind, Hash: r.Hash} }

// erasable are messages that Ana has sent, the last of them in her conversation: she may ask what their erasure would touch.
func (w *worlds) erasable() []chain.Message {
	return []chain.Message{w.mine[5], w.mine[119], w.mine[120]}
}

// keep makes what holds or cites something that Ana sees and is not hers to see: a hidden message that was sent with it, a
// selection and a window of Ben's, who sees it too. It erases a hidden message, and puts one into quarantine.
func (w *worlds) keep() {
	s := w.other
	s.t.Helper()
	citing := says(cleo, "hidden 0", "classified", playerOf("gil"))
	citing.CreatedAt = ptr(longAgo.Add(time.Hour))
	held := map[chain.Hash]bool{}
	for _, r := range w.records {
		citing.Refs, w.query, held[r.Hash] = append(citing.Refs, refTo(r)), w.query+" "+r.Content, true
	}
	for _, m := range w.erasable() {
		citing.Refs, w.query, held[m.Hash] = append(citing.Refs, chain.Ref{Type: chain.RefContext, Hash: m.Hash}), w.query+" "+*m.Content, true
	}
	w.hidden = append(w.hidden, s.append(citing)...)
	chosen, err := s.As(ben).RequestContext(s.t.Context(), selection.Request{Query: w.query, Limit: selection.MaxLimit})
	if err != nil {
		s.t.Fatal(err)
	}
	w.kept = append(w.kept, s.choose(cleo, "harbour").ID, chosen.ID)
	w.window(s, bensWindow, ben)
	for h := range held {
		if !slices.ContainsFunc(chosen.Items, func(i selection.Item) bool { return i.Hash == h }) {
			s.t.Fatalf("Ben's selection of %d items does not hold %s", len(chosen.Items), h)
		}
		s.write(stagedWindow{id: bensWindow}, ben, window.UserMessage, text(random2(), 5), func(d *window.Draft) { d.Source = &window.Source{Hash: h} })
	}
	if len(w.aside) != 2 {
		s.t.Fatalf("Ana's messages were sent with %d hidden ones, want two", len(w.aside))
	}
	if _, err := s.Erase(s.t.Context(), w.aside[0], cleo, "classified"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.AsAdministrator(auth.Administrator(), nil).Quarantine(s.t.Context(), w.aside[1], "classified"); err != nil {
		s.t.Fatal(err)
	}
}

// surely gives documents about what hidden messages, selections and windows cite and hold: few that are drawn ask for that.
// The first make a selection of Ana's that holds the same.
func (w *worlds) surely() []string {
	const ranked = "{ id items { hash score tokens explanation { relevance lexical neighbours recency preference matchedTerms } } dropped { hash score reason } notices logSize }"
	window := model.GlobalID(model.WindowKind, ownWindow)
	documents := []string{
		fmt.Sprintf("mutation { r: requestContext(input: {query: %q, limit: 130, threshold: 0}) %s }", w.query, ranked),
		fmt.Sprintf("mutation { r: selectIntoWindow(window: %q, input: {query: %q, limit: 5, threshold: 0.1}) %s }", window, w.query, ranked),
		fmt.Sprintf("query { window(id: %q) { used items { content quality { score } source { ... on Message { hash } ... on Record { hash } } } operations { totalCount } } }", window),
		fmt.Sprintf("query { eraseImpact(conversation: %q) { contents selections windows citedBy refs records } }", ownTalk),
		"query { overview { selections } selections { totalCount edges { node { query } } } windows { totalCount edges { node { name } } } contextMetrics { contextQualityScoreAvg } }",
	}
	for _, r := range w.records {
		documents = append(documents, fmt.Sprintf("query { record(hash: %q) { usedBy { totalCount edges { cursor node { position } } } citedBy { totalCount edges { cursor node { hash } } } } }", r.Hash))
	}
	for _, m := range w.erasable() {
		documents = append(documents, fmt.Sprintf("query { eraseImpact(message: %q) { contents selections windows citedBy refs records } message(hash: %[1]q) { quarantined citedBy { totalCount edges { node { hash } } } } }", m.Hash))
	}
	return append(documents, fmt.Sprintf("query { erased: message(hash: %q) { hash } quarantined: message(hash: %q) { hash } "+
		"messages(first: 150) { edges { node { hash quarantined refs { hash target { __typename } } integrity { erasure { hash } } } } } }", w.aside[0], w.aside[1]))
}
