package db_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
)

func agentDraft() auth.Draft { return auth.Draft{Role: auth.Agent, Player: hashOf("ply:a")} }

func mustCreate(t *testing.T, store *db.DB, d auth.Draft, by auth.Caller) (db.Token, string) {
	t.Helper()
	token, secret, err := store.CreateToken(t.Context(), d, by)
	if err != nil {
		t.Fatalf("CreateToken(%+v) = %v", d, err)
	}
	return token, secret
}

func query[T any](t *testing.T, url, sql string, args ...any) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func TestTokenIsKeptAsDigest(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	admin := auth.Administrator()
	draft := agentDraft()
	draft.Note = "the porter"
	token, secret := mustCreate(t, store, draft, admin)
	if token.State != db.TokenActive || token.Player != draft.Player || token.Creator != admin.Player || token.Note != "the porter" ||
		token.Role != auth.Agent || token.Scopes != auth.DefaultScopes(auth.Agent) || token.LastUsedAt != nil {
		t.Errorf("the token = %+v, want what was asked for", token)
	}
	if days := token.ExpiresAt.Sub(token.CreatedAt).Hours() / 24; days != 90 {
		t.Errorf("an agent's token lives %v days, want 90", days)
	}
	row := query[string](t, url, "SELECT t::TEXT FROM auth.tokens t")
	if digest := auth.DigestOf(secret); !strings.Contains(row, fmt.Sprintf("%x", digest)) || strings.Contains(row, secret[len("cmagt_"):]) {
		t.Errorf("the row = %s, want the digest %x and not the secret", row, digest)
	}
	caller, left, err := store.FindToken(t.Context(), auth.DigestOf(secret))
	want := auth.Caller{Player: draft.Player, Role: auth.Agent, Scopes: auth.DefaultScopes(auth.Agent), TokenID: token.ID, Expires: token.ExpiresAt}
	if err != nil || caller != want || left <= 89*24*time.Hour || left > 90*24*time.Hour {
		t.Errorf("FindToken() = %+v, %v, %v, want %+v for 90 days", caller, left, err, want)
	}
	if _, _, err := store.FindToken(t.Context(), auth.DigestOf("x")); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("FindToken(another) = %v, want NOT_FOUND", err)
	}
}

func TestTokenLifetimes(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	in := func(d time.Duration) *time.Time { at := time.Now().Add(d); return &at }
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		role    auth.Role
		expires *time.Time
		days    float64 // 0: refused
	}{
		"an administrator's": {auth.Admin, nil, 30},
		"an agent's":         {auth.Agent, nil, 90},
		"a client's":         {auth.Client, nil, 30},
		"a hook's":           {auth.Hook, nil, 90},
		"a year":             {auth.Client, in(366*day - time.Hour), 366},
		"more than a year":   {auth.Client, in(366*day + time.Hour), 0},
		"the past":           {auth.Client, in(-time.Hour), 0},
	} {
		token, _, err := store.CreateToken(t.Context(), auth.Draft{Role: test.role, Player: hashOf("p"), Expires: test.expires}, auth.Administrator())
		if test.days == 0 {
			if fault.CodeOf(err) != fault.BadUserInput || !strings.HasPrefix(err.Error(), "input.expiresAt: ") || !strings.Contains(err.Error(), "366 days") {
				t.Errorf("%s: %v, want BAD_USER_INPUT that names the field and the limit", name, err)
			}
			continue
		}
		if days := token.ExpiresAt.Sub(token.CreatedAt).Hours() / 24; err != nil || days > test.days || days < test.days-0.1 {
			t.Errorf("%s lives %v days, %v, want %v", name, days, err, test.days)
		}
	}
}

// A player makes no more tokens than so many that may be used. Those that have ended, or are an administrator's, do not count,
// nor do those of others; and administrators make more.
func TestTokensOfAPlayer(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	maker := callerWith(t, store, managerDraft(), auth.Administrator())
	mustExec(t, superuser(t, url), `
		INSERT INTO auth.tokens (digest, role, player, scopes, creator, created_at, expires_at, revoked_at, revoker)
		SELECT sha256(i::TEXT::BYTEA), CASE WHEN i % 5 = 0 THEN 'admin' ELSE 'agent' END, CASE WHEN i % 5 = 1 THEN $2 ELSE $1 END, ARRAY['verify'], $1,
			now() - INTERVAL '2 hours', now() + CASE WHEN i % 5 = 2 THEN INTERVAL '-1 hour' ELSE INTERVAL '1 hour' END,
			CASE WHEN i % 5 = 3 THEN now() END, CASE WHEN i % 5 = 3 THEN $1 END
		FROM generate_series(1, 5 * ($3::INT - 2)) i`, maker.Player.String(), hashOf("ply:b").String(), db.MaxPlayerTokens)
	last, _ := mustCreate(t, store, managerDraft(), maker)
	_, _, err := store.CreateToken(t.Context(), managerDraft(), maker)
	wantCode(t, "one too many", err, fault.BadUserInput, "input.player: ")
	if err != nil && !strings.Contains(err.Error(), "1000 tokens") {
		t.Errorf("%q does not name the limit", err)
	}
	mustCreate(t, store, managerDraft(), auth.Administrator())
	for _, id := range []string{last.ID, query[string](t, url, "SELECT id FROM auth.tokens WHERE digest = sha256('4')")} {
		if _, err := store.RevokeToken(t.Context(), id, maker); err != nil {
			t.Fatal(err)
		}
	}
	mustCreate(t, store, managerDraft(), maker)
	other := managerDraft()
	other.Player = hashOf("ply:c")
	mustCreate(t, store, other, callerWith(t, store, other, auth.Administrator()))
}

// A token that has expired by the database's clock is found no more, whatever the server's clock says.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	store.Clock = func() time.Time { return time.Unix(0, 0) }
	draft := agentDraft()
	soon := query[time.Time](t, url, "SELECT clock_timestamp() + INTERVAL '1 second'")
	draft.Expires = &soon
	token, secret := mustCreate(t, store, draft, auth.Administrator())
	if live, err := store.LiveTokens(t.Context(), []string{token.ID}); err != nil || len(live) != 1 {
		t.Fatalf("LiveTokens() = %v, %v, want the token", live, err)
	}
	for limit := time.Now().Add(20 * time.Second); ; {
		_, left, err := store.FindToken(t.Context(), auth.DigestOf(secret))
		if fault.CodeOf(err) == fault.NotFound {
			break
		}
		if err != nil || left > time.Second || time.Now().After(limit) {
			t.Fatalf("FindToken() = %v, %v, want NOT_FOUND after a second", left, err)
		}
	}
	if early := query[bool](t, url, "SELECT clock_timestamp() < $1::TIMESTAMPTZ", soon); early {
		t.Error("the token was not found before it had expired")
	}
	if live, err := store.LiveTokens(t.Context(), []string{token.ID}); err != nil || len(live) != 0 {
		t.Errorf("LiveTokens() = %v, %v, want none", live, err)
	}
	if rows, err := store.Tokens(t.Context(), auth.Administrator(), nil, db.Page[db.TokenKey]{Limit: 10}); err != nil || rows.Items[0].Value.State != db.TokenExpired {
		t.Errorf("Tokens() = %+v, %v, want it expired", rows, err)
	}
}

func TestTokenRules(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	own, other := hashOf("ply:own"), hashOf("ply:other")
	manager := auth.Caller{Player: own, Role: auth.Agent, Scopes: auth.LogRead | auth.TokensManage}
	narrow := auth.Administrator()
	narrow.Scopes = auth.TokensManage
	all := auth.Draft{Role: auth.Client, Player: own}
	with := func(change func(*auth.Draft)) auth.Draft { d := all; change(&d); return d }
	for name, test := range map[string]struct {
		by    auth.Caller
		draft auth.Draft
		want  string // "": made; else how the fault begins
	}{
		"of another player":               {manager, with(func(d *auth.Draft) { d.Player = other }), "input.player: is not your token's player"},
		"of an administrator":             {manager, with(func(d *auth.Draft) { d.Role = auth.Admin }), "input.kind: only administrators"},
		"with more scopes":                {manager, with(func(d *auth.Draft) { d.Scopes = auth.LogRead | auth.Erase | auth.Verify }), "input.scopes: your own token lacks verify erase"},
		"without a scope in common":       {manager, with(func(d *auth.Draft) { d.Role = auth.Hook }), "input.scopes: your own token has none"},
		"of its own":                      {manager, all, ""},
		"a narrow administrator's":        {narrow, with(func(d *auth.Draft) { d.Role, d.Scopes = auth.Admin, auth.AllScopes }), "input.scopes: your own token lacks log:read"},
		"an administrator's, for another": {auth.Administrator(), with(func(d *auth.Draft) { d.Player = other }), ""},
		"an administrator's, all scopes":  {auth.Administrator(), with(func(d *auth.Draft) { d.Scopes = auth.AllScopes }), ""},
		"no kind":                         {auth.Administrator(), with(func(d *auth.Draft) { d.Role = "root" }), `input.kind: "root" is no kind`},
		"a long note":                     {auth.Administrator(), with(func(d *auth.Draft) { d.Note = strings.Repeat("x", 257) }), "input.note: has 257 bytes; at most 256 are allowed"},
	} {
		token, _, err := store.CreateToken(t.Context(), test.draft, test.by)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if !test.by.Scopes.Has(token.Scopes) {
			t.Errorf("%s: the token has %s, and its maker only %s", name, token.Scopes, test.by.Scopes)
		}
	}
}

// Whoever is no administrator sees and revokes tokens of their own player, and never administrators'.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	own, other := hashOf("ply:own"), hashOf("ply:other")
	admin, manager := auth.Administrator(), auth.Caller{Player: own, Role: auth.Agent, Scopes: auth.TokensManage}
	mine, _ := mustCreate(t, store, auth.Draft{Role: auth.Agent, Player: own}, admin)
	others, _ := mustCreate(t, store, auth.Draft{Role: auth.Agent, Player: other}, admin)
	admins, _ := mustCreate(t, store, auth.Draft{Role: auth.Admin, Player: own}, admin)

	list := func(by auth.Caller, p db.Page[db.TokenKey], of ...string) []string {
		t.Helper()
		narrowed := hashOf("")
		player := &narrowed
		if len(of) == 0 {
			player = nil
		} else {
			narrowed = hashOf("%s", of[0])
		}
		rows, err := store.Tokens(t.Context(), by, player, p)
		if err != nil {
			t.Fatal(err)
		}
		n, err := store.CountTokens(t.Context(), by, player)
		if err != nil || p.After == nil && int(n) != len(rows.Items) {
			t.Errorf("CountTokens() = %d, %v, want %d", n, err, len(rows.Items))
		}
		ids := []string{}
		for _, row := range rows.Items {
			ids = append(ids, row.Value.ID)
		}
		return ids
	}
	page := db.Page[db.TokenKey]{Limit: 10}
	for name, test := range map[string]struct{ got, want []string }{
		"all":                        {list(admin, page), []string{admins.ID, others.ID, mine.ID}},
		"after the first":            {list(admin, db.Page[db.TokenKey]{Limit: 10, After: &db.TokenKey{At: admins.CreatedAt, ID: admins.ID}}), []string{others.ID, mine.ID}},
		"of a player":                {list(admin, page, "ply:other"), []string{others.ID}},
		"own":                        {list(manager, page), []string{mine.ID}},
		"own, by name":               {list(manager, page, "ply:own"), []string{mine.ID}},
		"another's, by a non-member": {list(manager, page, "ply:other"), []string{}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
	}

	for _, id := range []string{others.ID, admins.ID, "00000000-0000-4000-8000-000000000000"} {
		if _, err := store.RevokeToken(t.Context(), id, manager); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("RevokeToken of another's = %v, want NOT_FOUND", err)
		}
	}
	revoked, err := store.RevokeToken(t.Context(), mine.ID, manager)
	if err != nil || revoked.State != db.TokenRevoked || revoked.RevokedAt == nil {
		t.Errorf("RevokeToken() = %+v, %v, want it revoked", revoked, err)
	}
	again, err := store.RevokeToken(t.Context(), mine.ID, admin)
	if err != nil || !again.RevokedAt.Equal(*revoked.RevokedAt) {
		t.Errorf("RevokeToken() again = %+v, %v, want it as it was", again, err)
	}
	if live, err := store.LiveTokens(t.Context(), []string{mine.ID, others.ID}); err != nil || !slices.Equal(live, []string{others.ID}) {
		t.Errorf("LiveTokens() = %v, %v, want the other", live, err)
	}
	if _, err := store.RevokeToken(t.Context(), admins.ID, admin); err != nil {
		t.Errorf("RevokeToken() by an administrator = %v", err)
	}
}

func TestTokenUses(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	token, _ := mustCreate(t, store, agentDraft(), auth.Administrator())
	used := func() *time.Time {
		t.Helper()
		if err := store.TokensUsed(t.Context(), []string{token.ID, "00000000-0000-4000-8000-000000000000"}); err != nil {
			t.Fatal(err)
		}
		return query[*time.Time](t, url, "SELECT last_used_at FROM auth.tokens")
	}
	if first, second := used(), used(); first == nil || second == nil || !second.After(*first) {
		t.Errorf("used at %v, then %v, want the later time written", first, second)
	}
}

// What must never happen is refused by the database, whoever asks.
func TestTokenTableRefuses(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	token, _ := mustCreate(t, store, agentDraft(), auth.Administrator())
	if _, err := store.RevokeToken(t.Context(), token.ID, auth.Administrator()); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	const insert = `INSERT INTO auth.tokens (digest, role, player, scopes, creator, expires_at) VALUES `
	digest, hash := "sha256('x')", "'"+hashOf("p").String()+"'"
	for name, sql := range map[string]string{
		"another player":     "UPDATE auth.tokens SET player = " + hash,
		"more scopes":        "UPDATE auth.tokens SET scopes = scopes || 'erase'::TEXT",
		"a longer life":      "UPDATE auth.tokens SET expires_at = expires_at + INTERVAL '1 day'",
		"another digest":     "UPDATE auth.tokens SET digest = " + digest,
		"no revocation":      "UPDATE auth.tokens SET revoked_at = NULL, revoker = NULL",
		"a later revocation": "UPDATE auth.tokens SET revoked_at = clock_timestamp()",
		"deletion":           "DELETE FROM auth.tokens",
		"truncation":         "TRUNCATE auth.tokens CASCADE",
		"367 days":           insert + "(" + digest + ", 'agent', " + hash + ", '{verify}', " + hash + ", clock_timestamp() + INTERVAL '367 days')",
		"no scope":           insert + "(" + digest + ", 'agent', " + hash + ", '{}', " + hash + ", clock_timestamp() + INTERVAL '1 day')",
		"an unknown scope":   insert + "(" + digest + ", 'agent', " + hash + ", '{root}', " + hash + ", clock_timestamp() + INTERVAL '1 day')",
		"an unknown role":    insert + "(" + digest + ", 'root', " + hash + ", '{verify}', " + hash + ", clock_timestamp() + INTERVAL '1 day')",
		"a secret":           insert + "('secret', 'agent', " + hash + ", '{verify}', " + hash + ", clock_timestamp() + INTERVAL '1 day')",
	} {
		for _, mode := range []string{"origin", "replica"} {
			if mode == "replica" && strings.HasPrefix(sql, "INSERT") {
				continue
			}
			if _, err := conn.Exec(t.Context(), "SET session_replication_role = "+mode); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), sql); err == nil {
				t.Errorf("%s, as %s, is taken, want it refused", name, mode)
			}
		}
	}
}
