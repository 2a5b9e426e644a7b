package db_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/memory"
)

// Whatever is acknowledged was waited for, where the login's commits would not wait; and who waits for more, goes on to.
func TestCommitsAreAwaited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ configured, want string }{{"off", "on"}, {"local", "on"}, {"on", "on"}, {"remote_write", "remote_write"}, {"remote_apply", "remote_apply"}} {
		t.Run(c.configured, func(t *testing.T) {
			t.Parallel()
			direct := dbtest.New(t)
			conn := superuser(t, direct)
			mustExec(t, conn, "CREATE TABLE public.awaited (what TEXT, waits TEXT)")
			mustExec(t, conn, `CREATE FUNCTION public.note() RETURNS TRIGGER LANGUAGE plpgsql AS
				$$ BEGIN INSERT INTO public.awaited VALUES (TG_TABLE_NAME || ' ' || TG_OP, current_setting('synchronous_commit')); RETURN NULL; END $$`)
			for _, table := range []string{"log.messages", "auth.tokens", "memory.quarantines", "memory.conversations"} {
				mustExec(t, conn, "CREATE TRIGGER note AFTER INSERT OR UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION public.note()")
			}
			mustExec(t, conn, `DO $$ BEGIN EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET synchronous_commit = `+c.configured+`', current_database()); END $$`)
			for way, url := range map[string]string{"direct": direct, "pooled": pooler(t, direct)} {
				store := openURL(t, url)
				written := mustAppend(t, store, from(ana, way, "said", cleo), from(ana, way, "more", cleo))
				if _, err := office(store).Quarantine(t.Context(), written[0].Hash, "asked for"); err != nil {
					t.Fatal(err)
				}
				if _, err := office(store).Erase(t.Context(), written[1].Hash, boss.Player, "asked for"); err != nil {
					t.Fatal(err)
				}
				talk, err := store.StartConversation(t.Context(), memory.Client, way, ana)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := store.RecordExchange(t.Context(), talk.ID, db.Exchange{User: "hola", Assistant: "buenas"}, ana); err != nil {
					t.Fatal(err)
				}
				made, _, err := store.CreateToken(t.Context(), auth.Draft{Role: auth.Agent, Player: ana}, boss)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := store.RevokeToken(t.Context(), made.ID, boss); err != nil {
					t.Fatal(err)
				}
				hasty := false
				for _, p := range store.Problems(t.Context()) {
					hasty = hasty || p.Code == db.CommitsHasty
				}
				if want := c.want != c.configured; hasty != want {
					t.Errorf("%s: the problem is told %t, want %t", way, hasty, want)
				}
			}
			rows, err := conn.Query(t.Context(), "SELECT DISTINCT waits FROM public.awaited")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var got []string
			for rows.Next() {
				var waits string
				if err := rows.Scan(&waits); err != nil {
					t.Fatal(err)
				}
				got = append(got, waits)
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
