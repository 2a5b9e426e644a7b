package graph

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// contentless are the types whose fields show nothing of what was said in a session: hashes, numbers, and what is nobody's
// secret. Of a type with a list, only these fields. What is of no such type counts as content, so that a type that comes
// later does as well.
var contentless = map[string][]string{
	"Query": nil, "Mutation": nil, "Subscription": nil, "PageInfo": nil,
	"Message":          {"id", "hash", "prevHash", "sequence", "session", "citedBy", "refs", "integrity", "quarantined"},
	"MessageRef":       {"position", "type", "hash", "target"},
	"MessageIntegrity": {"state", "leafIndex", "proof"},
	"ContextSelection": {"id", "receipt", "createdAt"},
	"Session":          nil, "Thread": nil, "Record": nil,
	"Player": nil, "Hashtag": nil, "Flag": nil, "Item": nil, "Location": nil, "Component": nil, "Node": nil,
	"MessageConnection": nil, "MessageEdge": nil, "SessionConnection": nil, "SessionEdge": nil, "ThreadConnection": nil, "ThreadEdge": nil,
	"ComponentConnection": nil, "ComponentEdge": nil, "RecordConnection": nil, "RecordEdge": nil,
	"ContextSource": nil, "Quarantine": nil, "QuarantineRelease": nil, "QuarantineConnection": nil, "QuarantineEdge": nil,
	"SelectionHolder": nil, "SelectionHolderConnection": nil, "SelectionHolderEdge": nil,
	"SessionVerification": nil, "LogVerification": nil, "VerificationProgress": nil, "ChainBreak": nil,
	"Checkpoint": nil, "CheckpointConnection": nil, "CheckpointEdge": nil, "Seal": nil, "Witness": nil, "EraseImpact": nil,
	"Overview": nil, "Problem": nil, "ServerInfo": nil, "DatabaseRole": nil, "DataDirectory": nil, "ServerLimit": nil,
	"ContextWindow":  {"id", "agent", "capacity", "used", "usage", "level", "encoding", "createdAt", "items", "segments", "tools", "scratchpad", "operations"},
	"ContextMetrics": nil, "Compression": nil, "CompressionStep": nil, "Quality": nil, "ContextWindowConnection": nil, "ContextWindowEdge": nil,
	"ScratchpadEntryConnection": nil, "ScratchpadEntryEdge": nil, "WindowOperationConnection": nil, "WindowOperationEdge": nil,
	"EmbeddingModel": nil, "Token": nil, "TokenConnection": nil, "TokenEdge": nil, "CreatedToken": nil,
}

// readsContent tells whether an operation, which is valid, may show anything of messages but hashes. To ask for context is
// to read it, whatever is shown.
func readsContent(op *ast.OperationDefinition) bool {
	return contentIn(op.SelectionSet, map[string]bool{})
}

func contentIn(set ast.SelectionSet, seen map[string]bool) bool {
	for _, selection := range set {
		found := false
		switch x := selection.(type) {
		case *ast.Field:
			found = isContent(x) || contentIn(x.SelectionSet, seen)
		case *ast.InlineFragment:
			found = contentIn(x.SelectionSet, seen)
		case *ast.FragmentSpread:
			if !seen[x.Name] {
				seen[x.Name] = true
				found = contentIn(x.Definition.SelectionSet, seen)
			}
		}
		if found {
			return true
		}
	}
	return false
}

func isContent(f *ast.Field) bool {
	if strings.HasPrefix(f.Name, "__") || strings.HasPrefix(f.ObjectDefinition.Name, "__") {
		return false
	}
	fields, known := contentless[f.ObjectDefinition.Name]
	return !known || fields != nil && !slices.Contains(fields, f.Name) || f.Name == "requestContext"
}
