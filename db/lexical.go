package db

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/chain"
)

// lexicalRows gathers rows of embedding.lexical in the form of a binary COPY: read from text, a vector costs more than
// all else about a message.
type lexicalRows struct {
	toolbox *lexicalToolbox
	copy    []byte
	tools   *lexicalTools
}

// lexicalTools are what one batch of rows leaves to the next: words that are known, and room.
type lexicalTools struct {
	documents embeddings.Documents
	room      []byte
}

// lexicalToolbox keeps the tools of as many batches as are mostly made at a time. A sync.Pool would throw the words away at every
// other collection of garbage, and to find a word's stem and n-grams anew takes longer than all else about it.
type lexicalToolbox struct {
	mu   sync.Mutex
	left []*lexicalTools // those used last at the end, and next
}

// mostLexicalTools is how many are kept.
const mostLexicalTools = 2

func (b *lexicalToolbox) take() *lexicalTools {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.left) - 1
	if last < 0 {
		return &lexicalTools{documents: embeddings.NewDocuments()}
	}
	tools := b.left[last]
	b.left = b.left[:last]
	return tools
}

// leave keeps tools for the next batch.
func (b *lexicalToolbox) leave(tools *lexicalTools) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.left) < mostLexicalTools {
		b.left = append(b.left, tools)
	}
}

// newLexicalRows begins a batch.
func (d *DB) newLexicalRows() lexicalRows { return lexicalRows{toolbox: &d.lexical} }

// maxLexicalRoom is how much room is kept for the next batch.
const maxLexicalRoom = 4 << 20

const (
	copySignature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00" // with no flags and no extension
	copyEnd       = 0xFFFF
	copyLexical   = "COPY embedding.lexical (kind, source_id, passage, vector, terms, keys, draw) FROM STDIN (FORMAT binary)"
	oidInt4       = 23
)

// add takes in the passages of a message (kind RefContext) or a record.
func (l *lexicalRows) add(kind chain.RefType, id int64, text string) {
	if l.copy == nil {
		l.tools = l.toolbox.take()
		l.copy = append(l.tools.room[:0], copySignature...)
	}
	drawn := string(binary.BigEndian.AppendUint16(nil, uint16(draw(kind, id))))
	for i, passage := range l.tools.documents.Document(text) {
		b := binary.BigEndian.AppendUint16(l.copy, 7) // columns
		b = appendField(b, string(kind))
		b = appendField(b, string(binary.BigEndian.AppendUint64(nil, uint64(id))))
		b = appendField(b, string(binary.BigEndian.AppendUint32(nil, uint32(i))))
		b = appendTerms(appendTerms(appendVector(b, passage), passage.Terms), passage.Keys)
		l.copy = appendField(b, drawn)
	}
}

// draw gives the zeros that a hash of a message (kind RefContext) or a record ends in: at least n for one in 2^n. The hash
// is a step of SplitMix64, which ids in a row come out of as good as random.
func draw(kind chain.RefType, id int64) int {
	x := uint64(id)
	if kind != chain.RefContext {
		x = ^x
	}
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return bits.TrailingZeros64(x ^ x>>31)
}

func appendField(b []byte, value string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
}

// appendVector adds a sparsevec as pgvector receives it: dimensions, how many, nothing, indices from 0, values.
func appendVector(b []byte, p embeddings.Passage) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(12+8*len(p.Terms)))
	b = binary.BigEndian.AppendUint32(b, embeddings.Dimensions)
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.Terms)))
	b = binary.BigEndian.AppendUint32(b, 0)
	for _, term := range p.Terms {
		b = binary.BigEndian.AppendUint32(b, uint32(term-1))
	}
	for _, value := range p.Values {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(value))
	}
	return b
}

// appendTerms adds an INT[] as Postgres receives it: dimensions, no NULLs, type, length and lower bound, elements.
func appendTerms(b []byte, terms []int32) []byte {
	if len(terms) == 0 {
		b = binary.BigEndian.AppendUint32(b, 12)
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
		return binary.BigEndian.AppendUint32(b, oidInt4)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(20+8*len(terms)))
	for _, x := range [...]uint32{1, 0, oidInt4, uint32(len(terms)), 1} {
		b = binary.BigEndian.AppendUint32(b, x)
	}
	for _, term := range terms {
		b = binary.BigEndian.AppendUint32(b, 4)
		b = binary.BigEndian.AppendUint32(b, uint32(term))
	}
	return b
}

func (l *lexicalRows) write(ctx context.Context, tx pgx.Tx) error {
	if l.copy == nil {
		return nil
	}
	whole := binary.BigEndian.AppendUint16(l.copy, copyEnd)
	_, err := tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(whole), copyLexical)
	l.tools.room = nil
	if err == nil && cap(whole) <= maxLexicalRoom { // after an error somebody may still read it
		l.tools.room = whole
	}
	l.toolbox.leave(l.tools)
	l.copy, l.tools = nil, nil
	return err
}
