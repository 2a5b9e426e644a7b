package chain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/internal/chain"
)

// written makes a session of n messages, as the log would store them. Each third has two refs.
func written(session string, n int) []*chain.Entry {
	entries := make([]*chain.Entry, n)
	var prev *chain.Hash
	for i := range entries {
		content, none := fmt.Sprintf("message %d of %s", i+1, session), chain.JSON("{}")
		thread := chain.Sum([]byte("thread"))
		e := &chain.Entry{Message: chain.Message{
			ID: int64(100 + 2*i), SessionHash: chain.Sum([]byte(session)), Sequence: int64(i + 1), PrevHash: prev, ThreadHash: &thread,
			EventType: chain.EventMessage, Content: &content, Attachments: &none, Salt: make([]byte, chain.SaltBytes),
			CreatedAt: time.Unix(int64(i/2), 0),
		}}
		var refs []chain.Ref
		for r := range i % 3 {
			refs = append(refs, chain.Ref{Type: chain.RefContext, Hash: chain.Sum([]byte{byte(r)})})
			e.Refs = append(e.Refs, chain.StoredRef{Ref: refs[r], Position: int32(r + 1), ThreadHash: &thread})
		}
		e.RefsDigest = chain.RefsDigest(refs)
		seal(e)
		entries[i], prev = e, ptr(e.Hash)
	}
	return entries
}

func ptr[T any](v T) *T { return &v }

// seal makes an entry's digests and hash right, as someone can who rewrites the log.
func seal(e *chain.Entry) {
	e.ContentDigest = chain.Sum(chain.ContentPreimage(e.Salt, *e.Content, *e.Attachments, e.Ambient))
	e.Hash = e.ComputeHash()
	e.IDDigest = chain.IDDigest(e.ID, e.Hash)
}

func verify(entries []*chain.Entry) *chain.Verifier {
	v := chain.NewVerifier()
	for _, e := range entries {
		v.Add(e)
	}
	return v
}

// brief gives breaks as "REASON sequence", in order.
func brief(breaks []chain.Break) string {
	list := make([]string, len(breaks))
	for i, b := range breaks {
		list[i] = fmt.Sprint(b.Reason, " ", *b.Sequence)
	}
	return strings.Join(list, ", ")
}

func TestVerifier(t *testing.T) {
	t.Parallel()
	other := chain.Sum([]byte("other"))
	tests := []struct {
		name   string
		change func([]*chain.Entry) []*chain.Entry
		want   string
		detail string
	}{
		{"untouched", func(l []*chain.Entry) []*chain.Entry { return l }, "", ""},
		{"the second is missing", func(l []*chain.Entry) []*chain.Entry { return slices.Delete(l, 1, 2) }, "GAP 2", "message 2 is missing"},
		{"the first is missing", func(l []*chain.Entry) []*chain.Entry { return l[1:] }, "GAP 1", "message 1 is missing"},
		{"three are missing", func(l []*chain.Entry) []*chain.Entry { return slices.Delete(l, 1, 4) }, "GAP 2, GAP 3, GAP 4", "messages 2 to 4 are missing"},
		{"two are missing, apart", func(l []*chain.Entry) []*chain.Entry { return slices.Delete(slices.Delete(l, 3, 4), 1, 2) }, "GAP 2, GAP 4", ""},
		{"the last is missing: a chain cannot tell", func(l []*chain.Entry) []*chain.Entry { return l[:5] }, "", ""},
		{"rehashed alone", func(l []*chain.Entry) []*chain.Entry {
			*l[2].Content = "other"
			seal(l[2])
			return l
		}, "BROKEN_LINK 4", "message 3 is"},
		{"rewritten from there on: a chain cannot tell", func(l []*chain.Entry) []*chain.Entry {
			*l[2].Content = "other"
			for i := 2; i < len(l); i++ {
				if i > 2 {
					l[i].PrevHash = ptr(l[i-1].Hash)
				}
				seal(l[i])
			}
			return l
		}, "", ""},
		{"two at one place", func(l []*chain.Entry) []*chain.Entry {
			twin := *l[2]
			text := "twin"
			twin.Content = &text
			seal(&twin)
			return slices.Insert(l, 3, &twin)
		}, "FORK 3", "claims sequence 3 as well"},
		{"two with one predecessor", func(l []*chain.Entry) []*chain.Entry {
			l[3].PrevHash = l[2].PrevHash
			seal(l[3])
			return l[:4]
		}, "FORK 4", "prev_hash is that of message"},
		{"the first names a predecessor", func(l []*chain.Entry) []*chain.Entry {
			l[0].PrevHash = &other
			seal(l[0])
			return l[:1]
		}, "BROKEN_LINK 1", "the first message of a session has none"},
		{"the second names none", func(l []*chain.Entry) []*chain.Entry {
			l[1].PrevHash = nil
			seal(l[1])
			return l[:2]
		}, "BROKEN_LINK 2", "prev_hash is absent"},
		{"below the first", func(l []*chain.Entry) []*chain.Entry {
			l[0].Sequence = 0
			seal(l[0])
			return l[:1]
		}, "BROKEN_LINK 0", "below 1"},
		{"older", func(l []*chain.Entry) []*chain.Entry {
			l[4].CreatedAt = time.Unix(0, 0)
			seal(l[4])
			return l[:5]
		}, "CLOCK 5", "created_at"},
		{"a lower id", func(l []*chain.Entry) []*chain.Entry {
			l[4].ID = 3
			seal(l[4])
			return l
		}, "CLOCK 5", "id 3 does not follow"},
		{"the same id", func(l []*chain.Entry) []*chain.Entry {
			l[4].ID = l[3].ID
			seal(l[4])
			return l
		}, "CLOCK 5", "does not follow"},
		{"altered and its predecessor missing", func(l []*chain.Entry) []*chain.Entry {
			l[2].Importance = 2
			return slices.Delete(l, 1, 2)
		}, "HASH_MISMATCH 3, GAP 2", ""},
		{"two altered in a row", func(l []*chain.Entry) []*chain.Entry {
			l[2].Importance, l[3].Importance = 2, 2
			return l
		}, "HASH_MISMATCH 3, HASH_MISMATCH 4", ""},
		{"content and its digest", func(l []*chain.Entry) []*chain.Entry {
			*l[2].Content = "other"
			l[2].ContentDigest = chain.Sum(chain.ContentPreimage(l[2].Salt, *l[2].Content, *l[2].Attachments, nil))
			return l
		}, "HASH_MISMATCH 3", "a field that the hash covers"},
		{"a part of the content moved into the salt", func(l []*chain.Entry) []*chain.Entry {
			// The digest covers the same bytes, cut in another place.
			m := l[2]
			*m.Content = "not \x00\x00\x00\x04evil"
			seal(m)
			m.Salt = append(m.Salt, "\x00\x00\x00\x0cnot "...)
			*m.Content = "evil"
			if chain.Sum(chain.ContentPreimage(m.Salt, *m.Content, *m.Attachments, nil)) != m.ContentDigest {
				panic("the digests differ")
			}
			return l[:3]
		}, "HASH_MISMATCH 3", "salt has 24 bytes"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := passes(c.change(written("b", 6))); got != (c.want == "") {
				t.Errorf("a scan passes it: %t, want %t", got, c.want == "")
			}
			// A sound session before and after: nothing spills over.
			entries := append(written("a", 3), c.change(written("b", 6))...)
			v := verify(append(entries, written("c", 2)...))
			if got := brief(v.Breaks()); got != c.want || v.Valid() != (c.want == "") {
				t.Errorf("breaks = %s, want %s", got, c.want)
			}
			for _, b := range v.Breaks() {
				if !strings.Contains(b.Detail, c.detail) || b.Session != chain.Sum([]byte("b")) {
					t.Errorf("break = %+v, want %q in it", b, c.detail)
				}
			}
			if v.Sessions() != 3 || v.Messages() != int64(len(entries)+2) {
				t.Errorf("%d sessions, %d messages", v.Sessions(), v.Messages())
			}
		})
	}
}

// A gap names the missing message by what its successor says.
func TestVerifierNamesTheMissing(t *testing.T) {
	t.Parallel()
	l := written("s", 4)
	missing := *l[2]
	breaks := verify(slices.Delete(l, 2, 3)).Breaks()
	if len(breaks) != 1 || breaks[0].MessageHash == nil || *breaks[0].MessageHash != missing.Hash || *breaks[0].Sequence != 3 {
		t.Errorf("breaks = %+v, want a gap at 3 of %s", breaks, missing.Hash)
	}
}

// A gap of any size is reported at once, and its end one by one.
func TestVerifierBoundsGaps(t *testing.T) {
	t.Parallel()
	l := written("s", 2)
	l[1].Sequence = 1 << 62
	seal(l[1])
	v := verify(l)
	if n := len(v.Breaks()); n != 100 {
		t.Errorf("%d breaks, want 100", n)
	}
	if last := v.Breaks()[99]; *last.Sequence != 1<<62-1 || last.MessageHash == nil {
		t.Errorf("the last break = %+v", last)
	}
}

func TestVerifierStrayRefs(t *testing.T) {
	t.Parallel()
	l := written("s", 3)
	lost, session, place := chain.Sum([]byte("lost")), l[0].SessionHash, int64(2)
	v := verify(l)
	v.AddStray(chain.StrayRef{MessageHash: &lost, Position: 1})
	v.AddStray(chain.StrayRef{MessageHash: &lost, Position: 2})
	v.AddStray(chain.StrayRef{MessageHash: &l[0].Hash, Position: 1, Session: &session, Sequence: &place, Exists: true})
	v.AddStray(chain.StrayRef{Position: 1})
	breaks := v.Breaks()
	if len(breaks) != 3 || breaks[0].Reason != chain.RefsMismatch || *breaks[0].MessageHash != lost || breaks[0].Session != (chain.Hash{}) ||
		*breaks[1].MessageHash != l[0].Hash || *breaks[1].Sequence != 2 || breaks[1].Session != session || breaks[2].MessageHash != nil {
		t.Errorf("breaks = %+v", breaks)
	}
}

// The fields that the hash covers and a single alteration of each: none goes unnoticed, and none is blamed on others.
func TestVerifierFindsAnySingleAlteration(t *testing.T) {
	t.Parallel()
	flip := func(h *chain.Hash, bit int) { h[bit/8] ^= 1 << (bit % 8) }
	bit := rapid.IntRange(0, 255)
	rapid.Check(t, func(t *rapid.T) {
		l := written("s", 7)
		at := rapid.IntRange(0, 5).Draw(t, "which") // not the last: a wrong sequence of that is no gap
		e := l[at]
		optional := func(h **chain.Hash) {
			if *h == nil {
				*h = new(chain.Hash)
			} else {
				copied := **h
				*h = &copied
			}
			flip(*h, bit.Draw(t, "bit"))
		}
		text := func(s **string) {
			if *s == nil {
				*s = new(string)
			} else {
				**s += "x"
			}
		}
		alterations := []func(){
			func() { flip(&e.Hash, bit.Draw(t, "bit")) },
			func() { optional(&e.PrevHash) }, func() { optional(&e.ThreadHash) }, func() { flip(&e.OwnerID, bit.Draw(t, "bit")) },
			func() { e.PlayerIDs = append(e.PlayerIDs, chain.Hash{}) }, func() { optional(&e.MasterPlayer) }, func() { text(&e.Role) },
			func() { e.EventType = chain.EventTool }, func() { e.Importance ^= 1 << rapid.IntRange(0, 14).Draw(t, "bit") },
			func() { text(&e.Channel) }, func() { text(&e.Source) }, func() { text(&e.Content) }, func() { e.Content = nil },
			func() { *e.Attachments += " " }, func() { e.Attachments = nil }, func() { e.Ambient = new(chain.JSON) },
			func() { e.Salt[rapid.IntRange(0, 15).Draw(t, "byte")]++ }, func() { e.Salt = nil }, func() { e.Salt = e.Salt[1:] },
			func() { flip(&e.ContentDigest, bit.Draw(t, "bit")) }, func() { e.Hashtags = append(e.Hashtags, chain.Hash{}) },
			func() { optional(&e.FlagID) }, func() { optional(&e.MasterItemID) }, func() { e.ItemIDs = append(e.ItemIDs, chain.Hash{}) },
			func() { optional(&e.LocationID) }, func() { flip(&e.RefsDigest, bit.Draw(t, "bit")) },
			func() {
				e.CreatedAt = e.CreatedAt.Add(time.Duration(rapid.IntRange(1, 1e9).Draw(t, "µs")) * time.Microsecond)
			},
			func() { e.ID += int64(rapid.IntRange(1, 1e9).Draw(t, "ids")) }, func() { flip(&e.IDDigest, bit.Draw(t, "bit")) },
			func() {
				e.Refs = append(e.Refs, chain.StoredRef{Position: int32(len(e.Refs) + 1), ThreadHash: e.ThreadHash})
			},
			func() { e.Unreadable = "some column is NULL" },
			func() { e.RefsUnreadable = "some column is NULL" },
		}
		alterations[rapid.IntRange(0, len(alterations)-1).Draw(t, "alteration")]()
		breaks := verify(l).Breaks()
		if len(breaks) == 0 {
			t.Fatal("the alteration went unnoticed")
		}
		if passes(l) {
			t.Error("the alteration went unnoticed by a scan")
		}
		for _, b := range breaks {
			if *b.Sequence != int64(at+1) {
				t.Errorf("message %d was altered, and %d is blamed: %s %s", at+1, *b.Sequence, b.Reason, b.Detail)
			}
		}
	})
}
