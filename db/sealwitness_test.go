package db_test

import (
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/sealfile"
	"github.com/tzzr/context-manager/internal/witness"
)

// startWitness runs a witness that knows the log's key.
func startWitness(t *testing.T, s *sealed) db.Witness {
	t.Helper()
	key, err := sealfile.LoadKey(s.config().Key, s.config().Origin)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := witness.Open(witness.Config{
		StateFile: filepath.Join(dir, "state"), KeyFile: filepath.Join(dir, "key"), Name: "witness.example.org", Logs: []string{key.Public},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	client, err := witness.NewClient(server.URL, w.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	return db.Witness{Name: client.Key.Name(), Key: client.Key, URL: client.URL, Cosigner: client}
}

// untilWitnessed waits until the newest checkpoint is cosigned.
func (s *sealed) untilWitnessed(t *testing.T, store *db.DB, sealer *db.Sealer) {
	t.Helper()
	s.until(t, "the newest checkpoint is witnessed", func() bool {
		c, found, err := store.WitnessedCheckpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found && c.Size == sealer.State().Newest.Size && sealer.State().Problem == ""
	})
}
