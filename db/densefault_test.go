package db_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

// Whatever the provider does, messages are appended and found by their words, the cause can be seen, and once it is well
// again nothing is lost.
func TestDenseSurvivesProvider(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault providertest.Fault
		want  string // a part of the cause
	}{
		{"too many requests", endpointtest.Status(http.StatusTooManyRequests, ""), "429"},
		{"too many requests, and says when", endpointtest.Status(http.StatusTooManyRequests, "0.01"), "429"},
		{"overloaded", endpointtest.Status(http.StatusServiceUnavailable, ""), "503"},
		{"no key", endpointtest.Status(http.StatusUnauthorized, ""), "EMBEDDINGS_KEY"},
		{"everything refused", endpointtest.Status(http.StatusBadRequest, ""), "400"},
		{"dies", endpointtest.Die(), "cannot be reached"},
		{"dies in the middle of its answer", endpointtest.HalfBody(), "broke off"},
		{"wrong dimension", providertest.Dimensions(16), "16 dimensions instead of 32"},
		{"not a number", providertest.Element("NaN"), "list of vectors"},
		{"too large a number", providertest.Element("1e999"), "NaN"},
		{"zeros", providertest.Zeros(), "zeros"},
		{"one too few", providertest.Missing(), "vectors for"},
		{"hangs", endpointtest.Hang(), "did not answer within"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, map[string]int{"small": 32})
			first, url := open(t)
			mustAppend(t, first, many(40, "early")...)
			store := embeds(t, url, e.within("small", 300*time.Millisecond))
			untilServing(t, store, "small", 40)
			e.models["small"].Break(c.fault)
			mustAppend(t, store, many(200, "late")...)
			eventually(t, "the cause can be seen", func() bool { return contains(model(t, store, "small").LastError, c.want) })
			if found := ask(t, store, "What did late150 say?", nil); !strings.Contains(found.Rendered, "unique150") || len(found.Notices) != 1 || !contains(found.Notices[0], "he embedding provider", "ranked by words alone.") {
				t.Errorf("by its words the message is not found, or the notice is wrong: %q, %q", found.Rendered, found.Notices)
			}
			if id, _, notice := nearest(t, store, "early3"); id != 0 || !contains(notice, "ranked by words alone") {
				t.Errorf("nearest = %d, %q; want none, and why", id, notice)
			}
			m := model(t, store, "small")
			if m.Embedded != 40 || m.Outstanding != 200 || m.Refused != 0 || m.State != db.ModelServing {
				t.Errorf("meanwhile: %+v, want 40 embedded and 200 outstanding", m)
			}
			counts, err := store.EmbeddingCounts(t.Context())
			if err != nil || len(counts) != 1 || counts[0].Failures == 0 || counts[0].Outstanding != 200 {
				t.Errorf("EmbeddingCounts() = %+v, %v", counts, err)
			}
			e.models["small"].Mend()
			untilServing(t, store, "small", 240)
		})
	}
}

// What the provider does not take for a while only is embedded later, though it embeds other texts meanwhile; so is what
// was refused for good, once a server starts with the model.
func TestDensePassingRefusals(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]providertest.Fault{
		"null": providertest.Element("null"), "400": endpointtest.Status(400, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, map[string]int{"small": 32})
			first, url := open(t)
			mustAppend(t, first, many(40, "early")...)
			store := embeds(t, url, e.config("small").WithPace(400*time.Millisecond, time.Minute)) // time to mend it before the last attempt
			untilServing(t, store, "small", 40)
			e.models["small"].Break(providertest.Only("late", fault))
			late := mustAppend(t, store, many(10, "late")...)
			eventually(t, "each was asked for twice", func() bool {
				for _, m := range late {
					if e.models["small"].Asked(*m.Content) < 2 {
						return false
					}
				}
				return true
			})
			e.models["small"].Mend()
			untilServing(t, store, "small", 50)
			if m := model(t, store, "small"); m.Refused != 0 {
				t.Errorf("%+v, want none refused", m)
			}
		})
	}
	t.Run("restarted", func(t *testing.T) {
		t.Parallel()
		e := newEndpoint(t, map[string]int{"small": 32})
		e.models["small"].Break(providertest.Only("late", endpointtest.Status(400, "")))
		first, url := open(t)
		mustAppend(t, first, many(3, "late")...)
		store := embeds(t, url, e.config("small"))
		eventually(t, "they are refused", func() bool { m := model(t, store, "small"); return m.Refused == 3 && m.Outstanding == 0 })
		store.Close()
		e.models["small"].Mend()
		untilServing(t, embeds(t, url, e.config("small")), "small", 3)
	})
}

// A text that the provider does not take is noted with its cause, and the others go on without it.
func TestDenseRefused(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]providertest.Fault{
		"refused": endpointtest.Status(http.StatusBadRequest, ""), "it fails": endpointtest.Status(http.StatusInternalServerError, ""),
		"it dies": endpointtest.Die(), "NaN": providertest.Element("null"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, map[string]int{"small": 32})
			e.models["small"].Break(providertest.Only("poison", fault))
			first, url := open(t)
			target := mustAppend(t, first, append(many(100, "word"), draft("s", "poison and more"))...)[100]
			mustAppend(t, first, many(50, "after")...)
			store := embeds(t, url, e.config("small"))
			untilServing(t, store, "small", 150)
			if m := model(t, store, "small"); m.Refused != 1 {
				t.Errorf("%+v, want one refused", m)
			}
			conn := superuser(t, url)
			if cause := value[string](t, conn, "SELECT cause FROM embedding.dense_refused WHERE source_id = $1 AND NOT records", target.ID); !contains(cause, "cannot be embedded") || contains(cause, "poison") {
				t.Errorf("cause = %q", cause)
			}
			mustErase(t, store, target.Hash)
			if n := value[int](t, conn, "SELECT count(*) FROM embedding.dense_refused"); n != 0 {
				t.Errorf("%d refusals are left of the erased message", n)
			}
		})
	}
}

// A provider that is down when the server starts is waited for.
func TestDenseStartsWithoutProvider(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	e.models["small"].Break(endpointtest.Status(http.StatusBadGateway, ""))
	_, url := open(t)
	store := embeds(t, url, e.config("small"))
	mustAppend(t, store, many(10, "word")...)
	eventually(t, "the cause can be seen", func() bool { return contains(model(t, store, "small").LastError, "502") })
	if m := model(t, store, "small"); m.State != db.ModelBuilding || m.Dimensions != nil {
		t.Errorf("%+v, want it building, of no known dimension", m)
	}
	if _, _, notice := nearest(t, store, "word"); !contains(notice, "502", "ranked by words alone") {
		t.Errorf("notice = %q", notice)
	}
	e.models["small"].Mend()
	untilServing(t, store, "small", 10)
}

// Two servers share what is outstanding, and nothing is asked for twice.
func TestDenseShared(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	written := mustAppend(t, first, many(900, "word")...)
	stores := []*db.DB{embeds(t, url, e.config("small")), embeds(t, url, e.config("small"))}
	untilServing(t, stores[0], "small", 900)
	written = append(written, mustAppend(t, stores[1], many(300, "more")...)...)
	untilServing(t, stores[1], "small", 1200)
	var sum int64
	for i, s := range stores {
		counts, err := s.EmbeddingCounts(t.Context())
		if err != nil || counts[0].Embedded == 0 {
			t.Errorf("store %d: %+v, %v", i, counts, err)
		}
		sum += counts[0].Embedded
	}
	if sum != 1200 {
		t.Errorf("they embedded %d, want 1200", sum)
	}
	for _, m := range written {
		if n := e.models["small"].Asked(*m.Content); n != 1 {
			t.Fatalf("%q was asked for %d times", *m.Content, n)
		}
	}
}

// A server that is killed between the provider's answer and its commit has lost nothing: once its lease has ended,
// another one goes on.
func TestDenseKilled(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(300, "word")...)
	var answered atomic.Int64
	killed := embeds(t, url, e.config("small").WithPace(10*time.Millisecond, 2*time.Second).WithStep(func(name string) error {
		if name == "keep" {
			if answered.Add(1) > 2 {
				return errors.New("killed")
			}
		}
		return nil
	}))
	eventually(t, "it is killed", func() bool { return answered.Load() > 3 })
	killed.Close()
	if m := model(t, first, "small"); m.Embedded == 0 || m.Embedded+m.Outstanding != 300 || m.State != db.ModelBuilding {
		t.Errorf("after it: %+v, want some embedded, and the rest outstanding", m)
	}
	untilServing(t, embeds(t, url, e.config("small")), "small", 300)
}

// A server that is closed while the provider hangs gives back what it took: another one goes on at once.
func TestDenseClosed(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(100, "word")...)
	e.models["small"].Break(providertest.Only("word", endpointtest.Hang()))
	closed := embeds(t, url, e.config("small").WithPace(10*time.Millisecond, time.Hour))
	eventually(t, "it hangs", func() bool { return e.models["small"].Asked("word99 said unique99") > 0 })
	closed.Close()
	conn := superuser(t, url)
	if n := value[int](t, conn, "SELECT count(*) FROM embedding.dense_backlog WHERE free_at > now()"); n != 0 {
		t.Errorf("%d runs are still leased", n)
	}
	e.models["small"].Mend()
	untilServing(t, embeds(t, url, e.config("small")), "small", 100)
}

// What is committed only after a model was added, by a transaction that began before, is embedded as well.
func TestDenseFilesWhatCommitsLate(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, map[string]int{"small": 32})
	first, url := open(t)
	mustAppend(t, first, many(10, "word")...)
	openOwn(t, url) // to set the logins up waits for who writes
	late := superuser(t, url)
	mustExec(t, late, "BEGIN; INSERT INTO log.messages (session_hash, owner_id, content) VALUES (log.sha256('late'), log.sha256('o'), 'committed late')")
	store := embeds(t, url, e.config("small"))
	untilServing(t, store, "small", 10)
	mustAppend(t, store, chain.Draft{SessionHash: hashOf("other"), OwnerID: hashOf("o"), Content: "later"})
	mustExec(t, late, "COMMIT")
	untilServing(t, store, "small", 12)
}
