package db_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

func upsert(t *testing.T, store *db.DB, drafts ...component.Draft) []component.Component {
	t.Helper()
	out, err := store.UpsertComponents(t.Context(), drafts)
	if err != nil {
		t.Fatalf("UpsertComponents() = %v", err)
	}
	return out
}

func TestUpsertComponents(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	made := upsert(t, store,
		component.Draft{Namespace: "ply", Key: "z", Name: ptr("Zoe"), Preferences: []string{"tea"}, Data: ptr(chain.JSON(`{"a": 1}`))},
		component.Draft{Namespace: "loc", Key: "a", Hash: ptr(hashOf("chosen"))},
	)
	if made[0].Hash != component.DefaultHash("ply", "z") || made[0].Kind != component.Player || made[1].Hash != hashOf("chosen") || made[1].Kind != component.Location {
		t.Errorf("made %+v", made)
	}
	// What is left out stays as it is.
	changed := upsert(t, store, component.Draft{Namespace: "ply", Key: "z", Description: ptr("d")})[0]
	want := made[0]
	want.Description = ptr("d")
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	emptied := upsert(t, store, component.Draft{Namespace: "ply", Key: "z", Preferences: []string{}, Name: ptr("")})[0]
	if len(emptied.Preferences) != 0 || *emptied.Name != "" {
		t.Errorf("emptied: %+v", emptied)
	}
}

func TestUpsertComponentsRefuses(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	upsert(t, store, component.Draft{Namespace: "itm", Key: "there", Name: ptr("as it was")})
	good := component.Draft{Namespace: "itm", Key: "there", Name: ptr("changed")}
	for _, tt := range []struct {
		name  string
		draft component.Draft
		code  fault.Code
		want  string
	}{
		{"namespace", component.Draft{Namespace: "xyz", Key: "k"}, fault.BadUserInput, `components[1].namespace: "xyz" is no namespace`},
		{"no key", component.Draft{Namespace: "ply"}, fault.BadUserInput, "components[1].key: is empty"},
		{"long key", component.Draft{Namespace: "ply", Key: strings.Repeat("k", 257)}, fault.BadUserInput, "components[1].key: has 257 bytes; at most 256"},
		{"preferences", component.Draft{Namespace: "itm", Key: "k", Preferences: []string{"p"}}, fault.BadUserInput, "components[1].preferences: only players"},
		{"NUL", component.Draft{Namespace: "itm", Key: "k", Name: ptr("\x00")}, fault.BadUserInput, "components[1].name: holds the character U+0000"},
		{"deep data", component.Draft{Namespace: "itm", Key: "k", Data: ptr(chain.JSON(strings.Repeat("[", 101) + strings.Repeat("]", 101)))}, fault.BadUserInput, "components[1].data: is nested deeper than 100 levels"},
		{"another hash", component.Draft{Namespace: "itm", Key: "there", Hash: ptr(hashOf("other"))}, fault.Conflict, "components[1].hash"},
		{"another's hash", component.Draft{Namespace: "loc", Key: "new", Hash: ptr(component.DefaultHash("itm", "there"))}, fault.Conflict, "components[1].hash"},
	} {
		_, err := store.UpsertComponents(t.Context(), []component.Draft{good, tt.draft})
		if fault.CodeOf(err) != tt.code || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s %q", tt.name, err, tt.code, tt.want)
		}
	}
	found, err := store.ComponentsByHash(t.Context(), []chain.Hash{component.DefaultHash("itm", "there")})
	if err != nil || *found[component.DefaultHash("itm", "there")].Name != "as it was" {
		t.Errorf("after all refusals: %v, %v", found, err)
	}
}

// Callers that change the same components in opposite orders do not block each other for good.
// To name components that are there writes nothing, and waits for nobody who does.
func TestUpsertComponentsUnchanged(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	stated := hashOf("stated")
	drafts := []component.Draft{{Namespace: "ply", Key: "a", Name: ptr("A")}, {Namespace: "hsu", Key: "b"}, {Namespace: "plu", Key: "c", Hash: &stated}}
	first, err := store.UpsertComponents(t.Context(), drafts)
	if err != nil {
		t.Fatal(err)
	}
	named := []component.Draft{{Namespace: "hsu", Key: "b"}, {Namespace: "ply", Key: "a"}, {Namespace: "hsu", Key: "b"}}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM core.players FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	again, err := store.UpsertComponents(t.Context(), named)
	if diff := cmp.Diff([]component.Component{first[1], first[0], first[1]}, again); err != nil || diff != "" {
		t.Errorf("named beside a lock: %v\n%s", err, diff)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Under another hash than its key makes, and beside one that is new, each is found as it is.
	again, err = store.UpsertComponents(t.Context(), []component.Draft{{Namespace: "plu", Key: "c"}, {Namespace: "ply", Key: "new"}, {Namespace: "ply", Key: "a"}})
	if err != nil || again[0].Hash != stated || again[1].Hash != component.DefaultHash("ply", "new") || cmp.Diff(first[0], again[2]) != "" {
		t.Errorf("UpsertComponents() = %+v, %v", again, err)
	}
}

func TestUpsertComponentsConcurrently(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			drafts := make([]component.Draft, 20)
			for j := range drafts {
				n := j
				if i%2 == 0 {
					n = len(drafts) - 1 - j
				}
				drafts[j] = component.Draft{Namespace: "hst", Key: fmt.Sprint("tag ", n), Name: ptr(fmt.Sprint(i))}
			}
			if _, err := store.UpsertComponents(t.Context(), drafts); err != nil {
				t.Errorf("UpsertComponents() = %v", err)
			}
		})
	}
	wait.Wait()
}

func TestComponents(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	if n, err := store.CountComponents(t.Context(), []component.Namespace{"flg"}, nil); err != nil || n != 65 {
		t.Errorf("there are %d flags, %v; want the 65 that come with the schema", n, err)
	}
	upsert(t, store,
		component.Draft{Namespace: "hst", Key: "spain-holidays"}, component.Draft{Namespace: "itm", Key: "x1", Name: ptr("Map of Spain")},
		component.Draft{Namespace: "itm", Key: "x2", Description: ptr("Bought in Spain")}, component.Draft{Namespace: "itm", Key: "x3"},
	)
	search := func(text string, limit int) (got []string) {
		page := db.Page[db.ComponentKey]{Limit: limit}
		for {
			rows, err := store.Components(t.Context(), nil, &text, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range rows.Items {
				got, page.After = append(got, *item.Value.Key), &item.Key
			}
			if !rows.More {
				return got
			}
		}
	}
	want := []string{"es", "spain-holidays", "x1", "lopdgdd", "x2"} // begins so, holds it, describes it
	for _, limit := range []int{1, 2, 50} {
		if diff := cmp.Diff(want, search("SPAIN", limit)); diff != "" {
			t.Errorf("by %d: %s", limit, diff)
		}
	}
	if got := search("gdpr", 50); len(got) == 0 || got[0] != "gdpr" {
		t.Errorf("by key: %v", got)
	}
	if got := search("%", 50); len(got) != 0 {
		t.Errorf("a percent sign is a percent sign: %v", got)
	}
}
