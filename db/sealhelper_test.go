package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// sealed is a log with what stands outside of its database. Sealers come and go; the tree and the signatures are held
// against all that was ever seen.
type sealed struct {
	url, dir string
	admin    *pgx.Conn            // a superuser's connection
	roots    map[string]seal.Head // what was seen signed, by name and size: never two roots
}

func newSealed(t *testing.T, url string) *sealed {
	t.Helper()
	return &sealed{url: url, dir: t.TempDir(), admin: superuser(t, url), roots: map[string]seal.Head{}}
}

func (s *sealed) config() db.SealerConfig {
	return db.SealerConfig{
		Key: filepath.Join(s.dir, sealfile.KeyFile), Checkpoint: filepath.Join(s.dir, sealfile.CheckpointFile), Origin: "example.org/log",
	}.WithWitnessPace(10 * time.Millisecond)
}

// start seals with a store of its own, until the returned function is called or the test ends.
func (s *sealed) start(t *testing.T, config db.SealerConfig) (*db.DB, *db.Sealer, func()) {
	t.Helper()
	store, err := db.Open(context.Background(), s.url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	sealer, err := store.StartSealer(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return store, sealer, store.Close
}

// until asks again and again, a hundred times a second, until something is so.
func (s *sealed) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		if so() {
			return
		}
		mustExec(t, s.admin, "SELECT pg_sleep(0.01)")
	}
	t.Fatalf("not within a minute: %s", what)
}

// untilSealed waits until all messages are signed and the checkpoint stands in the file, and checks everything.
func (s *sealed) untilSealed(t *testing.T, sealer *db.Sealer) {
	t.Helper()
	s.until(t, "all is sealed", func() bool {
		n := value[int64](t, s.admin, "SELECT count(*) + (SELECT count(*) FROM seal.outbox) FROM log.messages")
		state := sealer.State()
		return state.Condition == db.Sealing && state.Newest.Size == n && state.Outside.Size == n
	})
	s.check(t, sealer.Policy())
}

// check holds all that is stored of the tree against the messages and against itself: every leaf is a message, once and
// in the order of its chain; tiles and roots are those of the leaves; every checkpoint is signed, has the root of its
// size, and is the only one that ever was seen of it; and so is the one in the file.
func (s *sealed) check(t *testing.T, policy seal.Policy) {
	t.Helper()
	// One state of the database, which has what the file had before: the sealer may go on meanwhile.
	outside, missing := os.ReadFile(filepath.Join(s.dir, sealfile.CheckpointFile))
	mustExec(t, s.admin, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	defer mustExec(t, s.admin, "COMMIT")
	for what, sql := range map[string]string{
		"leaves that are no message": `SELECT count(*) FROM seal.leaves l WHERE NOT EXISTS (SELECT FROM log.messages m
			WHERE m.session_hash = l.session_hash AND m.sequence = l.sequence AND m.hash = l.message_hash)`,
		"messages that are neither a leaf nor waiting": `SELECT count(*) FROM log.messages m
			WHERE NOT EXISTS (SELECT FROM seal.leaves l WHERE m.session_hash = l.session_hash AND m.sequence = l.sequence)
			AND NOT EXISTS (SELECT FROM seal.outbox o WHERE m.id BETWEEN o.first_id AND o.last_id)`,
		"messages that are a leaf and waiting": `SELECT count(*) FROM seal.outbox o JOIN log.messages m ON m.id BETWEEN o.first_id AND o.last_id
			JOIN seal.leaves l ON m.session_hash = l.session_hash AND m.sequence = l.sequence`,
		"leaves before that of their predecessor": `SELECT count(*) FROM (SELECT leaf_index - lag(leaf_index) OVER w AS step,
			sequence - COALESCE(lag(sequence) OVER w, 0) AS next FROM seal.leaves WINDOW w AS (PARTITION BY session_hash ORDER BY sequence)) l
			WHERE step <= 0 OR next <> 1`,
	} {
		if n := value[int64](t, s.admin, sql); n != 0 {
			t.Errorf("%s: %d, want none", what, n)
		}
	}
	roots := s.rebuild(t)
	rows, err := s.admin.Query(t.Context(), "SELECT origin, size, root::text, note FROM seal.checkpoints")
	if err != nil {
		t.Fatal(err)
	}
	var origin, root, text string
	var size int64
	if _, err := pgx.ForEachRow(rows, []any{&origin, &size, &root, &text}, func() error {
		if origin == policy.Origin {
			s.signed(t, policy, text)
			if got := roots[size].String(); got != root {
				t.Errorf("the checkpoint of %d has the root %s, and the tree %s", size, root, got)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if missing == nil {
		if c := s.signed(t, policy, string(outside)); roots[c.Size] != c.Root {
			t.Errorf("the checkpoint in the file, of %d, has the root %s, and the tree %s", c.Size, c.Root, roots[c.Size])
		}
	}
}

// signed opens a checkpoint, and holds it against those that were seen before.
func (s *sealed) signed(t *testing.T, policy seal.Policy, text string) seal.Checkpoint {
	t.Helper()
	c, err := seal.Open(text, policy)
	if err != nil {
		t.Errorf("a checkpoint that the log's key did not sign: %v", err)
		return c
	}
	key := fmt.Sprint(c.Origin, " ", c.Size)
	if before, seen := s.roots[key]; seen && before != c.Head {
		t.Errorf("two checkpoints of %d: %s and %s", c.Size, before.Root, c.Root)
	}
	s.roots[key] = c.Head
	return c
}

// rebuild makes the tree anew from its leaves, holds tiles and recorded roots against it, and gives all its roots.
func (s *sealed) rebuild(t *testing.T) map[int64]chain.Hash {
	t.Helper()
	recorded := map[int64]string{}
	rows, err := s.admin.Query(t.Context(), "SELECT size, root::text FROM seal.trees")
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	var root string
	if _, err := pgx.ForEachRow(rows, []any{&size, &root}, func() error { recorded[size] = root; return nil }); err != nil {
		t.Fatal(err)
	}
	type place struct {
		level int
		n     int64
	}
	stored := map[place]string{}
	if rows, err = s.admin.Query(t.Context(), "SELECT level, n, root::text, hashes FROM seal.tiles"); err != nil {
		t.Fatal(err)
	}
	var level int
	var n int64
	var hashes []byte
	if _, err := pgx.ForEachRow(rows, []any{&level, &n, &root, &hashes}, func() error {
		stored[place{level, n}] = root + string(hashes)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var tree seal.Tree
	roots := map[int64]chain.Hash{0: tree.Root()}
	if rows, err = s.admin.Query(t.Context(), "SELECT leaf_index, session_hash, sequence, message_hash FROM seal.leaves ORDER BY leaf_index"); err != nil {
		t.Fatal(err)
	}
	var index int64
	var leaf seal.Leaf
	if _, err := pgx.ForEachRow(rows, []any{&index, &leaf.Session, &leaf.Sequence, &leaf.Message}, func() error {
		if index != tree.Size() {
			t.Errorf("leaf %d follows leaf %d", index, tree.Size()-1)
		}
		for _, tile := range tree.Add(leaf.Hash()) {
			at := place{tile.Level, tile.N}
			if stored[at] != chain.Hash(tile.Root).String()+string(tile.Data()) {
				t.Errorf("tile %v is not that of the leaves", at)
			}
			delete(stored, at)
		}
		roots[tree.Size()] = tree.Root()
		if root, there := recorded[tree.Size()]; there && root != tree.Root().String() {
			t.Errorf("the tree of %d is recorded with the root %s, and has %s", tree.Size(), root, tree.Root())
		}
		delete(recorded, tree.Size())
		size = tree.Size()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(stored) > 0 || len(recorded) > 0 {
		t.Errorf("%d tiles and %d trees are recorded beyond the leaves", len(stored), len(recorded))
	}
	if n := value[int64](t, s.admin, "SELECT COALESCE(max(size), 0) FROM seal.trees"); n != tree.Size() {
		t.Errorf("the tree is recorded with %d messages, and has %d leaves", n, tree.Size())
	}
	return roots
}

func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
