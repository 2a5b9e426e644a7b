package chain

import (
	"fmt"
	"slices"
	"strings"
)

// verdict is what a message's own check found.
type verdict struct {
	sound      bool // the fields give the hash, so they are what was written
	placed     bool // id and id_digest belong together
	refsSound  bool // the refs are what was written
	unreadable bool
	linked     bool // its place is known, though prev_hash does not tell it
	computed   Hash
}

// hashes are those that the successor may name: which of the stored and the computed one was written is not known.
func (d *verdict) hashes(e *Entry) []Hash {
	if d.unreadable || d.computed == e.Hash {
		return []Hash{e.Hash}
	}
	return []Hash{e.Hash, d.computed}
}

// checkMessage holds a message against its own hash and digests.
func (v *Verifier) checkMessage(e *Entry) verdict {
	if e.Unreadable != "" {
		v.add(e, HashMismatch, "it cannot be read: %s", e.Unreadable)
		v.explain(e.Hash)
		return verdict{unreadable: true}
	}
	v.scratch = e.appendPreimage(v.scratch[:0])
	got := verdict{computed: Sum(v.scratch)}
	got.sound = got.computed == e.Hash
	got.placed = IDDigest(e.ID, e.Hash) == e.IDDigest
	content, contentProblem := v.contentDigest(e)
	refs, refsProblem := v.refsDigest(e)
	got.refsSound = refsProblem == ""
	if !got.sound {
		v.alteration(e, &got, content, contentProblem, refs, refsProblem)
		return got
	}
	if contentProblem != "" {
		v.add(e, HashMismatch, "%s", contentProblem)
	}
	if !got.placed {
		v.add(e, HashMismatch, "id %d and id_digest do not belong together: one of them was altered", e.ID)
	}
	if refsProblem != "" {
		v.add(e, RefsMismatch, "%s", refsProblem)
	}
	return got
}

// contentDigest computes content_digest from what is stored, and says what is wrong with it, if anything. Of a content
// that is gone, the digest is all that is left: whether that may be so shows later in the session.
func (v *Verifier) contentDigest(e *Entry) (Hash, string) {
	switch {
	case e.gone() && e.EventType == EventErasure:
		return e.ContentDigest, "its content is gone, and an ERASURE message cannot be erased"
	case e.gone():
		return e.ContentDigest, ""
	case e.Content == nil || e.Salt == nil || e.Attachments == nil:
		return Hash{}, "content, attachments or salt are gone, and not all of them"
	case len(e.Salt) != SaltBytes: // a longer one could hide the start of another content
		return Hash{}, fmt.Sprintf("salt has %d bytes and not %d", len(e.Salt), SaltBytes)
	}
	v.scratch = appendContentPreimage(v.scratch[:0], e.Salt, *e.Content, *e.Attachments, e.Ambient)
	digest := Sum(v.scratch)
	if digest != e.ContentDigest {
		return digest, "content, attachments, ambient or salt are not those that content_digest was made of"
	}
	return digest, ""
}

// refsDigest computes refs_digest from the rows of refs, and says what is wrong with them, if anything.
func (v *Verifier) refsDigest(e *Entry) (Hash, string) {
	if e.RefsUnreadable != "" {
		return Hash{}, "its refs cannot be read: " + e.RefsUnreadable
	}
	if len(e.Refs) == 0 {
		if e.RefsDigest != v.noRefs {
			return v.noRefs, "its refs are missing"
		}
		return v.noRefs, ""
	}
	slices.SortStableFunc(e.Refs, func(a, b StoredRef) int { return int(a.Position) - int(b.Position) })
	v.scratch = append(v.scratch[:0], refsLabel...)
	v.scratch.count(len(e.Refs))
	problem := ""
	for i := range e.Refs {
		r := &e.Refs[i]
		v.scratch.text(string(r.Type))
		v.scratch.bytes(r.Hash[:])
		switch {
		case problem != "":
		case r.Position != int32(i+1):
			problem = fmt.Sprintf("its refs are not at positions 1 to %d: there is one at %d and none at %d", len(e.Refs), r.Position, i+1)
		case text(r.ThreadHash) != text(e.ThreadHash):
			problem = fmt.Sprintf("thread_hash of the ref at position %d is not that of the message", r.Position)
		}
	}
	digest := Sum(v.scratch)
	if digest != e.RefsDigest {
		problem = strings.Join(append(nonEmpty(problem), "its refs are not those that refs_digest was made of"), "; ")
	}
	return digest, problem
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// suspect is a field that may have been altered, with what it may have been.
type suspect struct {
	field   string
	words   string
	restore func(*Message)
}

// suspects are what can be tried on a message whose fields do not give its hash.
func (v *Verifier) suspects(e *Entry, content, refs Hash) []suspect {
	list := []suspect{
		{"content_digest", "the content has " + content.String(), func(m *Message) { m.ContentDigest = content }},
		{"refs_digest", "the refs have " + refs.String(), func(m *Message) { m.RefsDigest = refs }},
	}
	places := []int64{v.seq + 1}
	for _, g := range v.gaps {
		if g.hash == e.Hash {
			places = append(places, g.seq)
		}
	}
	for _, seq := range places {
		list = append(list, suspect{"sequence", fmt.Sprintf("it was %d", seq), func(m *Message) { m.Sequence = seq }})
	}
	if v.seq == 0 {
		return append(list, suspect{"prev_hash", "it was absent", func(m *Message) { m.PrevHash = nil }})
	}
	for _, head := range v.heads {
		list = append(list, suspect{"prev_hash", "it was " + head.String(), func(m *Message) { m.PrevHash = &head }})
	}
	return list
}

// alteration reports a message whose fields do not give its hash, and which was altered where that can be told:
// put right, it gives the hash.
func (v *Verifier) alteration(e *Entry, got *verdict, content Hash, contentProblem string, refs Hash, refsProblem string) {
	v.explain(got.computed)
	v.explain(e.Hash)
	field, detail := v.altered(e, got, content, refs)
	v.add(e, HashMismatch, "%s", detail)
	switch field {
	case "hash":
		if len(e.Refs) == 0 { // they are filed under the hash that it had
			refsProblem = ""
		}
	case "content_digest":
		contentProblem = ""
	case "prev_hash":
		got.linked = true
		v.add(e, BrokenLink, "prev_hash is %s, and message %d is %s", text(e.PrevHash), v.seq, v.lastHash())
	}
	if contentProblem != "" {
		v.add(e, HashMismatch, "%s", contentProblem)
	}
	// If only refs_digest or only the threads differ, it is the message that was altered and not its refs.
	if refsProblem != "" && (field != "refs_digest" && refs != e.RefsDigest || e.RefsUnreadable != "") {
		v.add(e, RefsMismatch, "%s", refsProblem)
	}
}

// altered tells which field was altered, if one alone was and it can be told, and says it in words.
func (v *Verifier) altered(e *Entry, got *verdict, content, refs Hash) (field, detail string) {
	if !got.placed && IDDigest(e.ID, got.computed) == e.IDDigest {
		return "hash", fmt.Sprintf("hash was altered: the fields give %s", got.computed)
	}
	for _, s := range v.suspects(e, content, refs) {
		tried := e.Message
		s.restore(&tried)
		if tried.ComputeHash() == e.Hash {
			return s.field, s.field + " was altered: " + s.words
		}
	}
	return "", fmt.Sprintf("a field that the hash covers was altered: the fields give %s", got.computed)
}
