package tile

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/seal/sealtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// served is a log in a database, served, and the same log in memory.
type served struct {
	*Client
	t    testing.TB
	log  *sealtest.Log
	conn *pgx.Conn
	size int // leaves in the database
}

// serve serves a log that is empty, of which Grow'n leaves are written by grow.
func serve(t testing.TB, log *sealtest.Log) *served {
	t.Helper()
	url := dbtest.New(t)
	store, err := db.Open(context.Background(), url, 4, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	token := auth.NewAdminToken()
	gate := auth.NewGate(auth.NewAdminVerifier(token), auth.NewSessions())
	server := httptest.NewServer(gate.Identify(NewHandler(store, Config{
		PublicKey: func() string { return log.Public }, Diary: slog.New(slog.DiscardHandler),
	})))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL+"/", token)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{Client: client, t: t, log: log, conn: conn}
	s.exec("INSERT INTO seal.logs (origin, public_key) VALUES ($1, $2)", log.Signer.Name(), log.Public)
	return s
}

func (s *served) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.conn.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// grow writes the log's leaves and tiles to the database, until there are size of them.
func (s *served) grow(size int) {
	s.t.Helper()
	for i := s.size; i < size; i++ {
		leaf := s.log.Leaves[i]
		s.exec("INSERT INTO seal.leaves (leaf_index, session_hash, sequence, message_hash) VALUES ($1, $2, $3, $4)",
			i, leaf.Session.String(), leaf.Sequence, leaf.Message.String())
	}
	for _, tile := range tlog.NewTiles(seal.TileHeight, int64(s.size), int64(size)) {
		if tile.W == seal.TileWidth {
			root, err := s.log.ReadHashes([]int64{tlog.StoredHashIndex(seal.TileHeight*(tile.L+1), tile.N)})
			if err != nil {
				s.t.Fatal(err)
			}
			s.exec("INSERT INTO seal.tiles (level, n, root, hashes) VALUES ($1, $2, $3, $4)",
				tile.L, tile.N, chain.Hash(root[0]).String(), s.data(tile))
		}
	}
	s.size = size
	head := s.log.Head(size)
	s.exec("INSERT INTO seal.trees (size, root) VALUES ($1, $2)", size, head.Root.String())
}

// sign writes the checkpoint of what is in the database.
func (s *served) sign() {
	s.t.Helper()
	s.exec("INSERT INTO seal.checkpoints (origin, size, root, note) VALUES ($1, $2, $3, $4)",
		s.log.Signer.Name(), s.size, s.log.Head(s.size).Root.String(), s.log.Checkpoint(s.size))
}

// data gives a tile by tlog.
func (s *served) data(tile tlog.Tile) []byte {
	s.t.Helper()
	data, err := tlog.ReadTileData(tile, s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	return data
}
