package db_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// Each sees the channels of what they see.
func TestChannels(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{true, false} {
		t.Run(fmt.Sprint("fenced ", fenced), func(t *testing.T) {
			t.Parallel()
			store, _ := open(t)
			if !fenced {
				store.Unfence()
			}
			through := func(d chain.Draft, channel string) chain.Draft {
				d.Channel = &channel
				return d
			}
			mustAppend(t, store, through(from(ana, "a", "one", ben), "voice"), through(from(ana, "a", "two", ben), "webchat"),
				through(from(ana, "a", "three"), "webchat"), from(ana, "a", "four"), through(from(cleo, "c", "hers"), "secret"))
			for _, c := range []struct {
				name string
				view *db.DB
				want []db.ChannelUse
			}{
				{"everything", store, []db.ChannelUse{{Name: "webchat", Messages: 2}, {Name: "secret", Messages: 1}, {Name: "voice", Messages: 1}}},
				{"a member", store.As(ben), []db.ChannelUse{{Name: "webchat", Messages: 2}, {Name: "voice", Messages: 1}}},
				{"another", store.As(cleo), []db.ChannelUse{{Name: "secret", Messages: 1}}},
				{"nobody", store.As(hashOf("nobody")), []db.ChannelUse{}},
			} {
				got, err := c.view.Channels(t.Context())
				if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
					t.Errorf("%s: Channels = %v, %v", c.name, err, diff)
				}
			}
		})
	}
}

// Threads and sessions are found by who received a message in them, and by who coordinated one: both of the same message.
func TestListsByParts(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	led := func(d chain.Draft, thread string, by chain.Hash) chain.Draft {
		d.ThreadHash, d.MasterPlayer = ptr(hashOf("%s", thread)), &by
		return d
	}
	mustAppend(t, store, led(from(ana, "a", "to Ben", ben), "one", cleo), led(from(ben, "b", "to Ana", ana), "two", cleo),
		led(from(cleo, "c", "to Ben and Ana", ben, ana), "three", ana))
	for _, c := range []struct {
		name  string
		match selection.Match
		want  []string
	}{
		{"received", selection.Match{Receivers: []chain.Hash{ben}}, []string{"one", "three"}},
		{"received by one of two", selection.Match{Receivers: []chain.Hash{ben, ana}}, []string{"one", "two", "three"}},
		{"coordinated", selection.Match{Leaders: []chain.Hash{cleo}}, []string{"one", "two"}},
		{"both", selection.Match{Receivers: []chain.Hash{ben}, Leaders: []chain.Hash{cleo}}, []string{"one"}},
		{"nobody", selection.Match{Receivers: []chain.Hash{}}, nil},
	} {
		want := map[chain.Hash]bool{}
		for _, name := range c.want {
			want[hashOf("%s", name)] = true
		}
		rows, err := store.Threads(t.Context(), selection.Scope{}, c.match, db.Page[chain.Hash]{Limit: 10})
		got := map[chain.Hash]bool{}
		for _, item := range rows.Items {
			got[item.Value.Hash] = true
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: Threads = %v, %v", c.name, err, diff)
		}
		if n, err := store.CountThreads(t.Context(), selection.Scope{}, c.match); err != nil || int(n) != len(want) {
			t.Errorf("%s: CountThreads = %d, %v; want %d", c.name, n, err, len(want))
		}
		sessions, err := store.Sessions(t.Context(), selection.Scope{}, c.match, db.Page[chain.Hash]{Limit: 10})
		if counted, countErr := store.CountSessions(t.Context(), selection.Scope{}, c.match); err != nil || countErr != nil || len(sessions.Items) != len(want) || int(counted) != len(want) {
			t.Errorf("%s: %d sessions, %v, and counted %d, %v; want %d", c.name, len(sessions.Items), err, counted, countErr, len(want))
		}
	}
}

// Those whom a player knows are counted among so many places in so many sessions, and it is told that there are more; within
// these they are those of the list.
func TestPlayersKnownAreBounded(t *testing.T) {
	t.Parallel()
	store, at := open(t)
	for i := range 6 {
		mustAppend(t, store, from(ana, fmt.Sprint("s", i), "hello", ben, hashOf("friend %d", i)))
	}
	conn := superuser(t, at)
	for _, c := range []struct {
		sessions, places int
		most             int
		more             bool
	}{{100, 100, 8, false}, {100, 18, 8, false}, {100, 17, 8, true}, {100, 3, 3, true}, {1, 100, 3, false}} {
		var players []string
		var more bool
		var all []string
		if err := inRole(t, conn, ben, func(tx pgx.Tx) error {
			if err := tx.QueryRow(t.Context(), "SELECT log.players_known_to($1, NULL)", ben.String()).Scan(&all); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), "SELECT k.players, k.more FROM log.some_players_known_to($1, $2, $3) k", ben.String(), c.sessions, c.places).Scan(&players, &more)
		}); err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, hash := range all {
			known[hash] = true
		}
		for _, hash := range players {
			if !known[hash] {
				t.Errorf("%+v: %s is not known", c, hash)
			}
		}
		if len(all) != 8 || len(players) > c.most || more != c.more || c.most == 8 && len(players) < 7 {
			t.Errorf("%+v: %d of %d players, more %t", c, len(players), len(all), more)
		}
	}
	var told []string
	if err := inRole(t, conn, cleo, func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT k.players FROM log.some_players_known_to($1, 9, 9) k", ben.String()).Scan(&told)
	}); err != nil || len(told) != 0 {
		t.Errorf("Cleo is told whom Ben knows: %v, %v", told, err)
	}
}
