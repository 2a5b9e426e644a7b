package db_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/fault"
)

// One operation waits for connections once, however many it takes; another has its own patience.
func TestPatience(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), dbtest.New(t), 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	release, err := store.Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	operation := db.WithPatience(t.Context())
	began := time.Now()
	for range 20 {
		if _, err := store.Reading(operation); fault.CodeOf(err) != fault.Unavailable {
			t.Fatalf("while the only connection is in use: %v, want UNAVAILABLE", err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 of an operation waited %v, want about a second for all", took)
	}
	release()
	for name, ctx := range map[string]context.Context{"the same": operation, "another": db.WithPatience(t.Context())} {
		release, err := store.Reading(ctx)
		if err != nil {
			t.Fatalf("%s operation, with the connection free again: %v", name, err)
		}
		release()
	}
}
