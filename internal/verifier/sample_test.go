package verifier

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/chain/chaintest"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/seal"
)

// Keys of the tests. They are in the open: nothing that they sign means anything.
const (
	origin      = "example.org/test-log"
	witnessName = "example.org/test-witness"
)

func seed(name string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte("a key for tests: " + name))
	return ed25519.NewKeyFromSeed(sum[:])
}

// logKey gives the signer of a log's name, and its verifier key.
func logKey(t testing.TB, name string) (note.Signer, string) {
	t.Helper()
	key := seed(name)
	vkey, err := note.NewEd25519VerifierKey(name, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Split(vkey, "+")[1]
	signer, err := note.NewSigner("PRIVATE+KEY+" + name + "+" + id + "+" + base64.StdEncoding.EncodeToString(append([]byte{1}, key.Seed()...)))
	if err != nil {
		t.Fatal(err)
	}
	return signer, vkey
}

// witnessKey gives a witness's verifier key: as a log's, with 4 for the kind of key.
func witnessKey(name string) (vkey string, id []byte) { return keyUnder(name, name) }

// keyUnder gives a witness's key under the name of another.
func keyUnder(owner, name string) (vkey string, id []byte) {
	public := append([]byte{4}, seed(owner).Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte(name+"\n"), public...))
	return fmt.Sprintf("%s+%x+%s", name, sum[:4], base64.StdEncoding.EncodeToString(public)), sum[:4]
}

// cosigned gives a witness's line for a note, as cosignature/v1 says.
func cosigned(name, text string, at time.Time) string {
	body, _, _ := strings.Cut(text, "\n\n")
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s\n", at.Unix(), body)
	_, id := witnessKey(name)
	signature := binary.BigEndian.AppendUint64(slices.Clone(id), uint64(at.Unix()))
	signature = append(signature, ed25519.Sign(seed(name), []byte(message))...)
	return "— " + name + " " + base64.StdEncoding.EncodeToString(signature) + "\n"
}

// sample is a small log in memory: what a test changes before it is written as an export.
type sample struct {
	t        testing.TB
	sessions [][]*message // in the order of the export
	order    []*message   // of the tree
	records  []knowledge.Record
	origin   string
	witness  string // empty: none
}

var epoch = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// newSample makes three sessions of nine messages: one has a value in every field, one was erased.
func newSample(t testing.TB) *sample {
	s := &sample{t: t, origin: origin, witness: witnessName}
	record := knowledge.Record{Kind: chain.RefAccountant, Book: "2026", Title: "Invoice 7", Content: "Paid in full.", Data: `{"total": 1.10}`, Verified: true}
	record.Hash = record.ComputeHash()
	s.records = []knowledge.Record{record}

	first := s.start("booking", "Is the room free?", "Yes, until Sunday.")
	full := s.add(first, "Then I take it. ¡Gracias! 🐘")
	for _, v := range chaintest.Vectors(t, "../../testdata/chain") {
		if v.Name == "every field" {
			m := v.Message
			m.Content, m.SessionHash, m.Sequence, m.CreatedAt = full.Content, full.SessionHash, full.Sequence, full.CreatedAt
			full.Message = m
		}
	}
	full.Refs = refs(full.ThreadHash, chain.Ref{Type: chain.RefContext, Hash: s.sessions[first][0].Hash}, chain.Ref{Type: chain.RefAccountant, Hash: record.Hash})
	s.add(first, "Booked.")

	second := s.start("secrets", "My number is 42.", "I keep it.")
	s.rehash()
	erased := s.sessions[second][0]
	erasure := s.add(second, `{"by":"admin","reason":"asked for it"}`)
	erasure.EventType = chain.EventErasure
	erasure.Refs = refs(nil, chain.Ref{Type: chain.RefContext, Hash: erased.Hash})
	third := s.start("lunch", "Soup?", "Salad.")
	s.rehash()
	erased.Content, erased.Attachments, erased.Ambient, erased.Salt = nil, nil, nil, nil

	a, b, c := s.sessions[first], s.sessions[second], s.sessions[third]
	s.order = []*message{a[0], b[0], a[1], b[1], c[0], a[2], b[2], c[1], a[3]}
	slices.SortFunc(s.sessions, func(a, b []*message) int { return a[0].SessionHash.Compare(b[0].SessionHash) })
	return s
}

func (s *sample) start(name string, contents ...string) (session int) {
	s.sessions = append(s.sessions, nil)
	session = len(s.sessions) - 1
	for _, content := range contents {
		s.add(session, content)
		s.sessions[session][0].SessionHash = chain.Sum([]byte("session:" + name))
	}
	return session
}

// add appends a message; rehash makes it fit.
func (s *sample) add(session int, content string) *message {
	attachments, n := chain.JSON(`{}`), int64(len(s.sessions[session]))
	salt := chain.Sum([]byte("salt of " + content))
	m := &message{}
	m.Message = chain.Message{
		Sequence: n + 1, OwnerID: chain.Sum([]byte("ply:guest")), EventType: chain.EventMessage, Content: &content,
		Attachments: &attachments, Salt: salt[:chain.SaltBytes], CreatedAt: epoch.Add(time.Duration(n)*time.Minute + time.Microsecond),
	}
	if n > 0 {
		m.SessionHash = s.sessions[session][0].SessionHash
	}
	s.sessions[session] = append(s.sessions[session], m)
	return m
}

func refs(thread *chain.Hash, list ...chain.Ref) []chain.StoredRef {
	stored := make([]chain.StoredRef, len(list))
	for i, r := range list {
		stored[i] = chain.StoredRef{Ref: r, Position: int32(i + 1), ThreadHash: thread}
	}
	return stored
}

// rehash computes all digests, links and hashes anew, as whoever can write to the database could.
func (s *sample) rehash() {
	for _, session := range s.sessions {
		var prev *chain.Hash
		for _, m := range session {
			if m.Content != nil {
				m.ContentDigest = chain.Sum(chain.ContentPreimage(m.Salt, *m.Content, *m.Attachments, m.Ambient))
			}
			list := make([]chain.Ref, len(m.Refs))
			for i := range m.Refs {
				list[i] = m.Refs[i].Ref
			}
			m.RefsDigest, m.PrevHash = chain.RefsDigest(list), prev
			m.Hash = m.ComputeHash()
			hash := m.Hash
			prev = &hash
		}
	}
}

func leafOf(m *message) seal.Leaf {
	return seal.Leaf{Session: m.SessionHash, Sequence: m.Sequence, Message: m.Hash}
}

// hashes keeps the tree's hashes, so that every proof can be made of them.
type hashes []tlog.Hash

// ReadHashes gives hashes by tlog's indexes.
func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		out[i] = h[at]
	}
	return out, nil
}

// grow makes the tree of leaves.
func grow(t testing.TB, leaves []seal.Leaf) (h hashes, head seal.Head) {
	t.Helper()
	tree := new(seal.Tree)
	for i, leaf := range leaves {
		stored, err := tlog.StoredHashesForRecordHash(int64(i), leaf.Hash(), h)
		if err != nil {
			t.Fatal(err)
		}
		h = append(h, stored...)
		tree.Add(leaf.Hash())
	}
	return h, tree.Head()
}

func (s *sample) leaves() []seal.Leaf {
	list := make([]seal.Leaf, len(s.order))
	for i, m := range s.order {
		list[i] = leafOf(m)
	}
	return list
}

// checkpoint signs a head.
func (s *sample) checkpoint(head seal.Head) string {
	s.t.Helper()
	signer, _ := logKey(s.t, s.origin)
	text, err := seal.Sign(signer, head)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.witness != "" {
		text += cosigned(s.witness, text, epoch.Add(time.Hour))
	}
	return text
}

// seal makes the tree of the messages as they are now, and gives each its proof.
func (s *sample) seal() {
	s.t.Helper()
	h, head := grow(s.t, s.leaves())
	checkpoint := s.checkpoint(head)
	for i, m := range s.order {
		proof, err := seal.Prove(checkpoint, head, int64(i), h)
		if err != nil {
			s.t.Fatal(err)
		}
		m.proof = &proof
	}
}

type object map[string]any

// lines gives the export, one object a line: records, messages, and the leaves if it is of the whole log.
func (s *sample) lines(whole bool) (lines []object) {
	for _, r := range s.records {
		lines = append(lines, object{"record": object{
			"hash": r.Hash, "kind": strings.ToUpper(string(r.Kind)), "book": r.Book, "title": r.Title, "content": r.Content,
			"dataText": r.Data, "verified": r.Verified, "createdAt": epoch.Format(wireTime),
		}})
	}
	for _, session := range s.sessions {
		for _, m := range session {
			lines = append(lines, object(line(m)))
		}
	}
	if whole {
		var entries []byte
		for _, leaf := range s.leaves() {
			entries = append(entries, leaf.Bytes()...)
		}
		lines = append(lines, object{"leaves": object{"first": 0, "entries": entries}})
	}
	return lines
}

// line gives a message as an export writes it.
func line(m *message) object {
	o := object{
		"hash": m.Hash, "sequence": m.Sequence, "sessionHash": m.SessionHash, "ownerId": m.OwnerID, "playerIds": m.PlayerIDs,
		"eventType": strings.ToUpper(string(m.EventType)), "importance": m.Importance, "contentDigest": m.ContentDigest,
		"hashtags": m.Hashtags, "itemIds": m.ItemIDs, "refsDigest": m.RefsDigest, "createdAt": m.CreatedAt.Format(wireTime),
		"prevHash": m.PrevHash, "threadHash": m.ThreadHash, "masterPlayer": m.MasterPlayer, "role": m.Role, "channel": m.Channel,
		"source": m.Source, "content": m.Content, "attachmentsText": m.Attachments, "ambientText": m.Ambient,
		"flagId": m.FlagID, "masterItemId": m.MasterItemID, "locationId": m.LocationID, "proof": m.proof,
	}
	if m.Salt != nil {
		o["salt"] = m.Salt
	}
	list := []object{}
	for _, r := range m.Refs {
		list = append(list, object{"hash": r.Hash, "type": strings.ToUpper(string(r.Type))})
	}
	o["refs"] = list
	for name, value := range o {
		if text, err := json.Marshal(value); err != nil || string(text) == "null" || string(text) == "[]" {
			delete(o, name) // what is absent is left out
		}
	}
	return o
}

// file writes lines.
func file(t testing.TB, lines []object) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, l := range lines {
		if err := encoder.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func policyOf(t testing.TB, pins Pins) seal.Policy {
	t.Helper()
	policy, err := pins.Policy()
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// pins are those of a sample.
func pins(t testing.TB) Pins {
	_, key := logKey(t, origin)
	vkey, _ := witnessKey(witnessName)
	return Pins{Key: key + "\n", Origin: origin, Witnesses: []string{vkey}, Quorum: -1}
}
