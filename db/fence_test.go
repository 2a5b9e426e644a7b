package db_test

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/memory"
	"github.com/tzzr/context-manager/internal/selection"
)

// Raw SQL as the role that players read as sees what the player sees, of every table and view that it may read; and it
// may read no others, nor write any.
func TestFenceOfRawSQL(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	written := mustAppend(t, store, from(ana, "a", "Ana's", ben), from(cleo, "c", "Cleo's"), from(cleo, "c", "Cleo's second"))
	cite := from(cleo, "c", "citing")
	cite.Refs = []chain.Ref{{Type: chain.RefContext, Hash: written[0].Hash}}
	mustAppend(t, store, cite)
	if _, err := store.As(cleo).RequestContext(t.Context(), selection.Request{Query: "Cleo's", Limit: 5}); err != nil {
		t.Fatal(err)
	}
	for _, assistant := range []chain.Hash{ana, cleo} {
		if _, err := store.StartConversation(t.Context(), memory.Client, "42", assistant); err != nil {
			t.Fatal(err)
		}
	}
	conn := superuser(t, at)
	for _, agent := range []chain.Hash{ana, cleo} {
		id := fillWindow(t, store, agent, nil)
		mustExec(t, conn, "INSERT INTO memory.window_overruled (window_id, pair) VALUES ($1, repeat('0', 64))", id)
	}
	rows, err := conn.Query(t.Context(), `SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v') AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	mine := map[string]int{ // rows of Ana's; what is here and not in the log is for all
		"log.messages": 1, "log.message_refs": 0, "log.members": 1, "log.players_known": 1, "log.messages_v7": 1, "memory.selections": 0, "memory.conversations": 1,
		"memory.windows": 1, "memory.segments": 1, "memory.segment_windows": 1, "memory.window_items": 2, "memory.scratchpad": 1, "memory.tools": 1,
		"memory.window_operations": 4, "memory.window_overruled": 1,
		"core.players": 0, "core.hashtags": 0, "core.items": 0, "core.locations": 0, "knowledge.records": 0,
	}
	shared := map[string]bool{"core.flags": true, "core.components": true}
	for _, table := range tables {
		var n int
		err := inRole(t, conn, ana, func(tx pgx.Tx) error { return tx.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n) })
		want, readable := mine[table]
		switch {
		case !readable && !shared[table] && sqlState(err) != "42501":
			t.Errorf("%s: %v, want permission denied", table, err)
		case readable && (err != nil || n != want):
			t.Errorf("%s has %d rows for Ana, %v; want %d", table, n, err, want)
		}
		for _, write := range []string{"DELETE FROM " + table, "TRUNCATE " + table, "INSERT INTO " + table + " DEFAULT VALUES"} {
			err := inRole(t, conn, ana, func(tx pgx.Tx) error { _, err := tx.Exec(t.Context(), write); return err })
			if state := sqlState(err); state != "42501" && state != "42809" && state != "55000" {
				t.Errorf("%s: %v, want permission denied", write, err)
			}
		}
		var may bool // which columns a table has does not matter, so no UPDATE is tried
		err = conn.QueryRow(t.Context(), `SELECT has_table_privilege('cm_player', $1::TEXT, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
			OR has_any_column_privilege('cm_player', $1::TEXT, 'INSERT, UPDATE')`, table).Scan(&may)
		if err != nil || may {
			t.Errorf("%s may be written by a player: %t, %v", table, may, err)
		}
	}
	var n int
	if err := inRole(t, conn, chain.Hash{}, func(tx pgx.Tx) error { return tx.QueryRow(t.Context(), "SELECT count(*) FROM log.messages").Scan(&n) }); err != nil || n != 0 {
		t.Errorf("nobody sees %d messages, %v", n, err)
	}
}

// Of players, raw SQL shows those that one knows, and nobody's preferences but one's own.
func TestFenceOfPreferences(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	mustAppend(t, store, from(ana, "shared", "from ana", ben), from(ben, "shared", "from ben"), from(cleo, "secret", "from cleo"))
	for key, hash := range map[string]chain.Hash{"ana": ana, "ben": ben, "cleo": cleo} {
		if _, err := store.UpsertComponents(t.Context(), []component.Draft{{Namespace: "ply", Key: key, Hash: &hash, Preferences: []string{"tea"}}}); err != nil {
			t.Fatal(err)
		}
	}
	conn := superuser(t, at)
	ask := func(sql string) (out []string, err error) {
		err = inRole(t, conn, ana, func(tx pgx.Tx) error {
			rows, err := tx.Query(t.Context(), sql)
			if err == nil {
				out, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			return err
		})
		return out, err
	}
	for sql, want := range map[string][]string{
		"SELECT key FROM core.players ORDER BY key":                                                 {"ana", "ben"},
		"SELECT key || preferences::TEXT FROM core.components WHERE namespace = 'ply' ORDER BY key": {"ana{tea}", "ben{}"},
	} {
		if got, err := ask(sql); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s gives %q, %v; want %q", sql, got, err, want)
		}
	}
	for _, sql := range []string{"SELECT preferences::TEXT FROM core.players", "SELECT preferences::TEXT FROM core.players_seen"} {
		if got, err := ask(sql); sqlState(err) != "42501" {
			t.Errorf("%s gives %q, %v; want permission denied", sql, got, err)
		}
	}
	leaked, err := ask("SELECT key FROM core.components WHERE namespace = 'ply' AND 1 / (CASE WHEN key = 'cleo' THEN 0 ELSE 1 END) = 1")
	if err != nil || len(leaked) != 2 {
		t.Errorf("what fails for hidden rows gives %q, %v; want it not computed of them", leaked, err)
	}
}

// What a later migration adds is behind the fence, too.
func TestFenceAfterMigration(t *testing.T) {
	t.Parallel()
	_, at := open(t)
	conn := superuser(t, at)
	mustExec(t, conn, "CREATE FUNCTION log.careless() RETURNS BIGINT LANGUAGE sql SECURITY DEFINER RETURN 1")
	mustExec(t, conn, `DO $$ BEGIN
		EXECUTE format('COMMENT ON TABLE log.members IS %L', regexp_replace(obj_description('log.members'::REGCLASS), 'fence \d+', 'fence 15'));
	END $$`) // as the migration before has left it
	if err := db.Migrate(t.Context(), at, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if err := inRole(t, conn, ana, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT log.careless()")
		return err
	}); sqlState(err) != "42501" {
		t.Errorf("a function that was added later: %v, want permission denied", err)
	}
}

// What has its owner's rights is not for players: not as a trigger on a table of their own either, which would make them
// members of whatever they like.
func TestFenceOfFunctions(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	hidden := mustAppend(t, store, from(cleo, "c", "Cleo's"))[0]
	conn := superuser(t, at)
	rows, err := conn.Query(t.Context(), `SELECT p.oid::REGPROCEDURE::TEXT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE p.prosecdef AND n.nspname !~ '^pg_' AND has_function_privilege('cm_player', p.oid, 'EXECUTE') ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	callable, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if want := []string{"log.players_known_to(character,character[])", "log.some_players_known_to(character,integer,integer)", "log.threads_between(character,character,character,text,text,text,integer)", "memory.quarantined_turns(jsonb)"}; err != nil || !slices.Equal(callable, want) {
		t.Errorf("players may call %q with their owner's rights, %v; want %q", callable, err, want)
	}
	err = inRole(t, conn, ana, func(tx pgx.Tx) error {
		for _, sql := range []string{
			"CREATE TEMP TABLE mine (id BIGINT, session_hash CHAR(64), owner_id CHAR(64), master_player CHAR(64), players_id CHAR(64)[])",
			"CREATE TRIGGER follow AFTER INSERT ON mine REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION log.follow_messages()",
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		_, err := tx.Exec(t.Context(), "INSERT INTO mine VALUES (1, $1, $2, NULL, '{}')", hidden.SessionHash.String(), ana.String())
		return err
	})
	if sqlState(err) != "42501" {
		t.Errorf("a trigger of a player's own: %v, want permission denied", err)
	}
	for _, sql := range []string{"SELECT log.absent(100)", "SELECT log.erase($1, $1, 'why')", "SELECT last_value FROM log.message_id", "SELECT digest FROM auth.tokens", "SELECT vector FROM embedding.lexical"} {
		err := inRole(t, conn, ana, func(tx pgx.Tx) error {
			if strings.Contains(sql, "$1") {
				_, err := tx.Exec(t.Context(), sql, hidden.Hash.String())
				return err
			}
			_, err := tx.Exec(t.Context(), sql)
			return err
		})
		if sqlState(err) != "42501" {
			t.Errorf("%s: %v, want permission denied", sql, err)
		}
	}
}

// What functions with their owner's rights tell players is theirs to know: of quarantines those of messages that they see, and
// nothing in nobody's name. And names mean to them what they mean to their owner.
func TestFenceOfWhatIsTold(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	own := mustAppend(t, store, from(ana, "a", "Ana's", ben))[0].Hash
	others := mustAppend(t, store, from(cleo, "c", "Cleo's"))[0].Hash
	mustQuarantine(t, store, own)
	mustQuarantine(t, store, others)
	conn := superuser(t, at)
	const (
		turns = `SELECT memory.quarantined_turns(json_build_array(json_build_object('message', $1::TEXT), json_build_object('message', $2::TEXT))::JSONB)`
		known = `SELECT log.players_known_to($1::CHAR(64), NULL)`
		some  = `SELECT (log.some_players_known_to($1::CHAR(64), 9, 9)).players`
	)
	ask := func(of pgx.Tx, sql string, args ...any) (out []string) {
		t.Helper()
		if err := of.QueryRow(t.Context(), sql, args...).Scan(&out); err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return out
	}
	both := []string{own.String(), others.String()}
	slices.Sort(both)
	for name, test := range map[string]struct {
		player chain.Hash
		turns  []string
		known  []string // whom Ana knows, as far as they are told
	}{
		"Ana":    {ana, []string{own.String()}, []string{ana.String()}},
		"Ben":    {ben, []string{own.String()}, nil},
		"Cleo":   {cleo, []string{others.String()}, nil},
		"nobody": {chain.Hash{}, nil, nil},
	} {
		err := inRole(t, conn, test.player, func(tx pgx.Tx) error {
			if got := ask(tx, turns, own.String(), others.String()); !slices.Equal(got, test.turns) {
				t.Errorf("%s is told that %v are in quarantine, want %v", name, got, test.turns)
			}
			for _, sql := range []string{known, some} {
				if got := ask(tx, sql, ana.String()); !slices.Equal(got, test.known) {
					t.Errorf("%s is told by %s that Ana knows %v, want %v", name, sql, got, test.known)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if got := ask(tx, turns, own.String(), others.String()); !slices.Equal(got, both) {
		t.Errorf("the server is told that %v are in quarantine, want %v", got, both)
	}
	if got := ask(tx, known, ana.String()); !slices.Equal(got, []string{ana.String()}) {
		t.Errorf("the server is told that Ana knows %v, want herself", got)
	}
	var loose []string
	if err := tx.QueryRow(t.Context(), `SELECT COALESCE(array_agg(p.oid::REGPROCEDURE::TEXT ORDER BY 1), '{}') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		WHERE p.prosecdef AND n.nspname !~ '^pg_' AND NOT COALESCE(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']`).Scan(&loose); err != nil || len(loose) > 0 {
		t.Errorf("%v, %v have their owner's rights and the caller's search_path", loose, err)
	}
}

// inRole runs f as players read, for one of them; with the zero hash, for nobody.
func inRole(t *testing.T, conn *pgx.Conn, player chain.Hash, f func(tx pgx.Tx) error) error {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	name := player.String()
	if player == (chain.Hash{}) {
		name = ""
	}
	if _, err := tx.Exec(t.Context(), "SET LOCAL ROLE cm_player"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT set_config('context_manager.player', $1, TRUE)", name); err != nil {
		t.Fatal(err)
	}
	return f(tx)
}

// A login that is no superuser and may not make roles migrates and serves; the store says that it is alone.
func TestFenceNeedsRights(t *testing.T) {
	t.Parallel()
	name, at := ownedDatabase(t, "")
	if err := db.Migrate(t.Context(), at, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	store := openURL(t, at)
	if store.Fenced() {
		t.Error("the store takes itself for fenced, and nobody made the roles' policies")
	}
	own := mustAppend(t, store, from(ana, "a", "Ana's"), from(cleo, "c", "Cleo's"))[0]
	if n, err := store.As(ana).CountMessages(t.Context(), selection.Scope{}, selection.Match{}); err != nil || n != 1 {
		t.Errorf("Ana sees %d, %v; want 1", n, err)
	}
	if _, err := store.Erase(t.Context(), own.Hash, ana, "why"); err != nil {
		t.Errorf("Erase by %s: %v", name, err)
	}
}

// A login that is no superuser but may make roles raises the fence, and gives itself what it lacks of it. From Postgres 16
// on, who makes a role is a member who may not take it on.
func TestFenceOfRoleMaker(t *testing.T) {
	t.Parallel()
	name, at := ownedDatabase(t, "CREATEROLE")
	_, other := open(t) // which has made cm_player
	conn := superuser(t, other)
	if value[int](t, conn, "SELECT current_setting('server_version_num')::INT") >= 160000 {
		mustExec(t, conn, "GRANT cm_player TO "+name+" WITH ADMIN TRUE, INHERIT FALSE, SET FALSE") // as if it had been made by this login
	}
	sees := func(want bool) {
		t.Helper()
		store := openURL(t, at)
		defer store.Close()
		if store.Fenced() != want {
			t.Errorf("Fenced() = %t, want %t", store.Fenced(), want)
		}
		if n, err := store.As(ana).CountMessages(t.Context(), selection.Scope{}, selection.Match{}); err != nil || n != 1 {
			t.Errorf("Ana sees %d, %v; want 1", n, err)
		}
	}
	if err := db.Migrate(t.Context(), at, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	store := openURL(t, at)
	mustAppend(t, store, from(ana, "a", "Ana's"), from(cleo, "c", "Cleo's"))
	sees(true)
	mustExec(t, conn, "REVOKE cm_player FROM "+name+" CASCADE") // as where a dump was restored, without who was given which role
	sees(false)
	if value[int](t, conn, "SELECT current_setting('server_version_num')::INT") >= 160000 {
		if err := db.Migrate(t.Context(), at, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatalf("Migrate, with a role that another has made: %v", err)
		}
		sees(false)
		return
	}
	if err := db.Migrate(t.Context(), at, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatalf("Migrate: %v", err)
	}
	sees(true)
}

// ownedDatabase gives a login with some rights, and the address of an empty database that is its own.
func ownedDatabase(t *testing.T, rights string) (login, at string) {
	t.Helper()
	_, other := open(t)
	conn := superuser(t, other)
	name := "owner_" + hashOf("%s", other).String()[:16]
	mustExec(t, conn, "CREATE ROLE "+name+" LOGIN "+rights)
	mustExec(t, conn, "CREATE DATABASE "+name+" OWNER "+name+" TEMPLATE template0 ENCODING 'UTF8'")
	t.Cleanup(func() {
		for _, sql := range []string{"DROP DATABASE " + name + " WITH (FORCE)", "DROP ROLE " + name} {
			if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})
	u, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	admin := superuser(t, u.String())
	mustExec(t, admin, "CREATE EXTENSION vector")
	mustExec(t, admin, "CREATE EXTENSION intarray")
	q := u.Query()
	q.Set("user", name)
	u.RawQuery, u.User = q.Encode(), nil
	return name, u.String()
}
