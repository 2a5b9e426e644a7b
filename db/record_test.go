package db_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/knowledge"
)

func record(title string) knowledge.Draft {
	return knowledge.Draft{Kind: chain.RefSecretary, Book: "book", Title: title, Content: "content of " + title, Verified: true}
}

func TestAddRecords(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var wait sync.WaitGroup
	hashes := make([]chain.Hash, 12)
	for i := range hashes {
		wait.Go(func() { // the same records at once, in both orders
			drafts := []knowledge.Draft{record("a"), record("b")}
			if i%2 == 0 {
				drafts[0], drafts[1] = drafts[1], drafts[0]
			}
			added, err := store.AddRecords(t.Context(), drafts)
			if err != nil {
				t.Errorf("AddRecords() = %v", err)
				return
			}
			hashes[i] = added[(i+1)%2].Hash
		})
	}
	wait.Wait()
	for _, h := range hashes {
		if h != hashes[0] {
			t.Fatalf("the same record has two hashes: %s, %s", h, hashes[0])
		}
	}
	other := record("a")
	other.Verified = false
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	other.CreatedAt = &at
	added, err := store.AddRecords(t.Context(), []knowledge.Draft{other})
	if err != nil || added[0].Hash == hashes[0] || !added[0].CreatedAt.Equal(at) || added[0].Verified {
		t.Errorf("the same, unverified: %+v, %v", added, err)
	}
	text := "CONTENT of a"
	rows, err := store.Records(t.Context(), db.RecordFilter{Search: &text}, db.Page[int64]{Limit: 1})
	if err != nil || len(rows.Items) != 1 || !rows.More || rows.Items[0].Value.Hash != added[0].Hash {
		t.Errorf("Records() = %+v, %v, want the latest of two", rows, err)
	}
	for book, want := range map[string]int64{other.Book: 3, other.Book[1:]: 0} {
		if n, err := store.CountRecords(t.Context(), db.RecordFilter{Book: &book}); err != nil || n != want {
			t.Errorf("%d records of the book %q, %v; want %d", n, book, err, want)
		}
	}
	kind := chain.RefAccountant
	if n, err := store.CountRecords(t.Context(), db.RecordFilter{Kind: &kind}); err != nil || n != 0 {
		t.Errorf("%d records of the ledgers, %v", n, err)
	}
}

func TestAddRecordsRefuses(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	for want, change := range map[string]func(*knowledge.Draft){
		"records[1].kind: ":                                 func(d *knowledge.Draft) { d.Kind = chain.RefContext },
		"records[1].title: is empty":                        func(d *knowledge.Draft) { d.Title = "" },
		"records[1].book: has 257 bytes":                    func(d *knowledge.Draft) { d.Book = strings.Repeat("b", 257) },
		"records[1].content: has 1048577 bytes; at most 1":  func(d *knowledge.Draft) { d.Content = strings.Repeat("c", 1<<20+1) },
		"created_at: is outside of what the database holds": func(d *knowledge.Draft) { d.CreatedAt = ptr(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) },
		"records[1].data: holds the character U+0000":       func(d *knowledge.Draft) { d.Data = ptr(chain.JSON(`"\u0000"`)) },
		"records[1].data: holds a number of more than 1000": func(d *knowledge.Draft) { d.Data = ptr(chain.JSON(`-1e-1000`)) },
	} {
		bad := record("bad")
		change(&bad)
		_, err := store.AddRecords(t.Context(), []knowledge.Draft{record("good"), bad})
		if fault.CodeOf(err) != fault.BadUserInput || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("AddRecords() = %v, want %q", err, want)
		}
	}
	if n, err := store.CountRecords(t.Context(), db.RecordFilter{}); err != nil || n != 0 {
		t.Errorf("after all refusals there are %d records, %v", n, err)
	}
}
