package chain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

// erased is the session of written("s", 6) whose second message was erased by its fifth.
func erased(t *testing.T) []*chain.Entry {
	t.Helper()
	entries := written("s", 6)
	thread := *entries[0].ThreadHash
	e := entries[4]
	e.EventType = chain.EventErasure
	e.Refs = []chain.StoredRef{{Ref: chain.Ref{Type: chain.RefContext, Hash: entries[1].Hash}, Position: 1, ThreadHash: &thread}}
	e.RefsDigest = chain.RefsDigest([]chain.Ref{e.Refs[0].Ref})
	seal(e)
	entries[5].PrevHash = ptr(e.Hash)
	seal(entries[5])
	gone(entries[1])
	return entries
}

func gone(e *chain.Entry) { e.Content, e.Attachments, e.Ambient, e.Salt = nil, nil, nil, nil }

func TestVerifierErasure(t *testing.T) {
	t.Parallel()
	const onRecord = "its content is gone without an erasure on record"
	other := chain.Sum([]byte("other"))
	tests := []struct {
		name   string
		change func(l []*chain.Entry)
		want   string
		detail string
		erased int64
	}{
		{"erased", func([]*chain.Entry) {}, "", "", 1},
		{"another is gone, without an erasure", func(l []*chain.Entry) { gone(l[2]) }, "HASH_MISMATCH 3", onRecord, 1},
		{"one that follows the erasure is gone", func(l []*chain.Entry) { gone(l[5]) }, "HASH_MISMATCH 6", onRecord, 1},
		{"the salt is left", func(l []*chain.Entry) { l[1].Salt = make([]byte, chain.SaltBytes) }, "HASH_MISMATCH 2", "not all of them", 0},
		{"ambient is left", func(l []*chain.Entry) { l[1].Ambient = ptr(chain.JSON("{}")) }, "HASH_MISMATCH 2", "not all of them", 0},
		{"attachments are left", func(l []*chain.Entry) { l[1].Attachments = ptr(chain.JSON("{}")) }, "HASH_MISMATCH 2", "not all of them", 0},
		{"another content is left", func(l []*chain.Entry) {
			l[1].Content, l[1].Attachments, l[1].Salt = ptr("other"), ptr(chain.JSON("{}")), make([]byte, chain.SaltBytes)
		}, "HASH_MISMATCH 2", "not those that content_digest was made of", 0},
		{"the erased one was altered as well", func(l []*chain.Entry) { l[1].Importance++ }, "HASH_MISMATCH 2", "was altered", 1},
		{"the erasure is gone itself", func(l []*chain.Entry) { gone(l[4]) }, "HASH_MISMATCH 5", "cannot be erased", 1},
		{"the erasure's reason was altered", func(l []*chain.Entry) { *l[4].Content += "!" }, "HASH_MISMATCH 5", "", 1},
		{"the erasure was altered", func(l []*chain.Entry) { l[4].Importance++ }, "HASH_MISMATCH 5, HASH_MISMATCH 2", "", 0},
		{"the erasure's ref is another", func(l []*chain.Entry) { l[4].Refs[0].Hash = other }, "REFS_MISMATCH 5, HASH_MISMATCH 2", "", 0},
		{"the erasure's ref is gone", func(l []*chain.Entry) { l[4].Refs = nil }, "REFS_MISMATCH 5, HASH_MISMATCH 2", "", 0},
		{"the erasure is an ordinary message", func(l []*chain.Entry) {
			l[4].EventType = chain.EventMessage
			seal(l[4])
			l[5].PrevHash = ptr(l[4].Hash)
			seal(l[5])
		}, "HASH_MISMATCH 2", onRecord, 0},
		{"the erasure's ref is of another type", func(l []*chain.Entry) {
			l[4].Refs[0].Type = chain.RefSecretary
			l[4].RefsDigest = chain.RefsDigest([]chain.Ref{l[4].Refs[0].Ref})
			seal(l[4])
			l[5].PrevHash = ptr(l[4].Hash)
			seal(l[5])
		}, "HASH_MISMATCH 2", onRecord, 0},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			entries := erased(t)
			c.change(entries)
			if got := passes(entries); got != (c.want == "") {
				t.Errorf("a scan passes it: %t, want %t", got, c.want == "")
			}
			v := verify(entries)
			v.End()
			breaks := v.Breaks()
			if got := brief(breaks); got != c.want || v.Valid() != (c.want == "") {
				t.Fatalf("breaks = %s, want %s", got, c.want)
			}
			if v.Erased() != c.erased {
				t.Errorf("Erased() = %d, want %d", v.Erased(), c.erased)
			}
			if c.detail != "" && !hasDetail(breaks, c.detail) {
				t.Errorf("breaks = %+v, want words with %q", breaks, c.detail)
			}
		})
	}
}

// An erasure counts in its own session only, and only for what was there before it.
func TestVerifierErasureElsewhere(t *testing.T) {
	t.Parallel()
	first, second := written("a", 3), erased(t)
	gone(first[0])
	second[4].Refs[0].Hash = first[0].Hash
	second[4].RefsDigest = chain.RefsDigest([]chain.Ref{second[4].Refs[0].Ref})
	seal(second[4])
	second[5].PrevHash = ptr(second[4].Hash)
	seal(second[5])
	for _, entries := range [][]*chain.Entry{slices.Concat(first, second), slices.Concat(second, first)} {
		v := verify(entries)
		v.End()
		if got := len(v.Breaks()); got != 2 || v.Erased() != 0 {
			t.Errorf("breaks = %+v and %d erased, want one in each session and none", v.Breaks(), v.Erased())
		}
	}
	late := erased(t)
	late[1], late[4] = late[4], late[1]
	v := chain.NewVerifier()
	for _, e := range late {
		v.Add(e)
	}
	v.End()
	if v.Erased() != 0 {
		t.Errorf("Erased() = %d with the erasure before what it names, want 0", v.Erased())
	}
}

func TestVerifierReturned(t *testing.T) {
	t.Parallel()
	entries := erased(t)
	v := verify(entries)
	v.End()
	v.AddReturned(entries[1].SessionHash, 2, entries[1].Hash, 5)
	if got := brief(v.Breaks()); got != "HASH_MISMATCH 2" || v.Valid() {
		t.Errorf("breaks = %s, want HASH_MISMATCH 2", got)
	}
}

func hasDetail(breaks []chain.Break, part string) bool {
	return slices.ContainsFunc(breaks, func(b chain.Break) bool { return strings.Contains(b.Detail, part) })
}
