package verifier

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/seal"
)

// MaxLine is how long a line of an export may be, in bytes. The longest message that a log can hold is shorter.
const MaxLine = 16 << 20

// maxLeavesBytes is how long the leaves of one line may be together.
const maxLeavesBytes = 4096 * seal.LeafBytes

// lines reads a file line by line. Not safe for concurrent use.
type lines struct {
	r      *bufio.Reader
	buffer []byte
	number int64 // of the last line
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 256<<10)} }

var errLongLine = fmt.Errorf("the line is longer than %d MiB", MaxLine>>20)

// next gives the next line without its end, which is the reader's until the next call; io.EOF after the last, and
// errLongLine for a line that is not read.
func (l *lines) next() ([]byte, error) {
	l.number++
	l.buffer = l.buffer[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(l.buffer)+len(part) > MaxLine+1; !long {
			l.buffer = append(l.buffer, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(l.buffer) == 0 && !long):
			return nil, err
		case long:
			return nil, errLongLine
		}
		line := l.buffer
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		return line, nil
	}
}

// entry is what a line holds: exactly one of its fields is set.
type entry struct {
	message   *message
	record    *knowledge.Record
	leaves    *leaves
	component bool
}

// message is one of the log, with its proof.
type message struct {
	chain.Entry
	proof *string
}

// leaves are those of the tree from a place on.
type leaves struct {
	first int64
	list  []seal.Leaf
}

// wire is a line as it is written. What is absent stays nil.
type wire struct {
	Component jsontext.Value `json:"component"`
	Record    *wireRecord    `json:"record"`
	Leaves    *wireLeaves    `json:"leaves"`

	Hash            *chain.Hash  `json:"hash"`
	PrevHash        *chain.Hash  `json:"prevHash"`
	Sequence        *int64       `json:"sequence"`
	SessionHash     *chain.Hash  `json:"sessionHash"`
	ThreadHash      *chain.Hash  `json:"threadHash"`
	OwnerID         *chain.Hash  `json:"ownerId"`
	PlayerIDs       []chain.Hash `json:"playerIds"`
	MasterPlayer    *chain.Hash  `json:"masterPlayer"`
	Role            *string      `json:"role"`
	EventType       *string      `json:"eventType"`
	Importance      *int16       `json:"importance"`
	Channel         *string      `json:"channel"`
	Source          *string      `json:"source"`
	Content         *string      `json:"content"`
	AttachmentsText *chain.JSON  `json:"attachmentsText"`
	AmbientText     *chain.JSON  `json:"ambientText"`
	Salt            base64Text   `json:"salt"`
	ContentDigest   *chain.Hash  `json:"contentDigest"`
	Hashtags        []chain.Hash `json:"hashtags"`
	FlagID          *chain.Hash  `json:"flagId"`
	MasterItemID    *chain.Hash  `json:"masterItemId"`
	ItemIDs         []chain.Hash `json:"itemIds"`
	LocationID      *chain.Hash  `json:"locationId"`
	Refs            []wireRef    `json:"refs"`
	RefsDigest      *chain.Hash  `json:"refsDigest"`
	CreatedAt       *string      `json:"createdAt"`
	Proof           *string      `json:"proof"`
}

type wireRef struct {
	Hash *chain.Hash `json:"hash"`
	Type string      `json:"type"`
}

type wireRecord struct {
	Hash      *chain.Hash `json:"hash"`
	Kind      string      `json:"kind"`
	Book      string      `json:"book"`
	Title     string      `json:"title"`
	Content   string      `json:"content"`
	DataText  *chain.JSON `json:"dataText"`
	Verified  *bool       `json:"verified"`
	CreatedAt *string     `json:"createdAt"`
}

type wireLeaves struct {
	First   *int64     `json:"first"`
	Entries base64Text `json:"entries"`
}

// base64Text is bytes in base64, written the one way that it is.
type base64Text []byte

// UnmarshalText reads them.
func (b *base64Text) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || base64.StdEncoding.EncodeToString(data) != string(text) {
		return errors.New("it is not in base64, or written in another way than it is")
	}
	*b = data
	return nil
}

// parse reads a line strictly: one JSON object, UTF-8, no name twice, no field that the format does not have.
func parse(line []byte) (entry, error) {
	var w wire
	if err := json.Unmarshal(line, &w, json.RejectUnknownMembers(true)); err != nil {
		return entry{}, err
	}
	alone := w
	if w.Component != nil {
		alone.Component = nil
		if w.Component.Kind() != '{' {
			return entry{}, errors.New("component is no object")
		}
		return entry{component: true}, alone.empty()
	}
	if err := noNull(line); err != nil {
		return entry{}, err
	}
	switch {
	case w.Record != nil:
		alone.Record = nil
		record, err := w.Record.record()
		return entry{record: record}, errors.Join(err, alone.empty())
	case w.Leaves != nil:
		alone.Leaves = nil
		leaves, err := w.Leaves.leaves()
		return entry{leaves: leaves}, errors.Join(err, alone.empty())
	}
	m, err := w.message()
	return entry{message: m}, err
}

// noNull refuses a line with a null: what an entry does not have is left out, and nothing is to look as if it were there.
func noNull(line []byte) error {
	if !bytes.Contains(line, []byte("null")) {
		return nil
	}
	for tokens := jsontext.NewDecoder(bytes.NewReader(line)); ; {
		switch t, err := tokens.ReadToken(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case t.Kind() == 'n':
			return fmt.Errorf("%s is null: what there is not is left out", tokens.StackPointer())
		}
	}
}

// empty refuses a component, record or leaves with fields of a message beside them.
func (w *wire) empty() error {
	rest, err := json.Marshal(w, json.OmitZeroStructFields(true))
	if err != nil || string(rest) != "{}" {
		return errors.New("it holds more than one entry")
	}
	return nil
}

// message gives the message, and refuses one that lacks what every message has.
func (w *wire) message() (*message, error) {
	for _, f := range []struct {
		name   string
		absent bool
	}{
		{"hash", w.Hash == nil}, {"sequence", w.Sequence == nil}, {"sessionHash", w.SessionHash == nil}, {"ownerId", w.OwnerID == nil},
		{"eventType", w.EventType == nil}, {"importance", w.Importance == nil}, {"contentDigest", w.ContentDigest == nil},
		{"refsDigest", w.RefsDigest == nil}, {"createdAt", w.CreatedAt == nil},
	} {
		if f.absent {
			return nil, fmt.Errorf("%s is missing", f.name)
		}
	}
	at, err := parseTime(*w.CreatedAt)
	if err != nil {
		return nil, err
	}
	eventType, err := small(*w.EventType)
	if err != nil {
		return nil, fmt.Errorf("eventType: %w", err)
	}
	m := &message{proof: w.Proof}
	m.Message = chain.Message{
		Hash: *w.Hash, PrevHash: w.PrevHash, Sequence: *w.Sequence, SessionHash: *w.SessionHash, ThreadHash: w.ThreadHash,
		OwnerID: *w.OwnerID, PlayerIDs: w.PlayerIDs, MasterPlayer: w.MasterPlayer, Role: w.Role,
		EventType: chain.EventType(eventType), Importance: *w.Importance, Channel: w.Channel, Source: w.Source,
		Content: w.Content, Attachments: w.AttachmentsText, Ambient: w.AmbientText, Salt: w.Salt,
		ContentDigest: *w.ContentDigest, Hashtags: w.Hashtags, FlagID: w.FlagID, MasterItemID: w.MasterItemID,
		ItemIDs: w.ItemIDs, LocationID: w.LocationID, RefsDigest: *w.RefsDigest, CreatedAt: at,
	}
	for i, r := range w.Refs {
		kind, err := small(r.Type)
		if err != nil || r.Hash == nil {
			return nil, fmt.Errorf("refs[%d] is no ref", i)
		}
		m.Refs = append(m.Refs, chain.StoredRef{
			Ref: chain.Ref{Type: chain.RefType(kind), Hash: *r.Hash}, Position: int32(i + 1), ThreadHash: w.ThreadHash,
		})
	}
	return m, nil
}

// wireTime is RFC 3339 with six digits of microseconds, always.
const wireTime = "2006-01-02T15:04:05.000000Z"

func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(wireTime, text)
	if err != nil || at.Year() < 1 || at.Format(wireTime) != text {
		return time.Time{}, errors.New("createdAt is no time as an export writes it, such as 2026-01-31T09:30:00.000000Z")
	}
	return at, nil
}

// small gives a type as the hash covers it. It stands in the file in capitals, and in no other way.
func small(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') }) {
		return "", fmt.Errorf("%q is not in capitals", text)
	}
	return strings.ToLower(text), nil
}

func (w *wireRecord) record() (*knowledge.Record, error) {
	kind, err := small(w.Kind)
	if err != nil || w.Hash == nil || w.DataText == nil || w.Verified == nil {
		return nil, errors.New("the record lacks hash, kind, dataText or verified")
	}
	return &knowledge.Record{
		Hash: *w.Hash, Kind: chain.RefType(kind), Book: w.Book, Title: w.Title, Content: w.Content, Data: *w.DataText, Verified: *w.Verified,
	}, nil
}

func (w *wireLeaves) leaves() (*leaves, error) {
	switch {
	case w.First == nil || *w.First < 0:
		return nil, errors.New("leaves.first is no place in a tree")
	case len(w.Entries) == 0 || len(w.Entries) > maxLeavesBytes || len(w.Entries)%seal.LeafBytes != 0:
		return nil, fmt.Errorf("leaves.entries are not 1 to %d leaves of %d bytes", maxLeavesBytes/seal.LeafBytes, seal.LeafBytes)
	}
	l := &leaves{first: *w.First}
	for at := 0; at < len(w.Entries); at += seal.LeafBytes {
		leaf, err := seal.ParseLeaf(w.Entries[at : at+seal.LeafBytes])
		if err != nil {
			return nil, err
		}
		l.list = append(l.list, leaf)
	}
	return l, nil
}
