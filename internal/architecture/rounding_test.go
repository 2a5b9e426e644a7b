package architecture

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reckoning are the packages whose digits are the same on every processor: scores, and vectors of words.
var reckoning = []string{"internal/portable", "internal/ranking", "embeddings", "embeddings/provider"}

// exact are the functions of package math that give the same everywhere: they round as IEEE 754 says, or not at all.
var exact = map[string]bool{
	"Abs": true, "Ceil": true, "Float32bits": true, "Float32frombits": true, "Float64bits": true, "Float64frombits": true, "Floor": true, "Frexp": true,
	"Inf": true, "IsInf": true, "IsNaN": true, "Ldexp": true, "NaN": true, "Round": true, "Sqrt": true, "Trunc": true,
}

// On some processors Go fuses a product with the sum it goes into, which rounds once instead of twice, unless the product
// is converted. So every product of floats is.
func TestProductsAreRounded(t *testing.T) {
	t.Parallel()
	compiled := exports(t)
	for _, path := range reckoning {
		files := token.NewFileSet()
		parsed := parse(t, files, filepath.Join("../..", path))
		found := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: importer.ForCompiler(files, "gc", func(name string) (io.ReadCloser, error) { return os.Open(compiled[name]) })}
		if _, err := config.Check(module+path, files, parsed, &found); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, file := range parsed {
			for at, what := range unrounded(file, &found) {
				t.Errorf("%s: %s", files.Position(at), what)
			}
		}
	}
}

// exports gives the files with what compiled packages export, of all that the packages import.
func exports(t *testing.T) map[string]string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}")
	for _, path := range reckoning {
		list.Args = append(list.Args, "./"+path)
	}
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name, file, _ := strings.Cut(lines.Text(), "\t")
		files[name] = file
	}
	return files
}

func parse(t *testing.T, files *token.FileSet, dir string) (parsed []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	return parsed
}

// unrounded finds products of floats that are not converted at once, and functions that differ by processor.
func unrounded(file *ast.File, found *types.Info) map[token.Pos]string {
	wrong, rounded := map[token.Pos]string{}, map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if found.Types[n.Fun].IsType() && isFloat(found.Types[n.Fun]) {
				rounded[ast.Unparen(n.Args[0])] = true
			}
		case *ast.BinaryExpr:
			if value := found.Types[n]; n.Op == token.MUL && isFloat(value) && value.Value == nil && !rounded[n] {
				wrong[n.OpPos] = "a product of floats that is not converted"
			}
		case *ast.AssignStmt:
			if n.Tok == token.MUL_ASSIGN && isFloat(found.Types[n.Lhs[0]]) {
				wrong[n.TokPos] = "a product of floats that is not converted"
			}
		case *ast.Ident:
			if f, ok := found.Uses[n].(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() == "math" && !exact[f.Name()] {
				wrong[n.Pos()] = "math." + f.Name() + " differs by processor"
			}
		}
		return true
	})
	return wrong
}

func isFloat(v types.TypeAndValue) bool {
	if v.Type == nil {
		return false
	}
	basic, ok := v.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}
