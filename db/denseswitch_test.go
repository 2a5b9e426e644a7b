package db_test

import (
	"bytes"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

// With another model the log is embedded anew while the old one serves, with what is appended meanwhile; two dimensions
// stand side by side. Then searches switch.
func TestDenseSwitch(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32, "large": 48})
	first, url := open(t)
	mustAppend(t, first, many(150, "word")...)
	old := embeds(t, url, e.config("small"))
	untilServing(t, old, "small", 150)
	old.Close()

	var switches atomic.Bool
	store := embeds(t, url, e.config("large").WithStep(func(name string) error {
		if name == "switch" && !switches.Load() {
			return errors.New("not yet")
		}
		return nil
	}))
	eventually(t, "the new model is there but for the switch", func() bool {
		m := model(t, store, "large")
		return m.Embedded == 150 && m.State == db.ModelBuilding && *m.Dimensions == 48
	})
	recent := mustAppend(t, store, many(20, "meanwhile")...)
	eventually(t, "both models have what is new", func() bool {
		return model(t, store, "large").Embedded == 170 && model(t, store, "small").Embedded == 170
	})
	if id, by, notice := nearest(t, store, "meanwhile7"); id != recent[7].ID || by != "small" || notice != "" {
		t.Errorf("meanwhile: %d by %q, %q; want %d by the old one", id, by, notice, recent[7].ID)
	}
	switches.Store(true)
	untilServing(t, store, "large", 170)
	if id, by, _ := nearest(t, store, "meanwhile7"); id != recent[7].ID || by != "large" {
		t.Errorf("then: %d by %q, want %d by the new one", id, by, recent[7].ID)
	}
	mustAppend(t, store, many(10, "after")...)
	untilServing(t, store, "large", 180)
	if m := model(t, store, "small"); m.State != db.ModelKept || m.Embedded != 170 || m.Outstanding != 0 {
		t.Errorf("the old model is %+v, want it kept as it was", m)
	}
	// Back to the old one: what it lacks is all that is embedded.
	store.Close()
	asked := len(e.models["small"].Requests())
	again := embeds(t, url, e.config("small"))
	untilServing(t, again, "small", 180)
	texts := 0
	for _, r := range e.models["small"].Requests()[asked:] {
		texts += len(r.Texts)
	}
	if texts > 20 {
		t.Errorf("%d texts were asked for, want the 10 that were missing and few others", texts)
	}
}

// Without the old model at the provider, searches go by words until the new one is there, and say so.
func TestDenseSwitchWithoutOldModel(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32, "large": 32})
	first, url := open(t)
	mustAppend(t, first, many(30, "word")...)
	old := embeds(t, url, e.config("small"))
	untilServing(t, old, "small", 30)
	old.Close()
	for name, gone := range map[string]providertest.Fault{"gone": endpointtest.Status(404, ""), "another": providertest.Dimensions(16)} {
		e.models["small"].Break(gone)
		e.models["large"].Break(providertest.Only("word", endpointtest.Hang()))
		store := embeds(t, url, e.config("large"))
		eventually(t, name+": it is said", func() bool {
			_, _, notice := nearest(t, store, "word")
			return contains(notice, "ranked by words alone") && contains(model(t, store, "small").LastError, "is not embedded with it")
		})
		store.Close()
	}
	e.models["large"].Mend()
	untilServing(t, embeds(t, url, e.config("large")), "large", 30)
}

// What gives other vectors under the same name is another model.
func TestDenseSameName(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(30, "word")...)
	old := embeds(t, url, e.config("small"))
	untilServing(t, old, "small", 30)
	old.Close()
	e.models["small"] = providertest.New(t, 24)
	store := embeds(t, url, e.config("small").WithIdentify(time.Millisecond))
	untilServing(t, store, "small@2", 30)
	if m := model(t, store, "small"); m.State != db.ModelKept || *m.Dimensions != 32 || m.Embedded != 30 {
		t.Errorf("the old model is %+v", m)
	}
	if m := model(t, store, "small@2"); *m.Dimensions != 24 {
		t.Errorf("the new model is %+v", m)
	}
}

// A fault that passes does not make another model, neither when a server starts nor before the switch.
func TestDenseSameModelAfterFault(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32, "large": 48})
	first, url := open(t)
	mustAppend(t, first, many(30, "word")...)
	old := embeds(t, url, e.config("small"))
	untilServing(t, old, "small", 30)
	old.Close()
	e.models["small"].Break(providertest.Dimensions(24))
	store := embeds(t, url, e.config("small"))
	asked := len(e.models["small"].Requests())
	eventually(t, "it is asked again and again", func() bool {
		return len(e.models["small"].Requests()) > asked+15 && contains(model(t, store, "small").LastError, "24 dimensions instead of 32")
	})
	e.models["small"].Mend()
	mustAppend(t, store, many(10, "late")...)
	untilServing(t, store, "small", 40)
	store.Close()
	var breaks sync.Once
	store = embeds(t, url, e.config("large").WithStep(func(name string) error {
		if name == "switch" {
			breaks.Do(func() { e.models["large"].Break(providertest.Dimensions(24)) })
		}
		return nil
	}))
	eventually(t, "the fault is seen before the switch", func() bool { return contains(model(t, store, "large").LastError, "24 dimensions instead of 48") })
	if m := model(t, store, "large"); m.State != db.ModelBuilding {
		t.Errorf("%+v, want it building", m)
	}
	e.models["large"].Mend()
	untilServing(t, store, "large", 40)
	if n := value[int](t, superuser(t, url), "SELECT count(*) FROM embedding.models WHERE kind = 'dense'"); n != 2 {
		t.Errorf("there are %d models, want 2", n)
	}
}

// Another model that answers to the name while the server runs gets a name of its own, also if the first one was wrong.
func TestDenseOtherModelStays(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	e.models["small"].Break(providertest.Dimensions(24))
	first, url := open(t)
	mustAppend(t, first, many(30, "word")...)
	store := embeds(t, url, e.config("small").WithIdentify(time.Millisecond))
	untilServing(t, store, "small", 30)
	e.models["small"].Mend()
	mustAppend(t, store, many(10, "late")...)
	untilServing(t, store, "small@2", 40)
}

// Killed at any step of the way, the next server goes on from there.
func TestDenseResumes(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"embed", "keep", "index", "switch"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, map[string]int{"small": 32, "large": 48})
			first, url := open(t)
			mustAppend(t, first, many(100, "word")...)
			old := embeds(t, url, e.config("small"))
			untilServing(t, old, "small", 100)
			old.Close()
			for range 3 {
				var reached atomic.Bool
				killed := embeds(t, url, e.config("large").WithPace(10*time.Millisecond, time.Second).WithStep(func(name string) error {
					if name == step {
						reached.Store(true)
						return errors.New("killed")
					}
					return nil
				}))
				eventually(t, "it is killed", reached.Load)
				if m := model(t, killed, "small"); m.State != db.ModelServing {
					t.Errorf("the old model is %+v, want it to serve", m)
				}
				killed.Close()
			}
			untilServing(t, embeds(t, url, e.config("large")), "large", 100)
		})
	}
}

// An index that was left half done is built anew.
func TestDenseResumesIndex(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(50, "word")...)
	var built atomic.Int64
	killed := embeds(t, url, e.config("small").WithStep(func(name string) error {
		if name == "switch" {
			built.Add(1)
			return errors.New("killed")
		}
		return nil
	}))
	eventually(t, "the index is built", func() bool { return built.Load() > 0 })
	killed.Close()
	conn := superuser(t, url)
	index := "embedding.dense_" + value[string](t, conn, "SELECT id::TEXT FROM embedding.models WHERE name = 'small'") + "_hnsw"
	before := value[uint32](t, conn, "SELECT $1::REGCLASS::OID", index)
	mustExec(t, conn, "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = $1", before)
	untilServing(t, embeds(t, url, e.config("small")), "small", 50)
	if after := value[uint32](t, conn, "SELECT $1::REGCLASS::OID", index); after == before {
		t.Error("the index that was half done is used")
	}
	if !value[bool](t, conn, "SELECT indisvalid FROM pg_index WHERE indexrelid = $1::REGCLASS", index) {
		t.Error("the index cannot be used")
	}
}

// Of servers with different models, the one that started last decides, and they do not take turns.
func TestDenseServersDisagree(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32, "large": 48})
	first, url := open(t)
	mustAppend(t, first, many(30, "word")...)
	one := embeds(t, url, e.config("small"))
	untilServing(t, one, "small", 30)
	two := embeds(t, url, e.config("large"))
	untilServing(t, two, "large", 30)
	mustAppend(t, one, many(10, "after")...)
	untilServing(t, two, "large", 40)
	eventually(t, "the first server uses the model that serves", func() bool {
		_, by, _ := nearest(t, one, "word3")
		return by == "large"
	})
	if m := model(t, one, "small"); m.State != db.ModelKept || !contains(m.LastError, "another server") {
		t.Errorf("at the first server its model is %+v", m)
	}
	since := value[time.Time](t, superuser(t, url), "SELECT since FROM embedding.serving")
	mustAppend(t, two, many(10, "more")...)
	untilServing(t, two, "large", 50)
	if now := value[time.Time](t, superuser(t, url), "SELECT since FROM embedding.serving"); !now.Equal(since) {
		t.Error("they switched once more")
	}
}

// Before the index is built and the model serves, everything is embedded, also what was taken out of the backlog by hand.
func TestDenseSwitchMissesNothing(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(200, "word")...)
	if _, err := first.AddRecords(t.Context(), []knowledge.Draft{record("a"), record("b")}); err != nil {
		t.Fatal(err)
	}
	conn := superuser(t, url)
	e.models["small"].Break(providertest.Only("word", endpointtest.Hang()))
	var early atomic.Int64
	store := embeds(t, url, e.config("small").WithStep(func(name string) error {
		if name == "index" {
			early.Store(int64(202 - value[int](t, conn, "SELECT count(*) FROM embedding.dense")))
		}
		return nil
	}))
	eventually(t, "the provider is asked", func() bool { return len(e.models["small"].Requests()) > 1 })
	mustExec(t, conn, "DELETE FROM embedding.dense_backlog")
	e.models["small"].Mend()
	untilServing(t, store, "small", 202)
	if n := early.Load(); n != 0 {
		t.Errorf("before the index was built %d had no vectors", n)
	}
}

// An index that cannot be built is tried again, and the cause can be seen.
func TestDenseIndexFails(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(10, "word")...)
	conn := superuser(t, url)
	mustExec(t, conn, `CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()`)
	store := embeds(t, url, e.config("small"))
	eventually(t, "the cause can be seen", func() bool { return contains(model(t, store, "small").LastError, "the server's log says why") })
	mustExec(t, conn, "DROP EVENT TRIGGER refuse")
	untilServing(t, store, "small", 10)
}

// A server without a provider says that a model serves in vain, and can drop it; then nothing follows the log.
func TestDenseDropServing(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(10, "word")...)
	store := embeds(t, url, e.config("small"))
	untilServing(t, store, "small", 10)
	if err := store.DropEmbeddingModel(t.Context(), "small"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("with a provider: DropEmbeddingModel() = %v, want %s", err, fault.Conflict)
	}
	store.Close()
	if m := model(t, first, "small"); m.State != db.ModelServing || !contains(m.LastError, "no embedding provider") {
		t.Errorf("without a provider: %+v", m)
	}
	if err := first.DropEmbeddingModel(t.Context(), "small"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, first, many(10, "more")...)
	conn := superuser(t, url)
	for _, rows := range []string{"embedding.serving", "embedding.dense_backlog", "embedding.models WHERE kind = 'dense'", "pg_tables WHERE tablename LIKE 'dense\\__'"} {
		if n := value[int](t, conn, "SELECT count(*) FROM "+rows); n != 0 {
			t.Errorf("%d are left of %s", n, rows)
		}
	}
	untilServing(t, embeds(t, url, e.config("small")), "small", 20)
}

// What another server noted as the problem is gone once embedding goes on.
func TestDenseProblemOfAnother(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(10, "word")...)
	store := embeds(t, url, e.config("small"))
	untilServing(t, store, "small", 10)
	mustExec(t, superuser(t, url), "UPDATE embedding.models SET problem = 'it was down' WHERE kind = 'dense'")
	mustAppend(t, store, many(10, "more")...)
	untilServing(t, store, "small", 20)
}

// That searches use another model is logged only if they do.
func TestDenseSwitchIsNotLoggedInVain(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	conn := superuser(t, url)
	mustAppend(t, first, many(10, "word")...)
	var logged bytes.Buffer
	store, err := db.Open(t.Context(), url, 6, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var overtaken sync.Once
	err = store.StartEmbedder(t.Context(), e.config("small").WithStep(func(name string) error {
		if name == "switch" {
			overtaken.Do(func() { mustExec(t, conn, "SELECT embedding.add_dense('later', 'later', 3, '[1,0,0]')") })
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the model is given up", func() bool { return contains(model(t, store, "small").LastError, "another server") })
	store.Close()
	if contains(logged.String(), "searches use another") {
		t.Error("a switch is logged that was none")
	}
}
