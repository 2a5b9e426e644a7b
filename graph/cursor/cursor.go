// Package cursor writes and reads the opaque cursors of connections. A cursor holds the key of a row, so a page
// starts where the last one ended, whatever was written in between.
package cursor

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db"
)

// A cursor is base64url of the kind of key, a colon, and the key.
const (
	numberKind    = "n"
	momentKind    = "t"
	componentKind = "c"
)

func encode(kind string, parts ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + strings.Join(parts, ":")))
}

func decode(kind, cursor string, parts int) ([]string, bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, false
	}
	found, key, ok := strings.Cut(string(text), ":")
	if !ok || found != kind {
		return nil, false
	}
	split := strings.SplitN(key, ":", parts)
	return split, len(split) == parts
}

// Number gives the cursor of an id or a sequence.
func Number(n int64) string { return encode(numberKind, strconv.FormatInt(n, 10)) }

// ParseNumber reads what Number gave, and says whether it did.
func ParseNumber(cursor string) (int64, bool) {
	parts, ok := decode(numberKind, cursor, 1)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(parts[0], 10, 64)
	return n, err == nil
}

// Moment gives the cursor of a place in a list by time.
func Moment(m db.Moment) string {
	return encode(momentKind, strconv.FormatInt(m.At.UnixMicro(), 10), strconv.FormatInt(m.ID, 10))
}

// ParseMoment reads what Moment gave, and says whether it did.
func ParseMoment(cursor string) (db.Moment, bool) {
	parts, ok := decode(momentKind, cursor, 2)
	if !ok {
		return db.Moment{}, false
	}
	micros, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return db.Moment{}, false
	}
	id, err := strconv.ParseInt(parts[1], 10, 64)
	at := time.UnixMicro(micros).UTC()
	return db.Moment{At: at, ID: id}, err == nil && at.Year() >= 1 && at.Year() <= 9999
}

// Component gives the cursor of a place in a list of components.
func Component(k db.ComponentKey) string {
	return encode(componentKind, strconv.Itoa(int(k.Rank)), k.Namespace, k.Key)
}

// ParseComponent reads what Component gave, and says whether it did.
func ParseComponent(cursor string) (db.ComponentKey, bool) {
	parts, ok := decode(componentKind, cursor, 3)
	if !ok || strings.ContainsRune(parts[2], 0) {
		return db.ComponentKey{}, false
	}
	rank, err := strconv.ParseInt(parts[0], 10, 32)
	return db.ComponentKey{Rank: int32(rank), Namespace: parts[1], Key: parts[2]}, err == nil
}
