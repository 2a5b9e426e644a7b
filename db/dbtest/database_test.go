package dbtest

import (
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

func open(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn // left open: dropping the database has to cope
}

func count(t *testing.T, conn *pgx.Conn, sql string, args ...any) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func TestEachTestHasItsOwn(t *testing.T) {
	t.Parallel()
	var names []string
	t.Run("group", func(t *testing.T) {
		urls := make(chan string, 8)
		for range cap(urls) {
			t.Run("member", func(t *testing.T) {
				t.Parallel()
				url := New(t)
				urls <- url
				conn := open(t, url)
				if _, err := conn.Exec(t.Context(), "CREATE TABLE mine ()"); err != nil {
					t.Errorf("the database is somebody else's, too: %v", err)
				}
				if n := count(t, conn, "SELECT count(*) FROM log.messages"); n != 0 {
					t.Errorf("log.messages has %d rows, want 0", n)
				}
				if n := count(t, conn, "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND rolsuper"); n != 1 {
					t.Error("the connection is no superuser's")
				}
			})
		}
		t.Cleanup(func() {
			close(urls)
			for url := range urls {
				config, err := pgx.ParseConfig(url)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, config.Database)
			}
		})
	})
	if len(names) != 8 {
		t.Fatalf("%d databases, want 8", len(names))
	}
	if n := count(t, open(t, New(t)), "SELECT count(*) FROM pg_database WHERE datname = ANY($1)", names); n != 0 {
		t.Errorf("%d of the databases are still there, want 0", n)
	}
}

func TestMigrationsSum(t *testing.T) {
	t.Parallel()
	sum := func(files map[string]string) string {
		tree := fstest.MapFS{}
		for name, text := range files {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		s, err := migrationsSum(tree)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := sum(map[string]string{"1.sql": "a", "2.sql": "b"})
	for name, files := range map[string]map[string]string{
		"content":  {"1.sql": "a", "2.sql": "c"},
		"name":     {"1.sql": "a", "3.sql": "b"},
		"one more": {"1.sql": "a", "2.sql": "b", "3.sql": ""},
		"boundary": {"1.sql": "a2.sql", "2.sql": "b"},
	} {
		if sum(files) == base {
			t.Errorf("%s: the sum is the same, want another", name)
		}
	}
	if again := sum(map[string]string{"2.sql": "b", "1.sql": "a"}); again != base {
		t.Errorf("sum = %s, want %s for the same files", again, base)
	}
}
