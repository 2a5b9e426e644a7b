// Package chaintest reads the golden vectors of testdata/chain, for the tests of everything that computes hashes.
// The vectors were made by a program of their own, in another language, from docs/chain.md.
package chaintest

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// Vector is one message and what its digests must be.
type Vector struct {
	Name string
	chain.Message
	Refs             []chain.Ref
	AttachmentsInput string  // JSON as a writer may give it; Attachments is what Postgres makes of it
	AmbientInput     *string // the same of Ambient
	ContentPreimage  []byte  // nil where it would be long
	Preimage         []byte
	IDDigest         chain.Hash
}

// stored is a vector as the file has it. Hashes are hexadecimal, bytes are base64, event and ref types are in the
// upper case of the API.
type stored struct {
	Name    string
	Message struct {
		SessionHash, OwnerID               chain.Hash
		Sequence                           int64
		PrevHash, ThreadHash, MasterPlayer *chain.Hash
		FlagID, MasterItemID, LocationID   *chain.Hash
		PlayerIDs, Hashtags, ItemIDs       []chain.Hash
		Role, Channel, Source, Content     *string
		EventType, Salt                    string
		Importance                         int16
		Attachments                        chain.JSON
		Ambient                            *chain.JSON
		CreatedAt                          time.Time
		ContentRepeat                      *struct {
			Text  string
			Count int
		}
		Refs []struct {
			Type string
			Hash chain.Hash
		}
	}
	AttachmentsInput                          string
	AmbientInput                              *string
	ContentPreimage, Preimage                 []byte
	ContentDigest, RefsDigest, Hash, IDDigest chain.Hash
	ID                                        int64
}

// Vectors reads messages.json of a folder, such as "../../testdata/chain".
func Vectors(t testing.TB, folder string) []Vector {
	t.Helper()
	var file []stored
	read(t, filepath.Join(folder, "messages.json"), &file)
	vectors := make([]Vector, len(file))
	for i := range file {
		vectors[i] = file[i].vector(t)
	}
	return vectors
}

func (s *stored) vector(t testing.TB) Vector {
	t.Helper()
	m := &s.Message
	content := m.Content
	if r := m.ContentRepeat; r != nil {
		text := strings.Repeat(r.Text, r.Count)
		content = &text
	}
	salt, err := hex.DecodeString(m.Salt)
	if err != nil {
		t.Fatalf("%s: salt: %v", s.Name, err)
	}
	v := Vector{
		Name: s.Name, AttachmentsInput: s.AttachmentsInput, AmbientInput: s.AmbientInput,
		ContentPreimage: s.ContentPreimage, Preimage: s.Preimage, IDDigest: s.IDDigest,
		Message: chain.Message{
			ID: s.ID, Hash: s.Hash, PrevHash: m.PrevHash, Sequence: m.Sequence, SessionHash: m.SessionHash,
			ThreadHash: m.ThreadHash, OwnerID: m.OwnerID, PlayerIDs: m.PlayerIDs, MasterPlayer: m.MasterPlayer,
			Role: m.Role, EventType: chain.EventType(strings.ToLower(m.EventType)), Importance: m.Importance,
			Channel: m.Channel, Source: m.Source, Content: content, Attachments: &m.Attachments, Ambient: m.Ambient,
			Salt: salt, ContentDigest: s.ContentDigest, Hashtags: m.Hashtags, FlagID: m.FlagID,
			MasterItemID: m.MasterItemID, ItemIDs: m.ItemIDs, LocationID: m.LocationID, RefsDigest: s.RefsDigest,
			CreatedAt: m.CreatedAt,
		},
	}
	for _, r := range m.Refs {
		v.Refs = append(v.Refs, chain.Ref{Type: chain.RefType(strings.ToLower(r.Type)), Hash: r.Hash})
	}
	return v
}

// Record is one record of knowledge and its hash.
type Record struct {
	Name   string
	Record struct {
		Kind, Book, Title, Content string
		Data                       chain.JSON
		Verified                   bool
	}
	DataInput string // JSON as a writer may give it
	Preimage  []byte
	Hash      chain.Hash
}

// Records reads records.json of a folder.
func Records(t testing.TB, folder string) (records []Record) {
	t.Helper()
	read(t, filepath.Join(folder, "records.json"), &records)
	return records
}

func read(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
