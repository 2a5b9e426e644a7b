package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/graph/model"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// rule says who may ask for a field: callers whose token has all of the scopes, unless the condition refuses them.
type rule struct {
	scopes    auth.Scopes
	condition condition // nil: none
}

// condition refuses callers.
type condition interface {
	check(c auth.Caller, args map[string]any) error
}

// ofRoles is a condition that looks at who asks alone, so that nothing of what they send has to be read for it.
type ofRoles func(c auth.Caller) error

func (f ofRoles) check(c auth.Caller, _ map[string]any) error { return f(c) }

// ofArguments is a condition that looks at what is asked for.
type ofArguments func(c auth.Caller, args map[string]any) error

func (f ofArguments) check(c auth.Caller, args map[string]any) error { return f(c, args) }

// access has a rule for each field of Query, Mutation and Subscription; within has the scopes of other fields. Which rows
// a caller sees is for the store to say.
var access = map[string]map[string]rule{
	"Query": {
		"node":             {auth.LogRead, ofArguments(selectionsBySelectors)},
		"message":          {auth.LogRead, nil},
		"messages":         {auth.LogRead, nil},
		"session":          {auth.LogRead, nil},
		"sessions":         {auth.LogRead, nil},
		"thread":           {auth.LogRead, nil},
		"threads":          {auth.LogRead, nil},
		"channels":         {auth.LogRead, nil},
		"component":        {auth.LogRead, nil},
		"components":       {auth.LogRead, nil},
		"componentUsage":   {auth.LogRead, nil},
		"record":           {auth.LogRead, nil},
		"records":          {auth.LogRead, nil},
		"contextSelection": {auth.ContextSelect, nil},
		"replayContext":    {auth.ContextSelect, nil},
		"selections":       {auth.ContextSelect, nil},
		"rankingPolicy":    {auth.ContextSelect, nil},
		"tryContext":       {auth.ContextSelect, ofArguments(ownPreferencesTried)},
		"whyNot":           {auth.ContextSelect, nil},
		"verifySession":    {auth.Verify, nil},
		"verifyLog":        {auth.Verify, ofRoles(administratorsOnly)},
		"checkpoint":       {auth.Verify, nil},
		"checkpoints":      {auth.Verify, nil},
		"consistencyProof": {auth.Verify, nil},
		"seal":             {auth.Verify, nil},
		"embeddingModels":  {auth.LogRead, ofRoles(administratorsOnly)},
		"tokens":           {auth.TokensManage, nil},
		"eraseImpact":      {auth.Erase, nil},
		"overview":         {auth.LogRead, nil},
		"server":           {auth.LogRead, ofRoles(administratorsOnly)},
		"quarantine":       {auth.LogRead, ofRoles(administratorsOnly)},
		"quarantines":      {auth.LogRead, ofRoles(administratorsOnly)},
		"conversation":     {auth.LogRead, nil},
		"conversations":    {auth.LogRead, nil},
		"threadEvents":     {auth.LogRead, nil},
		"userThreads":      {auth.LogRead, nil},
		"window":           {auth.ContextSelect, nil},
		"windows":          {auth.ContextSelect, nil},
		"scratchpadEntry":  {auth.ContextSelect, nil},
		"searchTools":      {auth.ContextSelect | auth.MemoryWrite, nil}, // what is found is described in the window from then on
		"contextMetrics":   {auth.ContextSelect, nil},
	},
	"Mutation": {
		"appendMessages":     {auth.LogAppend, ofArguments(ownMessages)},
		"recordSelection":    {auth.LogAppend | auth.ContextSelect, ofArguments(ownMessage)},
		"requestContext":     {auth.ContextSelect, ofArguments(ownPreferences)},
		"upsertComponents":   {auth.MemoryWrite, ofArguments(ownComponents)},
		"addRecords":         {auth.MemoryWrite, ofRoles(administratorsOnly)},
		"dropEmbeddingModel": {auth.MemoryWrite, ofRoles(administratorsOnly)},
		"acceptTree":         {auth.Verify, ofRoles(administratorsOnly)},
		"eraseMessage":       {auth.Erase, nil},
		"createToken":        {auth.TokensManage, nil},
		"revokeToken":        {auth.TokensManage, nil},
		"quarantine":         {auth.LogAppend, ofRoles(administratorsOnly)},
		"releaseQuarantine":  {auth.LogAppend, ofRoles(administratorsOnly)},
		"startConversation":  {auth.LogAppend | auth.LogRead, ofRoles(assistantsOnly)},
		"recordExchange":     {auth.LogAppend | auth.LogRead, ofRoles(assistantsOnly)},
		"updateState":        {auth.LogAppend | auth.LogRead, ofRoles(assistantsOnly)},
		"deleteConversation": {auth.LogAppend | auth.LogRead, ofArguments(erasersErase)},
		"promptMessages":     {auth.LogRead, ofArguments(contextBySelectors)},

		"createWindow":         {auth.MemoryWrite, ofArguments(ownWindow)},
		"deleteWindow":         {auth.MemoryWrite, nil},
		"writeContext":         {auth.MemoryWrite, nil},
		"selectIntoWindow":     {auth.MemoryWrite | auth.ContextSelect, ofArguments(ownPreferences)},
		"compressWindow":       {auth.MemoryWrite, nil},
		"removeFromWindow":     {auth.MemoryWrite, nil},
		"createSegment":        {auth.MemoryWrite, nil},
		"writeToSegment":       {auth.MemoryWrite, nil},
		"offload":              {auth.MemoryWrite, nil},
		"injectFromScratchpad": {auth.MemoryWrite, nil},
		"registerTools":        {auth.MemoryWrite, nil},
		"overruleJudgement":    {auth.MemoryWrite, ofRoles(administratorsOnly)},
	},
	"Subscription": {
		"messageAppended":      {auth.LogRead, nil},
		"verificationProgress": {auth.Verify, ofArguments(wholeLogByAdministrators)},
	},
}

// allow refuses fields that the caller may not ask for. It is a gqlgen FieldMiddleware.
func allow(ctx context.Context, next graphql.Resolver) (any, error) {
	field := graphql.GetFieldContext(ctx)
	err := error(nil)
	if isRoot(field.Object) {
		err = checkRule(ctx, field)
	} else {
		err = checkWithin(ctx, field.Object, field.Field.Field)
	}
	if err != nil {
		return nil, err
	}
	return next(ctx)
}

func checkRule(ctx context.Context, field *graphql.FieldContext) error {
	name := field.Field.Name
	if strings.HasPrefix(name, "__") { // introspection is the guard's
		return nil
	}
	found, ok := access[field.Object][name]
	if !ok {
		return nobody(name)
	}
	caller, err := auth.From(ctx)
	if err != nil {
		return err
	}
	if err := needScopes(caller, found.scopes); err != nil {
		return err
	}
	if found.condition == nil {
		return nil
	}
	return found.condition.check(caller, field.Args)
}

func nobody(name string) error { return fault.New(fault.Forbidden, "nobody may ask for %s", name) }

func isRoot(object string) bool {
	return object == "Query" || object == "Mutation" || object == "Subscription"
}

// needScopes is FORBIDDEN unless the caller's token has all of the scopes.
func needScopes(c auth.Caller, scopes auth.Scopes) error {
	if c.Scopes.Has(scopes) {
		return nil
	}
	return fault.New(fault.Forbidden, "your token lacks the scope %s", scopes&^c.Scopes)
}

func forbidden(field, format string, args ...any) error {
	return &fault.Error{Code: fault.Forbidden, Field: field, Message: fmt.Sprintf(format, args...)}
}

func administratorsOnly(c auth.Caller) error {
	if c.IsAdmin() {
		return nil
	}
	return fault.New(fault.Forbidden, "only administrators may do this")
}

// assistantsOnly refuses whoever nobody would take for an assistant.
func assistantsOnly(c auth.Caller) error {
	if c.IsAdmin() || c.Role == auth.Agent {
		return nil
	}
	return fault.New(fault.Forbidden, "only agents and administrators may do this")
}

func erasersErase(c auth.Caller, args map[string]any) error {
	if erase, _ := args["eraseLog"].(*bool); erase != nil && *erase {
		return needScopes(c, auth.Erase)
	}
	return nil
}

// contextBySelectors lets assistants make prompts, with relevant context those who may select it.
func contextBySelectors(c auth.Caller, args map[string]any) error {
	if err := assistantsOnly(c); err != nil {
		return err
	}
	input, _ := args["context"].(*model.ContextRequestInput)
	if input == nil {
		return nil
	}
	if err := needScopes(c, auth.ContextSelect); err != nil {
		return err
	}
	return ownPlayer(c, "context.player", input.Player)
}

func wholeLogByAdministrators(c auth.Caller, args map[string]any) error {
	if session, _ := args["session"].(*chain.Hash); session != nil || c.IsAdmin() {
		return nil
	}
	return forbidden("session", "is missing: only administrators may check the whole log")
}

func selectionsBySelectors(c auth.Caller, args map[string]any) error {
	id, _ := args["id"].(string)
	if kind, _, ok := model.ParseGlobalID(id); ok && (kind == selectionKind || kind == model.WindowKind) {
		return needScopes(c, auth.ContextSelect)
	}
	return nil
}

func ownMessages(c auth.Caller, args map[string]any) error {
	drafts, _ := args["messages"].([]chain.Draft)
	for i := range drafts {
		if err := ownPlayer(c, fmt.Sprintf("messages[%d].ownerId", i), &drafts[i].OwnerID); err != nil {
			return err
		}
	}
	return nil
}

func ownMessage(c auth.Caller, args map[string]any) error {
	draft, _ := args["message"].(chain.Draft)
	return ownPlayer(c, "message.ownerId", &draft.OwnerID)
}

func ownWindow(c auth.Caller, args map[string]any) error {
	input, _ := args["input"].(model.WindowInput)
	return ownPlayer(c, "input.agent", input.Agent)
}

func ownPreferences(c auth.Caller, args map[string]any) error {
	input, _ := args["input"].(model.ContextRequestInput)
	return ownPlayer(c, "input.player", input.Player)
}

func ownPreferencesTried(c auth.Caller, args map[string]any) error {
	input, _ := args["request"].(model.ContextRequestInput)
	return ownPlayer(c, "request.player", input.Player)
}

func ownComponents(c auth.Caller, args map[string]any) error {
	drafts, _ := args["components"].([]component.Draft)
	for i, d := range drafts {
		name, hash := "key", component.DefaultHash(d.Namespace, d.Key)
		if d.Hash != nil {
			name, hash = "hash", *d.Hash
		}
		if err := ownPlayer(c, fmt.Sprintf("components[%d].%s", i, name), &hash); err != nil {
			return err
		}
	}
	return nil
}

// ownPlayer is FORBIDDEN, and names the field, if a player is not the caller's. Administrators act for all.
func ownPlayer(c auth.Caller, field string, player *chain.Hash) error {
	if player == nil || *player == c.Player || c.IsAdmin() {
		return nil
	}
	return forbidden(field, "is not your token's player, %s; only administrators act for others", c.Player)
}
