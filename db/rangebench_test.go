package db_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/selection"
)

// longThread fills a log with 120,000 messages, 100,000 of them in one thread over 20 sessions, of which Ana sees 18.
func longThread(b *testing.B, store *db.DB) db.Line {
	b.Helper()
	line := db.Line{Hash: hashOf("long"), Thread: true}
	drafts := make([]chain.Draft, 1000)
	for n := range 120 {
		for i := range drafts {
			k := n*1000 + i
			d := from(ana, fmt.Sprint("session ", k/6000), fmt.Sprintf("message %d about the %s and the %s, of some length, as people write", k, rangeWords[k%6], rangeWords[k/7%6]), ben)
			if k/6000%10 == 3 {
				d.OwnerID, d.PlayerIDs = cleo, nil
			}
			if k%6 != 0 {
				d.ThreadHash = &line.Hash
			}
			if k%100 == 0 {
				d.EventType = chain.EventError
			}
			if k%50 == 1 {
				d.Importance = 2
			}
			d.Channel, d.CreatedAt = ptr([]string{"webchat", "voice", "mail"}[k%3]), ptr(longAgo.Add(time.Duration(k)*time.Second))
			drafts[i] = d
		}
		mustAppend(b, store, drafts...)
	}
	return line
}

// BenchmarkRange measures what is found by position in a thread of 100,000 messages, by an administrator and by a player who
// takes part in most of it: "cold" is the first time that a server looks.
func BenchmarkRange(b *testing.B) {
	store, url := open(b)
	line := longThread(b, store)
	session := db.Line{Hash: hashOf("session 1")}
	if _, err := store.Pool().Exec(b.Context(), "VACUUM ANALYZE log.messages"); err != nil {
		b.Fatal(err)
	}
	message, _, err := store.As(ana).Range(b.Context(), line, selection.Match{}, 85_000, 1)
	if err != nil || len(message) == 0 {
		b.Fatal(message, err)
	}
	text, channel := selection.Match{Text: ptr("harbour lantern")}, selection.Match{Channels: []string{"voice"}, Importance: []int{0}}
	for who, view := range map[string]*db.DB{"administrator": store, "player": store.As(ana)} {
		for name, do := range map[string]func() error{
			"range":              func() error { _, _, err := view.Range(b.Context(), line, selection.Match{}, 89_900, 50); return err },
			"range of 200":       func() error { _, _, err := view.Range(b.Context(), line, selection.Match{}, 20_000, 200); return err },
			"range in a session": func() error { _, _, err := view.Range(b.Context(), session, selection.Match{}, 5_900, 50); return err },
			"range of a channel": func() error { _, _, err := view.Range(b.Context(), line, channel, 20_000, 50); return err },
			"range by words":     func() error { _, _, err := view.Range(b.Context(), line, text, 2_000, 50); return err },
			"place": func() error {
				_, _, err := view.Place(b.Context(), line, selection.Match{}, message[0].Hash)
				return err
			},
			"placeAt": func() error {
				_, err := view.PlaceAt(b.Context(), line, selection.Match{}, message[0].CreatedAt)
				return err
			},
			"marks": func() error { _, err := view.Marks(b.Context(), line, selection.Match{}); return err },
			"threads by words": func() error {
				_, err := view.Threads(b.Context(), selection.Scope{}, text, db.Page[chain.Hash]{Limit: 50})
				return err
			},
			"threads by channel": func() error {
				_, err := view.Threads(b.Context(), selection.Scope{}, channel, db.Page[chain.Hash]{Limit: 50})
				return err
			},
			"threads": func() error {
				_, err := view.Threads(b.Context(), selection.Scope{}, selection.Match{}, db.Page[chain.Hash]{Limit: 50})
				return err
			},
			"threads counted": func() error { _, err := view.CountThreads(b.Context(), selection.Scope{}, text); return err },
			"usage":           func() error { _, err := view.ComponentUsage(b.Context(), ben, "day"); return err },
		} {
			b.Run(name+"/"+who, func(b *testing.B) {
				for b.Loop() {
					if err := do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("range, cold/player", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			other := openURL(b, url)
			b.StartTimer()
			if _, _, err := other.As(ana).Range(b.Context(), line, selection.Match{}, 89_900, 50); err != nil {
				b.Fatal(err)
			}
		}
	})
}
