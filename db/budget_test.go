package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/selection"
)

// large appends messages of a MiB of content each, and one of a MiB of attachments, all sent with the first and in one
// thread, and gives their hashes.
func large(t *testing.T, store *db.DB, n int) []chain.Hash {
	t.Helper()
	first := mustAppend(t, store, draft("large", "first"))[0].Hash
	hashes := []chain.Hash{first}
	for i := range n {
		d := draft("large", strings.Repeat(fmt.Sprint(i%10), chain.MaxContentBytes))
		if i == 0 {
			d.Content, d.Attachments = "small", new(chain.JSON(`{"a":"`+strings.Repeat("x", chain.MaxContentBytes-10)+`"}`))
		}
		d.ThreadHash, d.Refs = new(hashOf("thread")), []chain.Ref{{Type: chain.RefContext, Hash: first}}
		hashes = append(hashes, mustAppend(t, store, d)[0].Hash)
	}
	return hashes
}

// pages reads a list to its end, or from its end to its beginning, and gives the hashes of each page in the list's order.
func pages[K any](t *testing.T, limit int, backward bool, read func(db.Page[K]) (db.Rows[chain.Message, K], error)) (sizes []int, all []chain.Hash) {
	t.Helper()
	for p := (db.Page[K]{Limit: limit, Backward: backward}); ; {
		rows, err := read(p)
		if err != nil {
			t.Fatal(err)
		}
		var page []chain.Hash
		for _, item := range rows.Items {
			page = append(page, item.Value.Hash)
		}
		sizes = append(sizes, len(page))
		if backward {
			all = append(page, all...)
		} else {
			all = append(all, page...)
		}
		if !rows.More {
			return sizes, all
		}
		if backward {
			p.Before = &rows.Items[0].Key
		} else {
			p.After = &rows.Items[len(rows.Items)-1].Key
		}
	}
}

// A page has no more than 16 MiB of messages, says that there are more, and the next begins behind it.
func TestPagesOfLargeMessages(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	hashes := large(t, store, 18)
	session, thread := hashOf("session:large"), hashOf("thread")
	for _, view := range []struct {
		name  string
		store *db.DB
	}{{"all", store}, {"a player", store.As(hashOf("ply:owner"))}} {
		for _, backward := range []bool{false, true} {
			inScope, found := pages(t, 200, backward, func(p db.Page[chain.Hash]) (db.Rows[chain.Message, chain.Hash], error) {
				return view.store.Messages(t.Context(), selection.Scope{}, selection.Match{}, p)
			})
			check(t, view.name+": in scope", backward, inScope, found, hashes)
			inSession, found := pages(t, 200, backward, func(p db.Page[int64]) (db.Rows[chain.Message, int64], error) {
				return view.store.SessionMessages(t.Context(), session, p)
			})
			check(t, view.name+": in a session", backward, inSession, found, hashes)
			inThread, found := pages(t, 200, backward, func(p db.Page[chain.Hash]) (db.Rows[chain.Message, chain.Hash], error) {
				return view.store.ThreadMessages(t.Context(), thread, p)
			})
			check(t, view.name+": in a thread", backward, inThread, found, hashes[1:])
		}
		citing, found := pages(t, 200, false, func(p db.Page[chain.Hash]) (db.Rows[chain.Message, chain.Hash], error) {
			return view.store.CitingMessages(t.Context(), hashes[0], p)
		})
		check(t, view.name+": citing", false, citing, found, hashes[1:])
	}
}

// What is small on disk counts as what it is in memory: text that compresses well, and numbers that are long in figures.
func TestPagesOfSmallRows(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	repeated, numbers := chain.JSON(`{"a":"`+strings.Repeat("x", 19_000)+`"}`), chain.JSON(`[`+strings.Repeat("1e999,", 14)+`1]`)
	var hashes []chain.Hash
	for part := range 6 {
		drafts := make([]chain.Draft, 100)
		for i := range drafts {
			drafts[i] = draft("small", fmt.Sprint(part, i))
			drafts[i].Attachments, drafts[i].Ambient = &repeated, &numbers
			if part > 2 {
				drafts[i].Attachments, drafts[i].Ambient = &numbers, &repeated
			}
		}
		for _, m := range mustAppend(t, store, drafts...) {
			hashes = append(hashes, m.Hash)
		}
	}
	conn := superuser(t, url)
	if n := value[int](t, conn, `SELECT count(*) FROM log.messages WHERE pg_column_size(attachments) < 256 AND pg_column_size(ambient) < 256
		AND octet_length(attachments::TEXT) > 14000 AND octet_length(ambient::TEXT) > 14000`); n != len(hashes) {
		t.Fatalf("%d of %d messages are small on disk and large in memory", n, len(hashes))
	}
	sizes, found := pages(t, len(hashes), false, func(p db.Page[int64]) (db.Rows[chain.Message, int64], error) {
		return store.SessionMessages(t.Context(), hashOf("session:small"), p)
	})
	if len(sizes) != 2 || sizes[0] < 400 || !slices.Equal(found, hashes) {
		t.Errorf("pages of %v, %d messages; want two of 16 MiB at most", sizes, len(found))
	}
}

func check(t *testing.T, name string, backward bool, sizes []int, found, want []chain.Hash) {
	t.Helper()
	if len(sizes) != 2 || sizes[0] < 15 || sizes[0] > 17 || !slices.Equal(found, want) {
		t.Errorf("%s, backward %t: pages of %v, %d messages; want two of 16 MiB at most, and %d messages in their order", name, backward, sizes, len(found), len(want))
	}
}

// What is read for one answer is bounded, whoever reads it at the same time.
func TestBudget(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	hashes := large(t, store, 18)
	exceeded := 0
	answer := func() context.Context {
		exceeded = 0
		return db.WithBudget(t.Context(), db.NewBudget(func() { exceeded++ }))
	}
	page := db.Page[chain.Hash]{Limit: 200, After: &hashes[1]}
	ctx := answer()
	read, err := 0, error(nil)
	for err == nil && read < 1000 {
		var rows db.Rows[chain.Message, chain.Hash]
		if rows, err = store.Messages(ctx, selection.Scope{}, selection.Match{}, page); err == nil {
			read += len(rows.Items)
		}
	}
	if read < 28 || read > 40 || !errors.Is(err, db.ErrBudget) || exceeded != 1 {
		t.Errorf("pages for one answer: %d messages, then %v; want those of 32 MiB, and ErrBudget once", read, err)
	}
	ctx = answer()
	for i := range 1 {
		if found, err := store.MessagesByHash(ctx, hashes); err != nil || len(found) != len(hashes) {
			t.Errorf("messages by hash, %d. time: %d, %v", i, len(found), err)
		}
	}
	if found, err := store.MessagesByHash(ctx, hashes); !errors.Is(err, db.ErrBudget) || len(found) != 0 || exceeded != 1 {
		t.Errorf("36 MiB of messages by hash: %d, %v; want ErrBudget", len(found), err)
	}
	if _, err := store.MessagesByHash(t.Context(), hashes); err != nil {
		t.Errorf("without a budget: %v", err)
	}
	// Reads at the same time wait for one another rather than count what they might have come to.
	ctx = answer()
	ended := make(chan error)
	for range 20 {
		go func() {
			err := error(fault.New(fault.Unavailable, "not asked yet"))
			for fault.CodeOf(err) == fault.Unavailable { // of so many on a slow machine, some wait too long for a connection
				_, err = store.Messages(ctx, selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 1})
			}
			ended <- err
		}()
	}
	for range 20 {
		if err := <-ended; err != nil {
			t.Errorf("20 small reads at once: %v", err)
		}
	}
}
