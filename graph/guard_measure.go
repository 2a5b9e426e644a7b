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
	literals   int // values of arguments, and those in them
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
	s.literals = min(most, s.literals+x.literals)
	s.repeats = min(most, s.repeats+x.repeats)
}

// measurer measures a document in time linear in its length: each fragment is measured once.
type measurer struct {
	fragments   map[string]*ast.FragmentDefinition
	sizes       map[string]*size // nil while a fragment is being measured
	introspects bool
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
	var all size
	for _, f := range doc.Fragments { // also those that nothing spreads: validation will look at them
		s, err := m.fragment(f.Name)
		all.add(s)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			return nil, err
		}
	}
	for _, op := range doc.Operations {
		s, err := m.operation(op)
		all.add(s)
		if err == nil {
			err = s.check()
		}
		most := MaxRootFields
		if op.Operation == ast.Mutation {
			most = MaxMutations
		}
		if err == nil && s.roots > most {
			err = limitError("the %s has %d root fields; at most %d are allowed", op.Operation, s.roots, most)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, all.checkAll()
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

// count is how many there are of something, and how many there may be.
type count struct {
	what         string
	found, limit int
}

// check compares an operation, or a fragment, with the limits.
func (s size) check() *gqlerror.Error {
	return withinLimits("operation", []count{
		{"levels of fields", s.depth, MaxDepth},
		{"fields and fragments", s.selections, MaxSelections},
		{"aliases", s.aliases, MaxAliases},
		{"directives", s.directives, MaxDirectives},
		{"arguments", s.arguments, MaxArguments},
		{"fields of the same name side by side", s.repeats, MaxRepeats},
	})
}

// checkAll compares the sum of a document's operations and fragments with the limits. Validation goes through each operation
// with the fragments that it spreads, and through each fragment, whichever operation is asked for.
func (s size) checkAll() *gqlerror.Error {
	return withinLimits("document", []count{
		{"fields of the same name side by side", s.repeats, MaxRepeats},
		{"fields and fragments", s.selections, MaxSpread},
		{"values of arguments", s.literals, MaxLiterals},
	})
}

func withinLimits(of string, counts []count) *gqlerror.Error {
	for _, c := range counts {
		if c.found > c.limit {
			return limitError("the %s has %d %s; at most %d are allowed", of, c.found, c.what, c.limit)
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
			err = m.value(v.DefaultValue, 0, &own)
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
	err = m.arguments(f.Arguments, &s)
	return s, err
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
		if err := m.arguments(d.Arguments, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (m *measurer) arguments(list ast.ArgumentList, in *size) *gqlerror.Error {
	in.arguments += len(list)
	for _, a := range list {
		if err := m.value(a.Value, 0, in); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurer) value(v *ast.Value, depth int, in *size) *gqlerror.Error {
	if v == nil {
		return nil
	}
	if depth > MaxNesting {
		return limitError("an argument has more than %d levels of lists and objects; at most as many are allowed", MaxNesting)
	}
	m.steps++
	in.literals++
	for _, child := range v.Children {
		if err := m.value(child.Value, depth+1, in); err != nil {
			return err
		}
	}
	return nil
}
