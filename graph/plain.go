package graph

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/graph/model"
)

// plain is an object with fields that are at hand: nothing has to be read for them, and no scope is needed beyond the list's.
type plain interface {
	// Plain gives a string, an int or a time; false for fields that are none of it.
	Plain(field string) (value any, ok bool)
}

// plainLists writes lists of objects one after the other if only plain fields are asked for. The executor has a goroutine for
// each object, and goes through all middlewares for each field, which takes longer than a prompt takes to be read. It is a
// gqlgen FieldMiddleware, and belongs around spend, which counts the objects; the text is counted here.
func plainLists(ctx context.Context, next graphql.Resolver) (any, error) {
	found, err := next(ctx)
	if err != nil {
		return found, err
	}
	switch list := found.(type) {
	case []model.PromptMessage:
		return writePlain(ctx, "PromptMessage", list)
	case []model.Turn:
		return writePlain(ctx, "Turn", list)
	}
	return found, nil
}

// writePlain gives a list of objects of a type as JSON, or as it is where more is asked for than is plain.
func writePlain[T plain](ctx context.Context, object string, list []T) (any, error) {
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field.Selections, []string{object})
	var none T
	for _, field := range fields {
		_, ok := none.Plain(field.Name)
		if !ok && field.Name != typeName || field.IsDeferred() {
			return list, nil
		}
	}
	size := int64(len("[]"))
	for _, one := range list {
		size += objectSize(one, fields)
	}
	if b := budgetFrom(ctx); b != nil {
		if err := b.text.Take(size); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	text.Grow(int(size) + len(list)*roomForObject)
	begin := byte('[')
	for _, one := range list {
		text.WriteByte(begin)
		writeObject(&text, object, one, fields)
		begin = ','
	}
	if len(list) == 0 {
		text.WriteByte('[')
	}
	text.WriteByte(']')
	return written(text.Bytes()), nil
}

// typeName is a field that every object has.
const typeName = "__typename"

// roomForObject is about what an object takes besides what objectSize counts.
const roomForObject = 32

// objectSize is how many bytes an object's names and text take.
func objectSize(of plain, fields []graphql.CollectedField) (size int64) {
	for _, field := range fields {
		value, _ := of.Plain(field.Name)
		size += nameSize(field.Alias) + textSize(value)
	}
	return size
}

func writeObject(to *bytes.Buffer, object string, of plain, fields []graphql.CollectedField) {
	to.WriteByte('{')
	for i, field := range fields {
		if i > 0 {
			to.WriteByte(',')
		}
		value, ok := of.Plain(field.Name)
		if !ok {
			value = object // the name of its type
		}
		graphql.MarshalString(field.Alias).MarshalGQL(to)
		to.WriteByte(':')
		marshalPlain(value).MarshalGQL(to)
	}
	to.WriteByte('}')
}

func marshalPlain(value any) graphql.Marshaler {
	switch x := value.(type) {
	case string:
		return graphql.MarshalString(x)
	case int:
		return graphql.MarshalInt(x)
	case time.Time:
		return model.MarshalTime(x)
	}
	return graphql.Null
}

// written is a value that is JSON already.
type written []byte

// MarshalGQL writes it.
func (w written) MarshalGQL(to io.Writer) { _, _ = to.Write(w) }
