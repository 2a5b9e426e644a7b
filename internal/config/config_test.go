package config

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// parse reads settings as the program does, from flags and the environment.
func parse(t *testing.T, env map[string]string, args ...string) (Database, Server, error) {
	t.Helper()
	for _, name := range []string{"DATABASE_URL", "DATA_DIR", "ADDR", "CORS_ORIGINS", "DEMO", "LOG_KEY", "LOG_ORIGIN", "WITNESSES",
		"ALLOWED_HOSTS", "OIDC_ISSUER", "OIDC_AUDIENCE", "OIDC_PLAYER_CLAIM",
		"EMBEDDINGS_URL", "EMBEDDINGS_MODEL", "EMBEDDINGS_KEY", "EMBEDDING_CACHE_TTL", "LLM_URL", "LLM_MODEL", "LLM_KEY", "CONVERSATION_TTL", "HOOK_SECRETS"} {
		t.Setenv(name, env[name])
	}
	IgnoreEmpty()
	var line struct {
		Database
		Server
	}
	parser, err := kong.New(&line)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return line.Database, line.Server, err
}

func TestDefaults(t *testing.T) {
	database, server, err := parse(t, nil)
	if err != nil || database.DatabaseURL != "" || database.DataDir != ".data" {
		t.Errorf("Database = %+v, %v, want none and .data", database, err)
	}
	if server.Addr != "127.0.0.1:8080" || len(server.Origins()) != 0 || server.Demo {
		t.Errorf("Server = %+v, want 127.0.0.1:8080 and nothing else", server)
	}
}

func TestEnvironmentAndFlags(t *testing.T) {
	env := map[string]string{
		"DATABASE_URL": "postgres://db/log", "DATA_DIR": "/var/lib/cm", "ADDR": ":80", "DEMO": "1",
		"CORS_ORIGINS": "https://a.example,http://localhost:5173/",
	}
	database, server, err := parse(t, env, "--addr", ":81")
	if err != nil || database.DatabaseURL != "postgres://db/log" || database.DataDir != "/var/lib/cm" || !server.Demo {
		t.Errorf("settings = %+v %+v, %v, want those of the environment", database, server, err)
	}
	if server.Addr != ":81" {
		t.Errorf("Addr = %s, want that of the flag", server.Addr)
	}
	if got := server.Origins(); !slices.Equal(got, []string{"https://a.example", "http://localhost:5173"}) {
		t.Errorf("Origins() = %q", got)
	}
}

func TestOriginsAreChecked(t *testing.T) {
	for _, origin := range []string{"*", "a.example", "https://", "https://a.example/path", "ftp://a.example", "https://a.example?q", "https://user@a.example", "null"} {
		if _, _, err := parse(t, map[string]string{"CORS_ORIGINS": origin}); err == nil {
			t.Errorf("CORS_ORIGINS=%q is taken, want it refused", origin)
		}
	}
}
