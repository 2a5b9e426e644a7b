// Package cursor writes and reads the opaque cursors of connections. A cursor holds the key of a row, so a page
// starts where the last one ended, whatever was written in between.
package cursor

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
)

// Numbers, Hashes, Components, Checkpoints, Tokens, Selections, Windows, Entries and Operations are lists by what they are ordered by. A value is the list's name, which its cursors
// hold, so that a list takes no cursor of another one. A cursor is base64url of the name, a colon, and the key.
type (
	Numbers     string // by an id of a record, or a sequence
	Hashes      string // by a message's place, which is not told: it would say how many others there are
	Components  string // by rank, then namespace and key
	Checkpoints string // by the name that they were signed under, then size
	Tokens      string // by time, then UUID
	Selections  string // by time, then UUID
	Windows     string // by time, then UUID
	Entries     string // by an entry's place, which is not told
	Operations  string // by an operation's place, which is not told
)

// The lists.
const (
	Messages        Hashes     = "messages"
	SessionMessages Numbers    = "session.messages"
	CitedBy         Hashes     = "citedBy"
	Records         Numbers    = "records"
	RecordCitedBy   Hashes     = "record.citedBy"
	Sessions        Hashes     = "sessions"
	Threads         Hashes     = "threads"
	ThreadMessages  Hashes     = "thread.messages"
	AllComponents   Components = "components"

	AllCheckpoints Checkpoints = "checkpoints"
	AllTokens      Tokens      = "tokens"

	Quarantines          Numbers    = "quarantines"
	QuarantineSelections Selections = "quarantine.selections"
	AllSelections        Selections = "selections"
	RecordSelections     Selections = "record.selections"

	AllWindows       Windows    = "windows"
	WindowScratchpad Entries    = "window.scratchpad"
	WindowOperations Operations = "window.operations"
)

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func encode[L ~string](list L, parts ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(string(list) + ":" + strings.Join(parts, ":")))
}

func decode[L ~string](list L, cursor string, parts int) ([]string, bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, false
	}
	found, key, ok := strings.Cut(string(text), ":")
	if !ok || found != string(list) {
		return nil, false
	}
	split := strings.SplitN(key, ":", parts)
	return split, len(split) == parts
}

// Encode gives the cursor of an id or a sequence.
func (l Numbers) Encode(n int64) string { return encode(l, strconv.FormatInt(n, 10)) }

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Numbers) Parse(cursor string) (int64, bool) {
	parts, ok := decode(l, cursor, 1)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(parts[0], 10, 64)
	return n, err == nil
}

// Encode gives the cursor of a message.
func (l Hashes) Encode(h chain.Hash) string { return encode(l, h.String()) }

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Hashes) Parse(cursor string) (chain.Hash, bool) {
	parts, ok := decode(l, cursor, 1)
	if !ok {
		return chain.Hash{}, false
	}
	h, err := chain.ParseHash(parts[0])
	return h, err == nil
}

// Encode gives the cursor of a place in a list of components.
func (l Components) Encode(k db.ComponentKey) string {
	return encode(l, strconv.Itoa(int(k.Rank)), k.Namespace, k.Key)
}

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Components) Parse(cursor string) (db.ComponentKey, bool) {
	parts, ok := decode(l, cursor, 3)
	if !ok || strings.ContainsRune(parts[2], 0) {
		return db.ComponentKey{}, false
	}
	rank, err := strconv.ParseInt(parts[0], 10, 32)
	return db.ComponentKey{Rank: int32(rank), Namespace: parts[1], Key: parts[2]}, err == nil
}

// Encode gives the cursor of a place in a list of checkpoints.
func (l Checkpoints) Encode(k db.CheckpointKey) string {
	return encode(l, strconv.Itoa(int(k.Log)), strconv.FormatInt(k.Size, 10))
}

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Checkpoints) Parse(cursor string) (db.CheckpointKey, bool) {
	parts, ok := decode(l, cursor, 2)
	if !ok {
		return db.CheckpointKey{}, false
	}
	log, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil {
		return db.CheckpointKey{}, false
	}
	size, err := strconv.ParseInt(parts[1], 10, 64)
	return db.CheckpointKey{Log: int32(log), Size: size}, err == nil
}

// Encode gives the cursor of a place in a list of tokens.
func (l Tokens) Encode(k db.TokenKey) string {
	return encode(l, strconv.FormatInt(k.At.UnixMicro(), 10), k.ID)
}

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Tokens) Parse(cursor string) (db.TokenKey, bool) {
	parts, ok := decode(l, cursor, 2)
	if !ok {
		return db.TokenKey{}, false
	}
	micros, err := strconv.ParseInt(parts[0], 10, 64)
	at := time.UnixMicro(micros).UTC()
	return db.TokenKey{At: at, ID: parts[1]}, err == nil && at.Year() >= 1 && at.Year() <= 9999 && uuid.MatchString(parts[1])
}

// Encode gives the cursor of a place in a list of selections.
func (l Selections) Encode(k db.SelectionKey) string { return Tokens(l).Encode(db.TokenKey(k)) }

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Selections) Parse(cursor string) (db.SelectionKey, bool) {
	k, ok := Tokens(l).Parse(cursor)
	return db.SelectionKey(k), ok
}

// Encode gives the cursor of a place in a list of windows.
func (l Windows) Encode(k db.WindowKey) string { return Tokens(l).Encode(db.TokenKey(k)) }

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Windows) Parse(cursor string) (db.WindowKey, bool) {
	k, ok := Tokens(l).Parse(cursor)
	return db.WindowKey(k), ok
}

var entry = regexp.MustCompile(`^[a-z2-7]{12}$`)

// Encode gives the cursor of an entry of a scratchpad.
func (l Entries) Encode(id string) string { return encode(l, id) }

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Entries) Parse(cursor string) (string, bool) {
	parts, ok := decode(l, cursor, 1)
	return strings.Join(parts, ""), ok && entry.MatchString(parts[0])
}

// Encode gives the cursor of an operation.
func (l Operations) Encode(id string) string { return encode(l, id) }

// Parse reads what Encode gave, and says whether it did: for this list.
func (l Operations) Parse(cursor string) (string, bool) {
	parts, ok := decode(l, cursor, 1)
	return strings.Join(parts, ""), ok && uuid.MatchString(parts[0])
}
