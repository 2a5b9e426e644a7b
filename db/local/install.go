package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tzzr/context-manager/internal/fault"
)

// The oldest Postgres that will do (UNIQUE NULLS NOT DISTINCT), and the oldest pgvector (iterative index scans).
const (
	minMajor       = 15
	minVectorMinor = 8 // of 0.8
)

// install is one Postgres on this machine.
type install struct {
	bin     string // the directory with initdb and postgres
	version string // as in "15.18"
	major   int
	lz4     bool   // it can compress by that
	problem string // why it cannot be used; empty if it can
}

func (i install) program(name string) string { return filepath.Join(i.bin, name) }

// findInstall gives the newest usable Postgres; with major other than 0, the one of that major version, since a
// cluster can be opened by no other.
func findInstall(ctx context.Context, major int) (install, error) {
	var best install
	var seen []string
	for _, bin := range binDirs(ctx) {
		i := inspect(ctx, bin)
		switch {
		case i.problem == "" && major != 0 && i.major != major:
			seen = append(seen, fmt.Sprintf("Postgres %s in %s", i.version, bin))
		case i.problem == "":
			if i.major > best.major {
				best = i
			}
		default:
			seen = append(seen, fmt.Sprintf("%s, %s", bin, i.problem))
		}
	}
	if best.bin != "" {
		return best, nil
	}
	need := fmt.Sprintf("Postgres %d or newer with pgvector 0.%d or newer", minMajor, minVectorMinor)
	if major != 0 {
		need = fmt.Sprintf("the data directory was made with Postgres %d, which with pgvector 0.%d or newer", major, minVectorMinor)
	}
	if len(seen) == 0 {
		seen = []string{"none"}
	}
	return install{}, fault.New(fault.Unavailable,
		"%s is not installed (found: %s); install it with .ci/setup.sh, or set DATABASE_URL", need, strings.Join(seen, "; "))
}

// binDirs gives each directory that may hold Postgres' programs once, symbolic links followed.
func binDirs(ctx context.Context) []string {
	var found []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			found = append(found, filepath.Dir(path))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		found = append(found, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql@*/bin",
	} {
		dirs, _ := filepath.Glob(pattern) // the only error is a bad pattern
		found = append(found, dirs...)
	}
	seen := map[string]bool{}
	var unique []string
	for _, dir := range found {
		if real, err := filepath.EvalSymlinks(dir); err == nil && !seen[real] && isFile(filepath.Join(real, "initdb")) {
			seen[real] = true
			unique = append(unique, real)
		}
	}
	return unique
}

// major and minor of what `postgres --version` prints, as in "postgres (PostgreSQL) 15.18 (Debian ...)".
var versionPattern = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[.\w]*)`)

// defaultVersion is pgvector's own version in its control file, as in "default_version = '0.8.0'".
var defaultVersion = regexp.MustCompile(`default_version\s*=\s*'(\d+)\.(\d+)`)

func inspect(ctx context.Context, bin string) install {
	i := install{bin: bin}
	out, err := exec.CommandContext(ctx, i.program("postgres"), "--version").Output()
	m := versionPattern.FindStringSubmatch(string(out))
	if err != nil || m == nil {
		i.problem = "no Postgres server"
		return i
	}
	i.version = m[1]
	i.major, _ = strconv.Atoi(m[2]) // digits by the pattern
	if i.major < minMajor {
		i.problem = "Postgres " + i.version + ", too old"
		return i
	}
	share, err := exec.CommandContext(ctx, i.program("pg_config"), "--sharedir").Output()
	if err != nil {
		i.problem = "Postgres " + i.version + " without pg_config"
		return i
	}
	options, _ := exec.CommandContext(ctx, i.program("pg_config"), "--configure").Output()
	i.lz4 = strings.Contains(string(options), "--with-lz4")
	extensions := filepath.Join(strings.TrimSpace(string(share)), "extension")
	control, err := os.ReadFile(filepath.Join(extensions, "vector.control"))
	if m := defaultVersion.FindStringSubmatch(string(control)); err != nil || m == nil {
		i.problem = "Postgres " + i.version + " without pgvector"
	} else if minor, _ := strconv.Atoi(m[2]); m[1] == "0" && minor < minVectorMinor {
		i.problem = "Postgres " + i.version + " with pgvector 0." + m[2] + ", too old"
	} else if !isFile(filepath.Join(extensions, "intarray.control")) {
		i.problem = "Postgres " + i.version + " without its contrib modules"
	}
	return i
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Installed describes the Postgres that Start would make a new cluster with; an error says what is missing.
func Installed(ctx context.Context) (string, error) {
	i, err := findInstall(ctx, 0)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Postgres %s with pgvector, in %s", i.version, i.bin), nil
}

// Programs gives the directory of that Postgres' programs.
func Programs(ctx context.Context) (string, error) {
	i, err := findInstall(ctx, 0)
	return i.bin, err
}
