package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/tzzr/context-manager/internal/auth"
)

// part is for fields that tell no more than what they are part of.
const part auth.Scopes = 0

// within has the scopes, besides those of the root, of the fields of objects. What the root's own scope has produced may
// be read: the message that was just appended, what was selected. What leads on from there needs log:read. Each field
// that gives an object must be here, pages apart; and each of sessions, threads and components, but for what names them.
var within = map[string]map[string]auth.Scopes{
	"Message": {
		"session": auth.LogRead, "thread": auth.LogRead, "citedBy": auth.LogRead, "refs": part, "integrity": part,
		"owner": part, "players": part, "masterPlayer": part, "hashtags": part, "flag": part, "masterItem": part,
		"items": part, "location": part,
	},
	"MessageRef":       {"target": auth.LogRead},
	"MessageIntegrity": {"leafIndex": auth.Verify, "proof": auth.Verify, "erasure": auth.LogRead},
	"Session": {
		"length": auth.LogRead, "head": auth.LogRead, "startedAt": auth.LogRead, "lastMessageAt": auth.LogRead,
		"messages": auth.LogRead, "range": auth.LogRead, "place": auth.LogRead, "placeAt": auth.LogRead, "marks": auth.LogRead,
		"marksCount": auth.LogRead,
	},
	"Thread": {
		"messageCount": auth.LogRead, "startedAt": auth.LogRead, "lastMessageAt": auth.LogRead, "lastMessage": auth.LogRead,
		"players": auth.LogRead, "messages": auth.LogRead, "range": auth.LogRead, "place": auth.LogRead, "placeAt": auth.LogRead,
		"marks": auth.LogRead, "marksCount": auth.LogRead,
	},
	"MessageRange":      {"messages": part},
	"ComponentUsage":    {"buckets": part},
	"Record":            {"usedBy": auth.ContextSelect, "citedBy": auth.LogRead},
	"Player":            {"description": auth.LogRead, "data": auth.LogRead, "preferences": auth.LogRead},
	"Hashtag":           {"description": auth.LogRead, "data": auth.LogRead},
	"Flag":              {"description": auth.LogRead, "data": auth.LogRead},
	"Item":              {"description": auth.LogRead, "data": auth.LogRead},
	"Location":          {"description": auth.LogRead, "data": auth.LogRead},
	"ContextSelection":  {"player": part, "items": part, "dropped": part, "previous": part, "request": part, "policy": part, "stages": part, "noticeDetails": part},
	"ReplayedSelection": {"items": part, "dropped": part, "request": part, "policy": part, "stages": part, "noticeDetails": part},
	"SelectionRequest":  {"scope": part},
	"RankingPolicy":     {"weights": part},
	"WhyNot":            {"verdicts": part},
	"WhyNotVerdict":     {"source": auth.LogRead, "explanation": part}, // it need not have been selected
	"ContextItem":       {"source": part, "owner": part, "explanation": part},
	"DroppedItem":       {"source": auth.LogRead}, // it was not selected
	"ContextReplay":     {"original": part, "selection": part, "causes": part},
	"ReplayCause":       {"messages": auth.LogRead},
	"Conversation":      {"user": part, "assistant": part, "history": part, "session": auth.LogRead},
	"Turn":              {"message": auth.LogRead},
	"ContextWindow": {
		"agent": part, "items": auth.ContextSelect, "segments": auth.ContextSelect, "tools": part, "scratchpad": auth.ContextSelect, "operations": auth.ContextSelect,
	},
	"WindowItem":      {"quality": part, "verifiedBy": auth.LogRead, "source": auth.LogRead},
	"SharedSegment":   {"items": part, "windows": part},
	"ScratchpadEntry": {"window": part},
	"WriteResult":     {"item": part, "quality": part, "mitigations": part, "compression": part, "judgements": part, "operation": part, "window": part},
	"Mitigation":      {"record": auth.LogRead},
	"Compression":     {"steps": part},
	"Judgement":       {"record": auth.LogRead},
	"WindowOperation": {
		"by": part, "quality": part, "mitigations": part, "compression": part, "judgements": part, "superseded": part, "selection": auth.ContextSelect,
	},
	"EventThread":  {"thread": auth.LogRead},
	"Token":        {"player": part, "creator": part},
	"CreatedToken": {"token": part},
	"Quarantine": {
		"message": auth.LogRead, "event": auth.LogRead, "selections": auth.LogRead, "placedBy": part, "release": part,
	},
	"QuarantineRelease":    {"event": auth.LogRead, "by": part},
	"SelectionHolder":      {"player": part},
	"SessionVerification":  {"breaks": part},
	"LogVerification":      {"checkpoint": part, "breaks": part},
	"VerificationProgress": {"breaks": part},
	"Overview": {
		"outstanding": auth.Verify, "lagSeconds": auth.Verify, "checkpoint": auth.Verify, "cosigners": auth.Verify,
		"embeddingModels": part, "problems": part,
	},
	"ServerInfo": {"roles": part, "dataDirectory": part, "limits": part, "retention": part},
	"Seal":       {"checkpoint": part, "witnessed": part, "witnesses": part},
}

// isPage tells whether an object is a connection or an edge: whoever may ask for it may ask for what is on it.
func isPage(object string) bool {
	return strings.HasSuffix(object, "Connection") || strings.HasSuffix(object, "Edge")
}

// scopesWithin gives the scopes of a field of an object, and false if nobody may ask for it.
func scopesWithin(object string, field *ast.Field) (auth.Scopes, bool) {
	scopes, listed := within[object][field.Name]
	return scopes, listed || len(field.SelectionSet) == 0 || isPage(object) || strings.HasPrefix(object, "__")
}

func checkWithin(ctx context.Context, object string, field *ast.Field) error {
	scopes, ok := scopesWithin(object, field)
	if !ok {
		return nobody(field.Name)
	}
	if scopes == part {
		return nil
	}
	caller, err := auth.From(ctx)
	if err != nil {
		return err
	}
	return needScopes(caller, scopes)
}

// permitting refuses mutations that ask for anything that the caller's scopes do not cover, before any of it is done: what
// was appended could not be told from what was refused otherwise.
type permitting struct {
	schema  *ast.Schema
	present graphql.ErrorPresenterFunc
}

// around is a gqlgen OperationMiddleware.
func (p permitting) around(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	if op.Operation.Operation != ast.Mutation {
		return next(ctx)
	}
	caller, err := auth.From(ctx)
	if err == nil {
		w := wanted{schema: p.schema, variables: op.Variables, caller: caller, seen: map[string]bool{}}
		err = w.check(op.Operation.SelectionSet)
	}
	if err != nil {
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{p.present(ctx, err)}})
	}
	return next(ctx)
}

// wanted looks through an operation for fields that a caller's scopes do not cover. Each fragment is looked at once.
type wanted struct {
	schema    *ast.Schema
	variables map[string]any
	caller    auth.Caller
	seen      map[string]bool
}

func (w wanted) check(set ast.SelectionSet) error {
	for _, selection := range set {
		if err := w.checkOne(selection); err != nil {
			return err
		}
	}
	return nil
}

func (w wanted) checkOne(selection ast.Selection) error {
	switch x := selection.(type) {
	case *ast.Field:
		if w.leftOut(x.Directives) {
			return nil
		}
		if err := w.checkField(x); err != nil {
			return err
		}
		return w.check(x.SelectionSet)
	case *ast.InlineFragment:
		if w.leftOut(x.Directives) {
			return nil
		}
		return w.check(x.SelectionSet)
	case *ast.FragmentSpread:
		if w.seen[x.Name] || w.leftOut(x.Directives) {
			return nil
		}
		w.seen[x.Name] = true
		return w.check(x.Definition.SelectionSet)
	}
	return nil
}

// checkField looks at a field of an object, or of each object that has an interface.
func (w wanted) checkField(field *ast.Field) error {
	if of := field.ObjectDefinition; of.Kind == ast.Object {
		return needScopes(w.caller, w.scopes(of.Name, field))
	}
	for _, object := range w.schema.GetPossibleTypes(field.ObjectDefinition) {
		if err := needScopes(w.caller, w.scopes(object.Name, field)); err != nil {
			return err
		}
	}
	return nil
}

func (w wanted) scopes(object string, field *ast.Field) auth.Scopes {
	if isRoot(object) {
		return access[object][field.Name].scopes
	}
	scopes, _ := scopesWithin(object, field)
	return scopes
}

// leftOut tells whether @skip or @include leaves something out.
func (w wanted) leftOut(directives ast.DirectiveList) bool {
	for _, d := range directives {
		on, ok := d.ArgumentMap(w.variables)["if"].(bool)
		if ok && (d.Name == "skip" && on || d.Name == "include" && !on) {
			return true
		}
	}
	return false
}
