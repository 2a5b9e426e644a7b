package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/tzzr/context-manager/"

// rules say which packages, by the beginning of their path, must not import which.
var rules = []struct{ from, to string }{
	{"internal/", "graph"}, {"internal/", "db"}, {"internal/", "web"}, {"internal/", "embeddings"},
	{"db", "graph"}, {"db", "web"},
	{"graph", "embeddings"}, {"embeddings", "graph"}, {"embeddings", "db"},
	{"graph", "db/dbgen"},
	{"web", "db"}, {"web", "graph"},
	// Examples use the API alone, as anybody's programs would.
	{"docs/", "internal"}, {"docs/", "graph"}, {"docs/", "db"}, {"docs/", "web"}, {"docs/", "embeddings"},
	// The pure packages: no database, no transport.
	{"internal/chain", "internal/ingest"}, {"internal/ranking", "internal/selection"},
}

// impure is what the pure packages must not import.
var impure = []string{"net", "net/http", "os", "database/sql", "github.com/jackc/", "math/rand", "crypto/rand"}

var pure = []string{
	"internal/chain", "internal/component", "internal/judge", "internal/knowledge", "internal/portable", "internal/ranking", "internal/seal",
	"internal/selection", "internal/summary", "internal/window", "internal/fault",
}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if ours {
				for _, r := range rules {
					if under(from, r.from) && under(to, r.to) {
						t.Errorf("%s imports %s", from, to)
					}
				}
				continue
			}
			for _, name := range pure {
				if from == name && isImpure(imported) {
					t.Errorf("%s, which is pure, imports %s", from, imported)
				}
			}
		}
	}
}

// under says whether a path is the named one or below it.
func under(path, name string) bool {
	name = strings.TrimSuffix(name, "/")
	return path == name || strings.HasPrefix(path, name+"/")
}

func isImpure(path string) bool {
	for _, name := range impure {
		if path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(path, name) {
			return true
		}
	}
	return false
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var found []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		found = append(found, p)
	}
	if len(found) < 15 {
		t.Fatalf("go list found %d packages", len(found))
	}
	return found
}
