package graph

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// size is what a selection set holds, with its fragments spread out.
type size struct {
	depth      int // levels of fields
	roots      int // fields of the set itself
	selections int
	aliases    int
	directives int
	arguments  int
	repeats    int // fields whose response name another one in the same selection set has
}

// most is where counts stop: fragments that double 60 times over must not overflow.
const most = 1 << 30

func (s *size) add(x size) {
	s.depth = max(s.depth, x.depth)
	s.roots = min(most, s.roots+x.roots)
	s.selections = min(most, s.selections+x.selections)
	s.aliases = min(most, s.aliases+x.aliases)
	s.directives = min(most, s.directives+x.directives)
	s.arguments = min(most, s.arguments+x.arguments)
	s.repeats = min(most, s.repeats+x.repeats)
}

// measurer measures a document in time linear in its length: each fragment is measured once.
type measurer struct {
	fragments   map[string]*ast.FragmentDefinition
	sizes       map[string]*size // nil while a fragment is being measured
	introspects bool
	repeats     int // fields of the document whose response name another one in the same selection set has
	steps       int // selections, directives, arguments and values looked at, for tests
}

// measureDocument checks a parsed document, which need not be valid, against the limits.
func measureDocument(doc *ast.QueryDocument) (*measurer, *gqlerror.Error) {
	if err := checkDefinitions(doc); err != nil {
		return nil, err
	}
	m := &measurer{fragments: map[string]*ast.FragmentDefinition{}, sizes: map[string]*size{}}
	for _, f := range doc.Fragments {
		m.fragments[f.Name] = f
	}
	for _, f := range doc.Fragments { // also those that nothing spreads: validation will look at them
		s, err := m.fragment(f.Name)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			return nil, err
		}
	}
	for _, op := range doc.Operations {
		s, err := m.operation(op)
		if err == nil {
			err = s.check()
		}
		if err == nil && s.roots > MaxRootFields {
			err = limitError("the operation has %d root fields; at most %d are allowed", s.roots, MaxRootFields)
		}
		if err != nil {
			return nil, err
		}
	}
	if m.repeats > MaxRepeats { // validation compares them in each operation and each fragment, whichever is asked for
		return nil, limitError("the document has %d fields of the same name side by side; at most %d are allowed", m.repeats, MaxRepeats)
	}
	return m, nil
}

func checkDefinitions(doc *ast.QueryDocument) *gqlerror.Error {
	if n := len(doc.Operations); n > MaxOperations {
		return limitError("the document has %d operations; at most %d are allowed", n, MaxOperations)
	}
	if n := len(doc.Fragments); n > MaxFragments {
		return limitError("the document has %d fragments; at most %d are allowed", n, MaxFragments)
	}
	names := map[string]bool{}
	for _, f := range doc.Fragments {
		if names[f.Name] { // validation looks at each, and only then at their names
			return limitError("there are two fragments of one name")
		}
		names[f.Name] = true
	}
	for _, op := range doc.Operations {
		if n := len(op.VariableDefinitions); n > MaxVariables {
			return limitError("the operation has %d variables; at most %d are allowed", n, MaxVariables)
		}
	}
	return nil
}

// check compares with the limits.
func (s size) check() *gqlerror.Error {
	for _, c := range []struct {
		what         string
		found, limit int
	}{
		{"levels of fields", s.depth, MaxDepth},
		{"fields and fragments", s.selections, MaxSelections},
		{"aliases", s.aliases, MaxAliases},
		{"directives", s.directives, MaxDirectives},
		{"arguments", s.arguments, MaxArguments},
		{"fields of the same name side by side", s.repeats, MaxRepeats},
	} {
		if c.found > c.limit {
			return limitError("the operation has %d %s; at most %d are allowed", c.found, c.what, c.limit)
		}
	}
	return nil
}

func (m *measurer) operation(op *ast.OperationDefinition) (size, *gqlerror.Error) {
	s, err := m.set(op.SelectionSet, names{})
	if err != nil {
		return s, err
	}
	own, err := m.directives(op.Directives)
	for _, v := range op.VariableDefinitions {
		if err == nil {
			err = m.value(v.DefaultValue, 0)
		}
		if err == nil {
			var of size
			of, err = m.directives(v.Directives)
			own.add(of)
		}
	}
	s.add(own)
	return s, err
}

// names are the response names in a selection set, its inline fragments included.
type names map[string]bool

func (m *measurer) set(set ast.SelectionSet, in names) (size, *gqlerror.Error) {
	var total size
	for _, selection := range set {
		m.steps++
		s, err := m.selection(selection, in)
		if err != nil {
			return total, err
		}
		s.selections++
		total.add(s)
	}
	return total, nil
}

func (m *measurer) selection(selection ast.Selection, in names) (size, *gqlerror.Error) {
	var s, own size
	var err *gqlerror.Error
	var directives ast.DirectiveList
	switch x := selection.(type) {
	case *ast.Field:
		directives = x.Directives
		if s, err = m.field(x); err != nil {
			return s, err
		}
		if in[x.Alias] {
			s.repeats++
			m.repeats++
		}
		in[x.Alias] = true
	case *ast.InlineFragment:
		directives = x.Directives
		if s, err = m.set(x.SelectionSet, in); err != nil {
			return s, err
		}
	case *ast.FragmentSpread:
		directives = x.Directives
		if s, err = m.fragment(x.Name); err != nil {
			return s, err
		}
	}
	own, err = m.directives(directives)
	s.add(own)
	return s, err
}

func (m *measurer) field(f *ast.Field) (size, *gqlerror.Error) {
	s, err := m.set(f.SelectionSet, names{})
	if err != nil {
		return s, err
	}
	s.depth++
	s.roots = 1
	if f.Alias != f.Name {
		s.aliases++
	}
	if f.Name == "__schema" || f.Name == "__type" {
		m.introspects = true
	}
	s.arguments += len(f.Arguments)
	return s, m.arguments(f.Arguments)
}

func (m *measurer) fragment(name string) (size, *gqlerror.Error) {
	if s, known := m.sizes[name]; known {
		if s == nil {
			return size{}, limitError("fragment %q spreads itself", name)
		}
		return *s, nil
	}
	definition, ok := m.fragments[name]
	if !ok {
		return size{}, limitError("fragment %q is not defined", name) // validation takes quadratic time to say so
	}
	m.sizes[name] = nil
	s, err := m.set(definition.SelectionSet, names{})
	if err != nil {
		return s, err
	}
	own, err := m.directives(definition.Directives)
	s.add(own)
	m.sizes[name] = &s
	return s, err
}

func (m *measurer) directives(list ast.DirectiveList) (size, *gqlerror.Error) {
	s := size{directives: len(list)}
	for _, d := range list {
		m.steps++
		s.arguments += len(d.Arguments)
		if err := m.arguments(d.Arguments); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (m *measurer) arguments(list ast.ArgumentList) *gqlerror.Error {
	for _, a := range list {
		if err := m.value(a.Value, 0); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurer) value(v *ast.Value, depth int) *gqlerror.Error {
	if v == nil {
		return nil
	}
	if depth > MaxNesting {
		return limitError("an argument has more than %d levels of lists and objects; at most as many are allowed", MaxNesting)
	}
	m.steps++
	for _, child := range v.Children {
		if err := m.value(child.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}
