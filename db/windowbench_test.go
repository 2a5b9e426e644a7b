package db_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/db/dbtest"
	"github.com/tzzr/context-manager/db/local"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
	"github.com/tzzr/context-manager/internal/window"
)

var agent = hashOf("ply:agent")

func newWindow(t testing.TB, store *db.DB, capacity int, task string) window.Window {
	t.Helper()
	w, err := store.CreateWindow(t.Context(), db.NewWindow{Name: "w", Agent: agent, Capacity: capacity, Task: task})
	if err != nil {
		t.Fatalf("CreateWindow() = %v", err)
	}
	return w
}

// said is a text of some twenty tokens; no two contradict each other.
func said(n int) string {
	topics := []string{"the garden", "the bakery", "the harbour", "the museum", "the library", "the stadium", "the theatre"}
	verbs := []string{"walked past", "asked about", "talked of", "read about", "looked for", "remembered", "wrote about"}
	return fmt.Sprintf("In note %d of the journey somebody %s %s and went on to the next thing on a long list.", n, verbs[n/7%7], topics[n%7])
}

// durable has the databases of a benchmark in a Postgres as servers have it: what is committed is on disk.
func durable(b *testing.B) *testing.B {
	b.Helper()
	dir, err := os.MkdirTemp("", "windows-")
	if err == nil {
		err = os.Chmod(dir, 0o711) // as root, for the postgres user to pass
	}
	if err != nil {
		b.Fatal(err)
	}
	server, err := local.Start(b.Context(), local.Config{DataDir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(server.Stop(context.WithoutCancel(b.Context())), os.RemoveAll(dir)); err != nil {
			b.Error(err)
		}
	})
	b.Setenv(dbtest.EnvURL, server.URL())
	return b
}

// BenchmarkWindows measures what the specification sets budgets for, each beside a bare committed INSERT of the same text, by
// turns. The window of 8,192 tokens is about half full, and 1,000 verified records stand by, of which many speak of its words.
func BenchmarkWindows(b *testing.B) {
	store, url := open(durable(b))
	conn := superuser(b, url)
	mustExec(b, conn, "CREATE TABLE public.bare (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content TEXT NOT NULL, at TIMESTAMPTZ NOT NULL)")
	var records []knowledge.Draft
	for i := range 1000 {
		records = append(records, knowledge.Draft{Kind: chain.RefSecretary, Book: "b", Title: fmt.Sprint("record ", i), Content: "As is known, " + said(100_000+i), Verified: true})
	}
	if _, err := store.AddRecords(b.Context(), records); err != nil {
		b.Fatal(err)
	}
	var drafts []chain.Draft
	for i := range 2000 {
		drafts = append(drafts, draft(fmt.Sprint("s", i%50), said(200_000+i)))
		if len(drafts) == 500 {
			mustAppend(b, store, drafts...)
			drafts = nil
		}
	}
	w := newWindow(b, store, 8192, "Keep notes of the journey")
	viewer := store.As(agent)
	n := 0
	half := func() {
		b.Helper()
		now, err := store.Window(b.Context(), w.ID)
		if err != nil {
			b.Fatal(err)
		}
		for ; now.Usage() < 0.5; n++ {
			written, err := viewer.WriteContext(b.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: said(n)}, nil, agent)
			if err != nil || written.Rejected != "" {
				b.Fatal(written.Rejected, err)
			}
			now = written.Window
		}
	}
	bare := func(content string) time.Duration {
		began := time.Now()
		mustExec(b, conn, "INSERT INTO public.bare (content, at) VALUES ($1, now())", content)
		return time.Since(began)
	}
	measure := func(name string, limit float64, text func(i int) string, do func(i int) time.Duration) {
		b.Run(name, func(b *testing.B) {
			half()
			var done, plain []time.Duration
			for i := 0; b.Loop(); i++ {
				plain = append(plain, bare(text(i)))
				done = append(done, do(i))
			}
			slices.Sort(done)
			slices.Sort(plain)
			ratio := float64(done[len(done)/2]) / float64(plain[len(plain)/2])
			b.ReportMetric(float64(done[len(done)/2].Microseconds()), "µs(median)")
			b.ReportMetric(float64(done[len(done)*95/100].Microseconds()), "µs(p95)")
			b.ReportMetric(float64(plain[len(plain)/2].Microseconds()), "µs-bare(median)")
			b.ReportMetric(float64(plain[len(plain)*95/100].Microseconds()), "µs-bare(p95)")
			if limit > 0 {
				b.ReportMetric(ratio, fmt.Sprintf("×bare(limit-%g)", limit))
			}
		})
	}
	var last window.Item
	measure("write", 5, said, func(int) time.Duration {
		n++
		began := time.Now()
		written, err := viewer.WriteContext(b.Context(), w.ID, window.Draft{Type: window.Knowledge, Content: said(n)}, nil, agent)
		took := time.Since(began)
		if err != nil || written.Rejected != "" {
			b.Fatal(written.Rejected, err)
		}
		last = *written.Item
		if _, err := viewer.RemoveFromWindow(b.Context(), w.ID, []string{last.ID}, agent); err != nil {
			b.Fatal(err)
		}
		return took
	})
	document := strings.Repeat(said(1)+" ", 20)
	same := func(int) string { return document }
	var entries []string
	measure("scratchpad-write", 2, same, func(int) time.Duration {
		began := time.Now()
		put, err := viewer.Offload(b.Context(), w.ID, []string{document}, agent)
		took := time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		entries = append(entries, put[0].ID)
		return took
	})
	measure("scratchpad-read", 2, same, func(i int) time.Duration {
		began := time.Now()
		if _, err := viewer.ReadScratchpad(b.Context(), entries[i%len(entries)], agent); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	})
	measure("compress-8192", 0, said, func(int) time.Duration {
		full := newWindow(b, store, 8192, "")
		for i := 0; ; i++ {
			written, err := viewer.WriteContext(b.Context(), full.ID, window.Draft{Type: []window.ContentType{window.UserMessage, window.ToolResult}[i%2], Content: strings.Repeat(said(i)+" ", 20)}, nil, agent)
			if err != nil {
				b.Fatal(err)
			}
			if written.Window.Usage() >= 0.8 {
				break
			}
		}
		began := time.Now()
		c, err := viewer.CompressWindow(b.Context(), full.ID, window.Target, agent)
		if err != nil || c.After > 8192*6/10 {
			b.Fatal(c, err)
		}
		return time.Since(began)
	})
	measure("select", 0, said, func(i int) time.Duration {
		began := time.Now()
		if _, err := viewer.SelectIntoWindow(b.Context(), w.ID, selection.Request{Query: fmt.Sprintf("who asked about the harbour in note %d", 200_000+i), Limit: 5, Threshold: 0.3}, agent); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	})
}
