package main

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/config"
)

// taker reads what is framed.
type taker struct{ left []byte }

func (r *taker) take(n int) []byte {
	out := r.left[:n]
	r.left = r.left[n:]
	return out
}

func (r *taker) count() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

func (r *taker) framed() []byte {
	n := r.count()
	if n == 0xFFFFFFFF {
		return nil
	}
	return r.take(int(n))
}

// Who sees a session gets its messages as the hashes cover them, one stretch after the other, each with its place in the tree.
func TestStretches(t *testing.T) {
	t.Parallel()
	s := newStage(t, newSite(t, true, config.Server{}))
	s.sealAll()
	session := s.message.SessionHash.String()
	checkpoint := func() []byte { return s.send("GET", "/checkpoint", "", nil).body }
	for name, token := range map[string]string{"client in": s.callers["client in"].token, "admin": s.admin} {
		note := checkpoint()
		got := s.send("GET", "/stretch?session="+session+"&after=0", token, nil)
		if got.status != http.StatusOK || got.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("GET /stretch for %s: %d %q %s", name, got.status, got.header.Get("Cache-Control"), got.body)
		}
		label := "context-manager/stretch/v1\n"
		r := &taker{got.body}
		if text := string(r.take(len(label))); text != label {
			t.Fatalf("it begins with %q", text)
		}
		// That an administrator reads it is sealed, too, before or after.
		if text, later := r.framed(), checkpoint(); !bytes.Equal(text, note) && !bytes.Equal(text, later) {
			t.Errorf("its checkpoint is %q, want %q or %q", text, note, later)
		}
		if witnessed, next := r.take(8), r.framed(); !bytes.Equal(witnessed, make([]byte, 8)) || next != nil {
			t.Errorf("witnessed is %x and next %q, want neither", witnessed, next)
		}
		before := int64(-1)
		count := r.count()
		for i := range count {
			hash, preimage, content, refs := r.framed(), r.framed(), r.framed(), r.framed()
			if sum := chain.Sum(preimage); !bytes.Equal(sum[:], hash) {
				t.Errorf("message %d: the preimage gives %s, want %x", i, sum, hash)
			}
			if digest := chain.Sum(content); !bytes.Contains(preimage, digest[:]) {
				t.Errorf("message %d: the content's digest is not in the preimage", i)
			}
			digest := chain.Sum(append([]byte("context-manager/refs/v1\n"), refs...))
			if !bytes.Contains(preimage, digest[:]) {
				t.Errorf("message %d: the refs' digest is not in the preimage", i)
			}
			leaf := int64(binary.BigEndian.Uint64(r.take(8)))
			if leaf <= before {
				t.Errorf("message %d has leaf %d behind %d", i, leaf, before)
			}
			before = leaf
		}
		if n := int(r.count()); count == 0 || n == 0 || len(r.left) != 32*n {
			t.Errorf("%d messages, %d hashes, and %d bytes for them", count, n, len(r.left))
		}
		end := s.send("GET", "/stretch?session="+session+"&after=1000", token, nil)
		if end.status != http.StatusOK || !bytes.HasSuffix(end.body, []byte("\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00")) {
			t.Errorf("behind the end: %d %q", end.status, end.body)
		}
	}
}
