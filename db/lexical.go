package db

import (
	"context"
	"strconv"
	"strings"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
)

// lexicalRows gathers rows of embedding.lexical, so that one statement writes them.
type lexicalRows struct{ params dbgen.AddLexicalParams }

// add takes in the passages of a message (kind RefContext, with its session and sequence) or a record.
func (l *lexicalRows) add(kind chain.RefType, id int64, session *chain.Hash, sequence int64, text string) {
	name := ""
	if session != nil {
		name = session.String()
	}
	p := &l.params
	for i, passage := range (embeddings.Lexical{}).Document(text) {
		p.Kinds, p.Ids, p.Passages = append(p.Kinds, string(kind)), append(p.Ids, id), append(p.Passages, int32(i))
		p.Sessions, p.Sequences = append(p.Sessions, name), append(p.Sequences, sequence)
		p.Vectors, p.Terms = append(p.Vectors, passage.String()), append(p.Terms, intArray(passage.Terms))
	}
}

func (l *lexicalRows) write(ctx context.Context, q *dbgen.Queries) error {
	if len(l.params.Ids) == 0 {
		return nil
	}
	return q.AddLexical(ctx, l.params)
}

// intArray gives the text of an INT[].
func intArray(terms []int32) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, t := range terms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(t)))
	}
	b.WriteByte('}')
	return b.String()
}
