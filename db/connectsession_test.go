package db

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres compiles what it takes for costly, and with sequential scans switched off it takes everything for that.
func TestSessionsDoNotCompile(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig("postgres://localhost/log")
	if err != nil {
		t.Fatal(err)
	}
	for name, settings := range map[string]map[string]string{"without settings": nil, "with one": {"enable_seqscan": "off"}} {
		got := (&address{config: config}).with(settings).ConnConfig.RuntimeParams
		if got["jit"] != "off" || got["enable_seqscan"] != settings["enable_seqscan"] {
			t.Errorf("%s: with() = %v, want jit off", name, got)
		}
	}
	// A pooler refuses parameters that it does not know.
	if got := (&address{config: config, pooled: true}).with(nil).ConnConfig.RuntimeParams; got["jit"] != "" {
		t.Errorf("behind a pooler: with() = %v, want no jit", got)
	}
}
