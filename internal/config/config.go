// Package config says what can be set, by environment variables and flags of the same meaning. The command line is
// read in package main; README.md lists the same.
package config

import (
	"cmp"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/limit"
	"github.com/tzzr/context-manager/internal/memory"
)

// Database says where the log is kept: settings that every command has.
type Database struct {
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" placeholder:"URL" help:"Postgres 15 or newer with pgvector 0.8 or newer, as postgres://…; none: a private Postgres in the data directory."`
	DirectURL   string `name:"database-direct-url" env:"DATABASE_DIRECT_URL" placeholder:"URL" help:"The same database without a pooler such as PgBouncer between, if DATABASE_URL leads to one: for migrations, to hear at once what other servers write, and to seal; none: these work through the pooler, too."`
	DataDir     string `name:"data-dir" env:"DATA_DIR" default:".data" placeholder:"DIRECTORY" help:"Where the private Postgres, the administrator's token, the log's key and its last checkpoint are kept."`
}

// Server says how the server serves.
type Server struct {
	Addr        string   `name:"addr" env:"ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen."`
	CORSOrigins []string `name:"cors-origins" env:"CORS_ORIGINS" sep:"," placeholder:"ORIGIN,…" help:"Origins, such as https://app.example.org, whose pages may call the API from browsers, with a token."`
	Demo        bool     `name:"demo" env:"DEMO" help:"Fill a new private database with the sample log."`
	LogKey      string   `name:"log-key" env:"LOG_KEY" placeholder:"FILE" help:"The key that signs the log's checkpoints, made if it is missing and nothing was signed yet; none: log.key in the data directory. Servers of one database need the same one."`
	LogOrigin   string   `name:"log-origin" env:"LOG_ORIGIN" placeholder:"NAME" help:"The log's name in checkpoints, such as example.org/log, when its key is made; none: a name that no other log has."`
	Witnesses   []string `name:"witnesses" env:"WITNESSES" sep:"," placeholder:"URL=KEY,…" help:"Witnesses that are asked to cosign each checkpoint: each its address, = and its public key, name+id+key."`
	PrivateLog  bool     `name:"private-log" env:"PRIVATE_LOG" help:"Show checkpoints, tiles of hashes and the log's key only to tokens with the scope verify."`

	RateLimit        int      `name:"rate-limit" env:"RATE_LIMIT" default:"1000" placeholder:"NUMBER" help:"Requests a second that a token may make, twice that at once, and four times that all tokens of a player together; 0: as many as they like. Administrators' tokens have no limit."`
	AddressRateLimit int      `name:"address-rate-limit" env:"ADDRESS_RATE_LIMIT" default:"20" placeholder:"NUMBER" help:"Requests a second without a valid token that an address may make, and five times that at once; 0: as many as it likes."`
	TrustedProxies   []string `name:"trusted-proxies" env:"TRUSTED_PROXIES" sep:"," placeholder:"ADDRESS,…" help:"Addresses and networks, such as 10.0.0.0/8, of proxies that say in X-Forwarded-For whom a request comes from."`

	AllowedHosts    []string `name:"allowed-hosts" env:"ALLOWED_HOSTS" sep:"," placeholder:"HOST,…" help:"Names that browsers may reach this server by, besides those of loopback and ADDR; * is any. None: no others while ADDR is on loopback, else any."`
	OIDCIssuer      string   `name:"oidc-issuer" env:"OIDC_ISSUER" placeholder:"URL" help:"An OpenID provider whose tokens are taken, as its discovery names it, such as https://login.example.org; none: only this server's own tokens."`
	OIDCAudience    string   `name:"oidc-audience" env:"OIDC_AUDIENCE" placeholder:"NAME" help:"Whom the provider's tokens must be for; needed with OIDC_ISSUER."`
	OIDCPlayerClaim string   `name:"oidc-player-claim" env:"OIDC_PLAYER_CLAIM" default:"sub" placeholder:"CLAIM" help:"The claim that names the player, by their key in the namespace ply. It must be one that people cannot choose themselves."`

	EmbeddingsURL     string   `name:"embeddings-url" env:"EMBEDDINGS_URL" placeholder:"URL" help:"An OpenAI-compatible embeddings endpoint, such as http://localhost:11434/v1; none: ranking needs no model."`
	EmbeddingsModel   string   `name:"embeddings-model" env:"EMBEDDINGS_MODEL" placeholder:"MODEL" help:"The model to ask it for."`
	EmbeddingsKey     Secret   `name:"embeddings-key" env:"EMBEDDINGS_KEY" placeholder:"KEY" help:"The key that it asks for, if any. Set the variable: flags can be seen by others on this machine."`
	EmbeddingCacheTTL Duration `name:"embedding-cache-ttl" env:"EMBEDDING_CACHE_TTL" default:"3600" placeholder:"SECONDS" help:"How long vectors of queries are kept, in seconds or as 90m; 0: not at all."`

	LLM

	ConversationTTL Duration `name:"conversation-ttl" env:"CONVERSATION_TTL" default:"30m" placeholder:"SECONDS" help:"How long the working memory of a conversation lasts after the last interaction, in seconds or as 90m: 1m to 24h."`
	HookSecrets     Secret   `name:"hook-secrets" env:"HOOK_SECRETS" placeholder:"SOURCE=SECRET,…" help:"Secrets that sources sign their events with. Set the variable: flags can be seen by others on this machine."`
}

// LLM says which model judges and summarises.
type LLM struct {
	LLMURL   string `name:"llm-url" env:"LLM_URL" placeholder:"URL" help:"An OpenAI-compatible chat endpoint, such as http://localhost:11434/v1, that judges and summarises what is in context windows; none: what is built in does, without a model."`
	LLMModel string `name:"llm-model" env:"LLM_MODEL" placeholder:"MODEL" help:"The model to ask it for."`
	LLMKey   Secret `name:"llm-key" env:"LLM_KEY" placeholder:"KEY" help:"The key that it asks for, if any. Set the variable: flags can be seen by others on this machine."`
}

// IgnoreEmpty unsets the variables that are set to nothing, as composing tools like to: they mean the default.
func IgnoreEmpty() {
	for _, name := range []string{"DATABASE_URL", "DATABASE_DIRECT_URL", "DATA_DIR", "ADDR", "CORS_ORIGINS", "DEMO", "LOG_KEY", "LOG_ORIGIN", "WITNESSES",
		"PRIVATE_LOG", "RATE_LIMIT", "ADDRESS_RATE_LIMIT", "TRUSTED_PROXIES",
		"ALLOWED_HOSTS", "OIDC_ISSUER", "OIDC_AUDIENCE", "OIDC_PLAYER_CLAIM", "WITNESS_ADDR", "WITNESS_STATE", "WITNESS_KEY", "WITNESS_NAME", "WITNESS_LOGS",
		"EMBEDDINGS_URL", "EMBEDDINGS_MODEL", "EMBEDDINGS_KEY", "EMBEDDING_CACHE_TTL", "LLM_URL", "LLM_MODEL", "LLM_KEY", "CONVERSATION_TTL", "HOOK_SECRETS"} {
		if os.Getenv(name) == "" {
			_ = os.Unsetenv(name)
		}
	}
}

// Validate refuses origins that no browser would send, hosts that no address names, and half a provider or model. Kong calls it.
func (s Server) Validate() error {
	for _, origin := range s.CORSOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.TrimSuffix(origin, "/") != u.Scheme+"://"+u.Host {
			return fault.Input("CORS_ORIGINS", "%q is no origin: it is scheme, host and port alone, such as https://app.example.org", origin)
		}
	}
	if s.RateLimit < 0 || s.AddressRateLimit < 0 {
		return fault.Input("RATE_LIMIT", "no rate is less than 0")
	}
	if _, err := limit.ParseProxies(s.TrustedProxies); err != nil {
		return err
	}
	if ttl := time.Duration(s.ConversationTTL); ttl < memory.MinTTL || ttl > memory.MaxTTL {
		return fault.Input("CONVERSATION_TTL", "%v is outside of %v to %v", ttl, memory.MinTTL, memory.MaxTTL)
	}
	return cmp.Or(s.validateHosts(), s.validateHooks(), s.validateProvider(), s.validateEndpoints())
}

// Limits gives the limits of rates. The settings are valid.
func (s Server) Limits() limit.Config {
	proxies, err := limit.ParseProxies(s.TrustedProxies)
	if err != nil {
		panic(err) // Validate was not asked
	}
	return limit.Config{Token: s.RateLimit, Address: s.AddressRateLimit, Proxies: proxies}
}

// Origins gives the origins as browsers send them.
func (s Server) Origins() []string {
	var origins []string
	for _, origin := range s.CORSOrigins {
		origins = append(origins, strings.TrimSuffix(origin, "/"))
	}
	return origins
}
