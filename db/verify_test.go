package db_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// superuser gives a connection to what open gave the URL of.
func superuser(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func mustExec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// fillLog writes count messages to sessions of ten, in an order that mixes them, each fifth with two refs.
func fillLog(t testing.TB, conn *pgx.Conn, count int) {
	t.Helper()
	mustExec(t, conn, `
		WITH refs AS (SELECT ARRAY[log.sha256('ref one'), log.sha256('ref two')]::TEXT[] AS hashes), added AS (
			INSERT INTO log.messages (session_hash, thread_hash, owner_id, players_id, role, content, hashtags, refs_digest)
			SELECT log.sha256('session ' || i % ($1::INT / 10)), log.sha256('thread'), log.sha256('owner'), ARRAY[log.sha256('player')],
				'user', repeat('number ' || i || ' ', 40), ARRAY[log.sha256('tag')],
				CASE WHEN i % 5 = 0 THEN log.refs_digest(ARRAY['context', 'secretary'], refs.hashes) END
			FROM refs, generate_series(1, $1::INT) i
			RETURNING hash, refs_digest
		)
		INSERT INTO log.message_refs (message_hash, position, ref_hash, ref_type)
		SELECT a.hash, p, refs.hashes[p], (ARRAY['context', 'secretary'])[p]::log.ref_type
		FROM added a, refs, generate_series(1, 2) p WHERE a.refs_digest <> log.refs_digest('{}', '{}')`, count)
	mustExec(t, conn, "ANALYZE log.messages, log.message_refs")
}

func TestVerifyReports(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	empty, err := store.VerifyLog(t.Context(), nil)
	if err != nil || !empty.Valid || empty.Sessions != 0 || empty.Messages != 0 {
		t.Errorf("VerifyLog() of an empty log = %+v, %v", empty, err)
	}
	none, err := store.VerifySession(t.Context(), hashOf("nowhere"), nil)
	if err != nil || !none.Valid || none.Length != 0 || none.Head != nil || none.Session != hashOf("nowhere") {
		t.Errorf("VerifySession() of no session = %+v, %v", none, err)
	}
	fillLog(t, superuser(t, url), 1000)
	last := mustAppend(t, store, draft("mine", "one"), draft("mine", "two"))[1]
	var steps []chain.Progress
	log, err := store.VerifyLog(t.Context(), func(p chain.Progress) { steps = append(steps, p) })
	if err != nil || !log.Valid || log.Sessions != 101 || log.Messages != 1002 || log.Took <= 0 {
		t.Errorf("VerifyLog() = %+v, %v", log, err)
	}
	if end := steps[len(steps)-1]; !end.Done || end.Checked != 1002 || end.Total != 1002 {
		t.Errorf("the last progress = %+v", end)
	}
	mine, err := store.VerifySession(t.Context(), last.SessionHash, nil)
	if err != nil || !mine.Valid || mine.Length != 2 || mine.Head == nil || *mine.Head != last.Hash {
		t.Errorf("VerifySession() = %+v, %v", mine, err)
	}
}

// A row that Postgres itself cannot print is named, and those behind it are still checked.
func TestVerifyUnreadableRow(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	written := mustAppend(t, store, draft("s", "1"), draft("s", "2"), draft("s", "3"), draft("s", "4"), draft("t", "1"), draft("t", "2"))
	conn := superuser(t, url)
	mustExec(t, conn, `
		CREATE CAST (BYTEA AS JSONB) WITHOUT FUNCTION;
		ALTER TABLE log.messages DISABLE TRIGGER ALL`)
	bad := []chain.Message{written[1], written[2], written[5]}
	for _, m := range bad {
		mustExec(t, conn, `UPDATE log.messages SET attachments = '\x00000000'::BYTEA::JSONB WHERE hash = $1`, m.Hash.String())
	}
	log, err := store.VerifyLog(t.Context(), nil)
	if err != nil || log.Messages != 6 || len(log.Breaks) != len(bad) {
		t.Fatalf("VerifyLog() = %d messages, %s, %v", log.Messages, words(log.Breaks), err)
	}
	for _, m := range bad {
		found := false
		for _, b := range log.Breaks {
			found = found || b.MessageHash != nil && *b.MessageHash == m.Hash && *b.Sequence == m.Sequence &&
				b.Session == m.SessionHash && b.Reason == chain.HashMismatch && strings.Contains(b.Detail, "cannot be read")
		}
		if !found {
			t.Errorf("VerifyLog() = %s, want message %s", words(log.Breaks), m.Hash)
		}
	}
	one, err := store.VerifySession(t.Context(), hashOf("session:t"), nil)
	if err != nil || one.Length != 2 || len(one.Breaks) != 1 || *one.Breaks[0].MessageHash != written[5].Hash {
		t.Errorf("VerifySession() = %+v, %v", one, err)
	}
}

// Refs that no message has are found, each once; and only as long as nothing else explains them.
func TestVerifyStrayRefs(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	cites := draft("s", "2")
	cites.Refs = []chain.Ref{{Type: chain.RefContext, Hash: mustAppend(t, store, draft("s", "1"))[0].Hash}}
	written := mustAppend(t, store, cites, draft("s", "3"), draft("t", "1"))
	conn := superuser(t, url)
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL; ALTER TABLE log.message_refs DISABLE TRIGGER ALL")
	stray := func(message chain.Hash, places int) {
		mustExec(t, conn, "INSERT INTO log.message_refs SELECT $1, p, log.sha256(p::TEXT), 'context' FROM generate_series(1, $2) p", message.String(), places)
	}
	check := func(name string, log []string, session []string) {
		t.Helper()
		for _, c := range []struct {
			of   string
			want []string
		}{{"VerifyLog", log}, {"VerifySession", session}} {
			var breaks []chain.Break
			if c.of == "VerifyLog" {
				report, err := store.VerifyLog(t.Context(), nil)
				breaks = report.Breaks
				if err != nil {
					t.Fatal(err)
				}
			} else {
				report, err := store.VerifySession(t.Context(), hashOf("session:s"), nil)
				breaks = report.Breaks
				if err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, b := range breaks {
				at := "?"
				if b.Sequence != nil {
					at = fmt.Sprint(*b.Sequence)
				}
				got = append(got, fmt.Sprint(b.Reason, " ", b.MessageHash.String()[:8], " ", b.Session.String()[:8], " ", at))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s: breaks differ (-want +got): %s", name, c.of, diff)
			}
		}
	}
	brief := func(reason chain.BreakReason, message, session chain.Hash, at string) []string {
		return []string{fmt.Sprint(reason, " ", message.String()[:8], " ", session.String()[:8], " ", at)}
	}
	remove := func(message chain.Hash) {
		mustExec(t, conn, "DELETE FROM log.message_refs WHERE message_hash = $1", message.String())
	}
	s := hashOf("session:s")
	check("untouched", nil, nil)
	stray(hashOf("nothing"), 3)
	check("of a message that never was", brief(chain.RefsMismatch, hashOf("nothing"), chain.Hash{}, "?"), nil)
	remove(hashOf("nothing"))
	stray(written[1].Hash, 2)
	third := brief(chain.RefsMismatch, written[1].Hash, s, "3")
	check("of a message without refs", third, third)
	remove(written[1].Hash)
	check("removed again", nil, nil)
	mustExec(t, conn, "DELETE FROM log.messages WHERE hash = $1", written[0].Hash.String())
	gap := brief(chain.Gap, written[0].Hash, s, "2")
	check("of a message that is missing", gap, gap)
}

// A superuser who rewrites ids and times with all their hashes cannot make them run backwards.
func TestVerifyClock(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	written := mustAppend(t, store, draft("s", "1"), draft("s", "2"), draft("s", "3"))
	conn := superuser(t, url)
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL; ALTER TABLE log.message_refs DISABLE TRIGGER ALL")
	last := written[2].Hash.String()
	mustExec(t, conn, "UPDATE log.messages SET id = 0, id_digest = log.id_digest(0, hash) WHERE hash = $1", last)
	wantBreak(t, store, chain.Clock, written[2].Sequence, "id 0 does not follow", "never taken in")
	mustExec(t, conn, "UPDATE log.messages SET id = 99, id_digest = log.id_digest(99, hash), created_at = created_at - '1 day'::INTERVAL WHERE hash = $1", last)
	mustExec(t, conn, "UPDATE log.messages m SET hash = log.message_hash(m), id_digest = log.id_digest(id, log.message_hash(m)) WHERE hash = $1", last)
	wantBreak(t, store, chain.Clock, written[2].Sequence, "created_at is before", "never taken in")
}

// wantBreak asks for one break of the kind at a place and, of the same message, LEAF_MISMATCH in these words.
func wantBreak(t *testing.T, store *db.DB, reason chain.BreakReason, sequence int64, detail, leaf string) {
	t.Helper()
	log, err := store.VerifyLog(t.Context(), nil)
	if err != nil || len(log.Breaks) != 2 || log.Breaks[0].Reason != reason || *log.Breaks[0].Sequence != sequence ||
		!strings.Contains(log.Breaks[0].Detail, detail) || log.Breaks[1].Reason != chain.LeafMismatch ||
		*log.Breaks[1].Sequence != sequence || !strings.Contains(log.Breaks[1].Detail, leaf) {
		t.Errorf("VerifyLog() = %s, %v, want one %s at %d: %s, and %s", words(log.Breaks), err, reason, sequence, detail, leaf)
	}
}

// Breaks beyond the limit make the log invalid all the same, and cost no memory.
func TestVerifyLimitsBreaks(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	fillLog(t, conn, 1500)
	mustExec(t, conn, "ALTER TABLE log.messages DISABLE TRIGGER ALL; UPDATE log.messages SET importance = 2")
	var last chain.Progress
	log, err := store.VerifyLog(t.Context(), func(p chain.Progress) { last = p })
	if err != nil || log.Valid || log.Messages != 1500 || len(log.Breaks) != chain.MaxBreaks || len(last.Breaks) != chain.MaxBreaks {
		t.Errorf("VerifyLog() = %d messages, valid %t, %d breaks, %v", log.Messages, log.Valid, len(log.Breaks), err)
	}
}

// What is written meanwhile is neither checked nor taken for a break.
func TestVerifyWhileOthersAppend(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	mustAppend(t, store, draft("s", "first"))
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				both := []chain.Draft{draft(fmt.Sprint("s", (w+i)%3), "more"), draft("s", "more")}
				if _, err := store.Append(ctx, both); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 10 {
		var end chain.Progress
		log, err := store.VerifyLog(t.Context(), func(p chain.Progress) { end = p })
		if err != nil || !log.Valid || log.Messages != end.Total {
			t.Errorf("VerifyLog() = %+v of %d, %v", log, end.Total, err)
		}
	}
	cancel()
	writers.Wait()
}

// A check sees the log of one moment, however long it takes.
func TestVerifySeesOneMoment(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	mustAppend(t, store, draft("s", "first"))
	locker := superuser(t, url)
	mustExec(t, locker, "BEGIN; LOCK TABLE log.message_refs IN ACCESS EXCLUSIVE MODE")
	waits := make(chan struct{})
	var once sync.Once
	done := make(chan chain.LogReport)
	go func() {
		log, err := store.VerifyLog(t.Context(), func(chain.Progress) { once.Do(func() { close(waits) }) })
		if err != nil {
			t.Error(err)
		}
		done <- log
	}()
	<-waits
	mustAppend(t, store, draft("s", "second"))
	mustExec(t, locker, "ROLLBACK")
	if log := <-done; !log.Valid || log.Messages != 1 {
		t.Errorf("VerifyLog() = %+v, want the one message that there was", log)
	}
}

func TestVerifyEndsWithContext(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	fillLog(t, conn, 100)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.VerifyLog(ended, nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("VerifyLog() after the end = %v, want %s", err, fault.Unavailable)
	}
	// While the log is locked no row comes: the check tells that it waits, and ends when it is told to.
	mustExec(t, conn, "BEGIN; LOCK TABLE log.message_refs IN ACCESS EXCLUSIVE MODE")
	waiting, cancel := context.WithCancel(t.Context())
	told := 0
	_, err := store.VerifyLog(waiting, func(p chain.Progress) {
		if told++; told == 2 {
			cancel()
		}
		if p.Done || p.Total != 100 {
			t.Errorf("progress = %+v", p)
		}
	})
	if fault.CodeOf(err) != fault.Unavailable || told < 2 {
		t.Errorf("VerifyLog() = %v after %d steps, want %s", err, told, fault.Unavailable)
	}
	mustExec(t, conn, "ROLLBACK")
	if log, err := store.VerifyLog(t.Context(), nil); err != nil || !log.Valid {
		t.Errorf("VerifyLog() afterwards = %+v, %v", log, err)
	}
}

// Not parallel: it measures the memory of the process.
func TestVerifyMemoryDoesNotGrow(t *testing.T) {
	few, many := peak(t, 2000), peak(t, 40_000)
	t.Logf("live heap at most %d kB with 2,000 messages, %d kB with 40,000", few>>10, many>>10)
	if many > few+8<<20 { // the contents of the second log are 18 MB
		t.Errorf("live heap at most %d kB with 2,000 messages, and %d kB with 40,000", few>>10, many>>10)
	}
}

// peak gives how far the live heap rises while a log of count messages is checked.
func peak(t *testing.T, count int) uint64 {
	t.Helper()
	url := dbtest.New(t)
	conn := superuser(t, url)
	fillLog(t, conn, count)
	mustExec(t, conn, "DELETE FROM embedding.backlog") // or the store would make search vectors meanwhile
	store := openURL(t, url)
	live := func() uint64 { // what a collection left, whatever was allocated since
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	live() // pools keep what they hold for one collection more
	before := live()
	done := make(chan error)
	go func() {
		log, err := store.VerifyLog(t.Context(), nil)
		if err == nil && (!log.Valid || log.Messages != int64(count)) {
			err = fmt.Errorf("VerifyLog() = %+v", log)
		}
		done <- err
	}()
	highest := before
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return highest - before
		default:
			highest = max(highest, live())
		}
	}
}

// BenchmarkVerifyLog measures rows a second, beside a binary COPY of the same rows.
func BenchmarkVerifyLog(b *testing.B) {
	store, url := open(b)
	conn := superuser(b, url)
	const count = 100_000
	fillLog(b, conn, count)
	mustExec(b, conn, "VACUUM ANALYZE log.messages, log.message_refs")
	for b.Loop() {
		start := time.Now()
		if log, err := store.VerifyLog(b.Context(), nil); err != nil || !log.Valid {
			b.Fatal(log, err)
		}
		b.ReportMetric(count/time.Since(start).Seconds(), "verified/s")
		start = time.Now()
		if _, err := conn.PgConn().CopyTo(b.Context(), discard{}, "COPY (SELECT * FROM log.messages) TO STDOUT (FORMAT binary)"); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(count/time.Since(start).Seconds(), "copied/s")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
