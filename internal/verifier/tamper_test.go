package verifier

import (
	"encoding/base64"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// tampering is one way to tamper with an export. Its file is that of the sample, with all leaves, unless change makes
// another.
type tampering struct {
	name   string
	change func(s *sample, lines []object) []object
	pins   func(testing.TB, *Pins)
	want   []string // what the report names, in its order: the beginning of "REASON: detail", with "…" for any words

	python bool // docs/verify.py sees it, too
}

// of finds the line of a message.
func of(s *sample, lines []object, m *message) object {
	return lines[s.at(lines, m)]
}

func (s *sample) at(lines []object, m *message) int {
	s.t.Helper()
	at := slices.IndexFunc(lines, func(l object) bool { return l["sessionHash"] == m.SessionHash && l["sequence"] == m.Sequence })
	if at < 0 {
		s.t.Fatal("no such line")
	}
	return at
}

// named gives a session by its name.
func (s *sample) named(name string) []*message {
	s.t.Helper()
	for _, session := range s.sessions {
		if session[0].SessionHash == chain.Sum([]byte("session:"+name)) {
			return session
		}
	}
	s.t.Fatalf("no session %s", name)
	return nil
}

// edit alters the line of the message that has a value in every field.
func edit(change func(object)) func(*sample, []object) []object {
	return func(s *sample, lines []object) []object {
		change(of(s, lines, s.named("booking")[2]))
		return lines
	}
}

func set(field string, value any) func(*sample, []object) []object {
	return edit(func(l object) { l[field] = value })
}

func without(field string) func(*sample, []object) []object {
	return edit(func(l object) { delete(l, field) })
}

// drop takes messages of a session out.
func drop(session string, sequences ...int) func(*sample, []object) []object {
	return func(s *sample, lines []object) []object {
		for _, n := range sequences {
			at := s.at(lines, s.named(session)[n-1])
			lines = slices.Delete(lines, at, at+1)
		}
		return lines
	}
}

// rewrite alters the sample itself, after it was sealed, and keeps the leaves that the file lists.
func rewrite(change func(*sample)) func(*sample, []object) []object {
	return func(s *sample, lines []object) []object {
		change(s)
		return append(s.lines(false), lines[len(lines)-1])
	}
}

// again alters the sample and seals it anew, as only who has the log's key can.
func again(change func(*sample)) func(*sample, []object) []object {
	return func(s *sample, _ []object) []object {
		change(s)
		s.seal()
		return s.lines(true)
	}
}

// resign alters the checkpoint in every proof.
func resign(change func(s *sample, checkpoint string) string) func(*sample, []object) []object {
	return func(s *sample, lines []object) []object {
		for _, l := range lines {
			if proof, ok := l["proof"].(*string); ok {
				head, checkpoint, _ := strings.Cut(*proof, "\n\n")
				text := head + "\n\n" + change(s, checkpoint)
				l["proof"] = &text
			}
		}
		return lines
	}
}

var other = chain.Sum([]byte("another"))

func tamperings() []tampering {
	content := "HASH_MISMATCH: content, attachments, ambient or salt are not those"
	return slices.Concat([]tampering{
		{"content altered", set("content", "Then I leave it."), nil, []string{content}, true},
		{"attachments altered", set("attachmentsText", `{"file": "other.pdf"}`), nil, []string{content}, true},
		{"attachments written in another way", set("attachmentsText", `{"file":"plan.pdf"}`), nil, []string{content}, true},
		{"ambient altered", set("ambientText", `{"place": "beach"}`), nil, []string{content}, true},
		{"ambient taken away", without("ambientText"), nil, []string{content}, true},
		{"salt altered", set("salt", make([]byte, chain.SaltBytes)), nil, []string{content}, true},
		{"a content that begins in the salt", set("salt", make([]byte, 17)), nil, []string{"HASH_MISMATCH: salt has 17 bytes"}, true},
		{"content_digest altered", set("contentDigest", other), nil, []string{"HASH_MISMATCH: content_digest was altered"}, true},
		{"refs taken away", without("refs"), nil, []string{"REFS_MISMATCH: its refs are missing"}, true},
		{"refs in another order", edit(func(l object) { slices.Reverse(l["refs"].([]object)) }), nil, []string{"REFS_MISMATCH: its refs are not those"}, true},
		{"a ref of another type", edit(func(l object) { l["refs"].([]object)[0]["type"] = "SECRETARY" }), nil, []string{"REFS_MISMATCH: its refs are not those"}, true},
		{"refs and their digest altered", edit(func(l object) { delete(l, "refs"); l["refsDigest"] = chain.RefsDigest(nil) }), nil, []string{"HASH_MISMATCH: a field"}, true},
		{"a record altered", func(_ *sample, lines []object) []object {
			lines[0]["record"].(object)["content"] = "Not paid."
			return lines
		}, nil, []string{"HASH_MISMATCH: a field of the record was altered"}, true},
		{"hash altered", set("hash", other), nil, []string{"HASH_MISMATCH: a field", "LEAF_MISMATCH: …hash was altered"}, true},
		{"sequence altered", set("sequence", 7), nil, []string{"HASH_MISMATCH: sequence was altered: it was 3", "GAP: message 3"}, true},
		{"prevHash altered", set("prevHash", other), nil, []string{"HASH_MISMATCH: prev_hash was altered", "BROKEN_LINK"}, true},
	}, altered("ownerId", other, "playerIds", []chain.Hash{other}, "threadHash", other, "masterPlayer", other, "role", "User",
		"eventType", "ERROR", "importance", 1, "channel", "post", "source", "elsewhere", "hashtags", nil, "flagId", other,
		"masterItemId", other, "itemIds", nil, "locationId", other, "createdAt", "2026-03-01T10:02:00.000002Z"),
		[]tampering{
			{"a message taken out", drop("booking", 2), nil, []string{"GAP: message 2 is missing"}, true},
			{"two lines swapped", func(s *sample, lines []object) []object {
				a, b := s.at(lines, s.named("booking")[1]), s.at(lines, s.named("booking")[2])
				lines[a], lines[b] = lines[b], lines[a]
				return lines
			}, nil, []string{"GAP: message 2 is missing", "BROKEN_LINK: it stands behind message 3", "CLOCK", "GAP: message 3"}, true},
			{"a line twice", func(s *sample, lines []object) []object {
				at := s.at(lines, s.named("lunch")[1])
				return slices.Insert(lines, at, lines[at])
			}, nil, []string{"BROKEN_LINK: it stands behind message 2", "FORK"}, true},
			{"tail cut off", drop("booking", 4), nil, []string{"MISSING_TAIL: message 4 is in the tree"}, true},
			{"tail of two cut off", drop("booking", 4, 3), nil, []string{"MISSING_TAIL: messages 3 to 4 are in the tree"}, true},
			{"session deleted", drop("lunch", 1, 2), nil, []string{"MISSING_SESSION: its 2 messages"}, true},
			{"its first message cut off", drop("lunch", 1), nil, []string{"GAP: message 1 is missing"}, true},
			{"rewritten and rehashed from there on", rewrite(func(s *sample) {
				text := "No, it is taken."
				s.named("booking")[1].Content = &text
				s.rehash()
			}), nil, []string{"LEAF_MISMATCH: leaf 2…written anew", "LEAF_MISMATCH: leaf 5…written anew", "LEAF_MISMATCH: leaf 8…written anew"}, true},
			{"a session of its own in the place of another", rewrite(func(s *sample) {
				for _, m := range s.named("lunch") {
					m.OwnerID = other
				}
				s.rehash()
			}), nil, []string{"LEAF_MISMATCH: leaf 4", "LEAF_MISMATCH: leaf 7"}, true},
			{"older than the message before it", again(func(s *sample) {
				s.named("booking")[1].CreatedAt = epoch.Add(-time.Hour)
				s.rehash()
			}), nil, []string{"CLOCK: created_at is before"}, true},
			{"leaf positions swapped", again(func(s *sample) { s.order[2], s.order[5] = s.order[5], s.order[2] }), nil,
				[]string{"LEAF_MISMATCH: leaf 2 stands before leaf 5"}, true},
			{"proofs of two messages exchanged", func(s *sample, lines []object) []object {
				a, b := of(s, lines, s.order[4]), of(s, lines, s.order[7])
				a["proof"], b["proof"] = b["proof"], a["proof"]
				return lines
			}, nil, []string{"LEAF_MISMATCH: leaf 7", "LEAF_MISMATCH: leaf 4"}, true},
			{"proof taken away", without("proof"), nil, []string{"LEAF_MISMATCH: it has no proof"}, true},
		}, erasures(), checkpoints(), leafTamperings())
}

// altered gives a tampering for each field and value; nil takes the field away.
func altered(pairs ...any) (list []tampering) {
	for i := 0; i < len(pairs); i += 2 {
		change := set(pairs[i].(string), pairs[i+1])
		if pairs[i+1] == nil {
			change = without(pairs[i].(string))
		}
		list = append(list, tampering{pairs[i].(string) + " altered", change, nil,
			[]string{"HASH_MISMATCH: a field that the hash covers was altered"}, true})
	}
	return list
}

func erasures() []tampering {
	gone := func(session string, n int) func(*sample, []object) []object {
		return func(s *sample, lines []object) []object {
			l := of(s, lines, s.named(session)[n-1])
			for _, field := range []string{"content", "attachmentsText", "ambientText", "salt"} {
				delete(l, field)
			}
			return lines
		}
	}
	return []tampering{
		{"content taken away", gone("booking", 3), nil, []string{"HASH_MISMATCH: its content is gone without an erasure on record"}, true},
		{"content of the last session taken away", gone("lunch", 2), nil, []string{"HASH_MISMATCH: its content is gone without an erasure on record"}, true},
		{"content alone taken away", without("content"), nil, []string{"HASH_MISMATCH"}, true},
		{"salt alone taken away", without("salt"), nil, []string{"HASH_MISMATCH"}, true},
		{"erased by a message of another session", again(func(s *sample) {
			s.named("secrets")[2].Refs[0].Hash = s.named("lunch")[0].Hash
			s.named("lunch")[1].EventType = chain.EventErasure
			s.named("lunch")[1].Refs = refs(nil, chain.Ref{Type: chain.RefContext, Hash: s.named("secrets")[0].Hash})
			s.rehash()
		}), nil, []string{"HASH_MISMATCH: its content is gone without an erasure on record"}, true},
		{"erased by a message that is none of an erasure", again(func(s *sample) {
			s.named("secrets")[2].EventType = chain.EventSystem
			s.rehash()
		}), nil, []string{"HASH_MISMATCH: its content is gone without an erasure on record"}, true},
		{"erased by a ref of another type", again(func(s *sample) {
			s.named("secrets")[2].Refs[0].Type = chain.RefSecretary
			s.rehash()
		}), nil, []string{"HASH_MISMATCH: its content is gone without an erasure on record"}, true},
	}
}

func checkpoints() []tampering {
	head := seal.Head{Size: 9, Root: other}
	root := "ROOT_MISMATCH: the checkpoint does not hold"
	return []tampering{
		{"signature forged", resign(func(_ *sample, text string) string {
			at := strings.Index(text, "— ") + len("— "+origin+" ") + 40
			flipped := byte('A')
			if text[at] == 'A' {
				flipped = 'B'
			}
			return text[:at] + string(flipped) + text[at+1:]
		}), nil, []string{root}, true},
		{"signature with another number of the same class", resign(func(_ *sample, text string) string {
			at := strings.Index(text, "— "+origin+" ") + len("— "+origin+" ")
			end := at + strings.Index(text[at:], "\n")
			signature, err := base64.StdEncoding.DecodeString(text[at:end])
			if err != nil || len(signature) != 68 {
				panic("no signature")
			}
			order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
			slices.Reverse(signature[36:])
			number := new(big.Int).SetBytes(signature[36:])
			number.Add(number, order).FillBytes(signature[36:])
			slices.Reverse(signature[36:])
			return text[:at] + base64.StdEncoding.EncodeToString(signature) + text[end:]
		}), nil, []string{root}, true},
		{"signature stripped", resign(func(_ *sample, text string) string {
			body, signatures, _ := strings.Cut(text, "\n\n")
			_, others, _ := strings.Cut(signatures, "\n")
			return body + "\n\n" + others
		}), nil, []string{root}, true},
		{"all signatures stripped", resign(func(_ *sample, text string) string {
			body, _, _ := strings.Cut(text, "\n\n")
			return body + "\n"
		}), nil, []string{root}, true},
		{"size altered", resign(func(_ *sample, text string) string { return strings.Replace(text, "\n9\n", "\n8\n", 1) }), nil, []string{root}, true},
		{"root altered", resign(func(s *sample, text string) string {
			lines := strings.Split(text, "\n")
			lines[2] = base64.StdEncoding.EncodeToString(other[:])
			return strings.Join(lines, "\n")
		}), nil, []string{root}, true},
		{"signed by a key of the forger's", resign(func(s *sample, _ string) string {
			s.origin = "example.org/forger"
			return s.checkpoint(head)
		}), nil, []string{root}, true},
		{"another key pinned", nil, func(t testing.TB, p *Pins) {
			_, p.Key = logKey(t, "example.org/forger")
			p.Origin = ""
		}, []string{root}, true},
		{"another origin pinned", nil, func(_ testing.TB, p *Pins) { p.Origin = "example.org/other-log" }, []string{root}, false},
		{"cosignature stripped", resign(func(_ *sample, text string) string {
			return text[:strings.Index(text, "— "+witnessName)]
		}), nil, []string{root + ": 0 witnesses"}, false},
		{"cosignature of another witness", resign(func(_ *sample, text string) string {
			text = text[:strings.Index(text, "— "+witnessName)]
			return text + cosigned("example.org/forger", text, epoch)
		}), nil, []string{root + ": 0 witnesses"}, false},
		{"two trees of one size", func(s *sample, lines []object) []object {
			path, _, _ := strings.Cut(*s.order[8].proof, "\n\n")
			proof := path + "\n\n" + s.checkpoint(head)
			of(s, lines, s.order[8])["proof"] = &proof
			return lines
		}, nil, []string{"ROOT_MISMATCH: the log has signed two trees of 9 messages", "MISSING_TAIL"}, true},
		{"proofs for two checkpoints", func(s *sample, lines []object) []object {
			leaves := s.leaves()[:8]
			h, head := grow(s.t, leaves)
			proof, err := seal.Prove(s.checkpoint(head), head, 7, h)
			if err != nil {
				s.t.Fatal(err)
			}
			of(s, lines, s.order[7])["proof"] = &proof
			return lines
		}, nil, []string{"ROOT_MISMATCH: its proof is for a checkpoint of 8 messages, and one before it for 9", "MISSING_TAIL"}, true},
		{"no message at all", func(_ *sample, lines []object) []object { return lines[:1] }, nil, []string{"ROOT_MISMATCH: the file has no message"}, true},
	}
}

func leafTamperings() []tampering {
	entries := func(change func([]byte) []byte) func(*sample, []object) []object {
		return func(_ *sample, lines []object) []object {
			l := lines[len(lines)-1]["leaves"].(object)
			l["entries"] = change(l["entries"].([]byte))
			return lines
		}
	}
	return []tampering{
		{"a listed leaf altered", entries(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), nil, []string{"ROOT_MISMATCH: the leaves that the file lists do not give"}, true},
		{"listed leaves swapped", entries(func(b []byte) []byte {
			return slices.Concat(b[96:192], b[:96], b[192:])
		}), nil, []string{"ROOT_MISMATCH: the leaves that the file lists do not give"}, true},
		{"listed leaves cut off", entries(func(b []byte) []byte { return b[:len(b)-96] }), nil, []string{"ROOT_MISMATCH: the file lists 8 leaves"}, true},
		{"listed leaves that begin later", func(_ *sample, lines []object) []object {
			lines[len(lines)-1]["leaves"].(object)["first"] = 1
			return lines
		}, nil, []string{"ROOT_MISMATCH: the leaves from 1 on stand where those from 0 on belong"}, true},
		{"a session deleted and its leaves not listed", func(s *sample, lines []object) []object {
			l := lines[len(lines)-1]["leaves"].(object)
			l["entries"] = slices.Concat(l["entries"].([]byte)[:4*96], l["entries"].([]byte)[5*96:7*96], l["entries"].([]byte)[8*96:])
			return drop("lunch", 1, 2)(s, lines)
		}, nil, []string{"ROOT_MISMATCH: the file lists 7 leaves"}, true},
	}
}

func (c *tampering) file(t testing.TB) ([]byte, Pins) {
	t.Helper()
	s := newSample(t)
	s.seal()
	lines, p := s.lines(true), pins(t)
	if c.change != nil {
		lines = c.change(s, lines)
	}
	if c.pins != nil {
		c.pins(t, &p)
	}
	return file(t, lines), p
}

func matches(got, want string) bool {
	before, after, _ := strings.Cut(want, "…")
	return strings.HasPrefix(got, before) && strings.Contains(got[len(before):], after)
}
