package db_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// BenchmarkView reads a page of a thread and asks for context, as an administrator, as a player who is a member of all 400
// sessions, and as one of a single session; with row-level security behind the store, and without. The lower quartile is
// least disturbed by others on the machine.
func BenchmarkView(b *testing.B) {
	store, url := open(b)
	v := newVocabulary(5000, 3)
	crowd(b, store, v, 10_000)
	mustAppend(b, store, from(hashOf("few"), "s3", "named once"))
	conn := superuser(b, url)
	mustExec(b, conn, "VACUUM ANALYZE")
	unfenced := openURL(b, url)
	unfenced.Unfence()
	thread := hashOf("session:s3")
	request := selection.Request{Query: v.text(6), Limit: 10, Scope: selection.Scope{Threads: []chain.Hash{thread}}}
	for _, seen := range []struct {
		name string
		view *db.DB
	}{
		{"administrator", store}, {"many", store.As(hashOf("a"))}, {"few", store.As(hashOf("few"))},
		{"many without fence", unfenced.As(hashOf("a"))}, {"few without fence", unfenced.As(hashOf("few"))},
	} {
		for name, do := range map[string]func() error{
			"page": func() error {
				_, err := seen.view.ThreadMessages(b.Context(), thread, db.Page[chain.Hash]{Limit: 50})
				return err
			},
			"context": func() error {
				_, err := seen.view.RequestContext(b.Context(), request)
				return err
			},
			"newest": func() error {
				_, err := seen.view.Messages(b.Context(), selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 50, Backward: true})
				return err
			},
		} {
			b.Run(name+"/"+seen.name, func(b *testing.B) {
				var took []time.Duration
				before := backendTime(b, conn)
				for b.Loop() {
					began := time.Now()
					if err := do(); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/4].Microseconds()), "quartile-µs")
				b.ReportMetric(float64((backendTime(b, conn)-before).Microseconds())/float64(b.N), "postgres-µs/op")
			})
		}
	}
}

// backendTime is what the processes of a database have used of the processors.
func backendTime(b *testing.B, conn *pgx.Conn) (total time.Duration) {
	rows, err := conn.Query(b.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		b.Fatal(err)
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
		for _, ticks := range fields[11:13] {
			n, _ := strconv.Atoi(ticks)
			total += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return total
}
