package graph

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/graph/generated"
	"github.com/tzzr/context-manager/graph/model"
)

// plain is an object with fields that are at hand: nothing has to be read for them, and no scope is needed beyond the list's.
type plain interface {
	// Plain gives a string, an int, a time, or nil for null; false for fields that are none of it.
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
	case []model.Message:
		return writePlain(ctx, "Message", list)
	}
	return found, nil
}

// writePlain gives a list of objects of a type as JSON, or as it is where more is asked for than is plain.
func writePlain[T plain](ctx context.Context, object string, list []T) (any, error) {
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), graphql.GetFieldContext(ctx).Field.Selections, possible()[object])
	var none T
	for _, field := range fields {
		_, ok := none.Plain(field.Name)
		if !ok && field.Name != typeName || field.IsDeferred() {
			return list, nil
		}
	}
	values, size := plainValues(object, list, fields)
	if b := budgetFrom(ctx); b != nil {
		if err := b.text.Take(size); err != nil {
			return nil, err
		}
	}
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = `,"` + field.Alias + `":` // a name has nothing that JSON would escape
	}
	text := make([]byte, 0, int(size)+len(list)*roomForObject)
	text = append(text, '[')
	for i := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '{')
		for j, name := range names {
			if j == 0 {
				name = name[1:]
			}
			text = appendPlain(append(text, name...), values[i*len(fields)+j])
		}
		text = append(text, '}')
	}
	return written(append(text, ']')), nil
}

// possible gives, for each object, the types of the schema that it is: itself, its interfaces and unions. Fragments on these are of it.
var possible = sync.OnceValue(func() map[string][]string {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	out := map[string][]string{}
	for name, of := range schema.Types {
		if of.Kind != ast.Object {
			continue
		}
		out[name] = []string{name}
		for _, is := range schema.GetImplements(of) {
			out[name] = append(out[name], is.Name)
		}
	}
	return out
})

// typeName is a field that every object has.
const typeName = "__typename"

// roomForObject is about what an object takes besides what plainValues counts.
const roomForObject = 32

// plainValue is what a field of an object is, and how many bytes it takes if it is text.
type plainValue struct {
	value any
	size  int64
}

// plainValues gives what is asked for of each object, one after the other, and how many bytes the names and texts take.
func plainValues[T plain](object string, list []T, fields []graphql.CollectedField) (values []plainValue, size int64) {
	values, size = make([]plainValue, 0, len(list)*len(fields)), int64(len("[]"))
	for _, one := range list {
		for _, field := range fields {
			v := plainValue{}
			var ok bool
			if v.value, ok = one.Plain(field.Name); ok {
				v.size = textSize(v.value)
			} else {
				v.value = object // the name of its type
			}
			size += nameSize(field.Alias) + v.size
			values = append(values, v)
		}
	}
	return values, size
}

// appendPlain writes a value. Text that is as long in quotes as it is has nothing that JSON escapes.
func appendPlain(to []byte, v plainValue) []byte {
	switch x := v.value.(type) {
	case string:
		if v.size == int64(len(x)+len(`""`)) {
			return append(append(append(to, '"'), x...), '"')
		}
	case int:
		return strconv.AppendInt(to, int64(x), 10)
	}
	text := bytes.NewBuffer(to)
	marshalPlain(v.value).MarshalGQL(text)
	return text.Bytes()
}

func marshalPlain(value any) graphql.Marshaler {
	switch x := value.(type) {
	case string:
		return graphql.MarshalString(x)
	case time.Time:
		return model.MarshalTime(x)
	}
	return graphql.Null
}

// written is a value that is JSON already.
type written []byte

// MarshalGQL writes it.
func (w written) MarshalGQL(to io.Writer) { _, _ = to.Write(w) }
