package ingest

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// SessionHash is the session that a key stands for: the SHA-256 of "session:<key>".
func SessionHash(key string) chain.Hash { return chain.Sum([]byte("session:" + key)) }

// ThreadHash is the thread that a key stands for: the SHA-256 of "thread:<key>".
func ThreadHash(key string) chain.Hash { return chain.Sum([]byte("thread:" + key)) }

// parseName reads what stands where a hash is expected: a hash, or else a key.
func parseName(field, text string) (hash chain.Hash, isHash bool, err error) {
	if text == "" {
		return hash, false, fault.Input(field, "is empty")
	}
	if err := chain.CheckText(field, &text, chain.MaxNameBytes); err != nil {
		return hash, false, err
	}
	if len(text) != chain.HexLength {
		return hash, false, nil
	}
	if _, err := hex.DecodeString(text); err != nil {
		return hash, false, nil
	}
	// 64 digits are never a key: one in upper case is a slip.
	hash, err = chain.ParseHash(text)
	if err != nil {
		return hash, false, fault.Input(field, "%s", err)
	}
	return hash, true, nil
}

// parseHash reads a hash where no key will do.
func parseHash(field, text string) (chain.Hash, error) {
	hash, err := chain.ParseHash(text)
	if err != nil {
		return hash, fault.Input(field, "%s", err)
	}
	return hash, nil
}

// group gives the hash of a session or thread.
func group(field, text string, of func(key string) chain.Hash) (chain.Hash, error) {
	hash, isHash, err := parseName(field, text)
	if err != nil || isHash {
		return hash, err
	}
	return of(text), nil
}

// component notes that the message names a component, by hash or by key: "alice", of the default namespace, or
// "plu:alice". A component that is missing is created with its key as its name.
func (m *message) component(field, text string, standard component.Namespace, to *chain.Hash) error {
	hash, isHash, err := parseName(field, text)
	if err != nil {
		return err
	}
	if isHash {
		*to = hash
		return nil
	}
	namespace, key := standard, text
	if before, after, found := strings.Cut(text, ":"); found {
		given := component.Namespace(strings.ToLower(before))
		if kind, known := given.Kind(); known {
			if want, _ := standard.Kind(); kind != want {
				return fault.Input(field, "%q is a namespace of the kind %s, and this field takes the kind %s", before, kind, want)
			}
			namespace, key = given, after
		}
	}
	if key == "" {
		return fault.Input(field, "has no key after its namespace")
	}
	m.named(component.Draft{Namespace: namespace, Key: key, Name: &key}, to)
	return nil
}

func (m *message) named(draft component.Draft, to *chain.Hash) {
	m.names = append(m.names, naming{component: draft, to: to})
}

// optional is component for a field that may be absent.
func (m *message) optional(field string, text *string, standard component.Namespace, to **chain.Hash) error {
	if text == nil {
		return nil
	}
	*to = new(chain.Hash)
	return m.component(field, *text, standard, *to)
}

// list is component for a list.
func (m *message) list(field string, texts []string, standard component.Namespace, to *[]chain.Hash) error {
	if len(texts) > chain.MaxListLength {
		return fault.Input(field, "has %d entries; at most %d are allowed", len(texts), chain.MaxListLength)
	}
	*to = make([]chain.Hash, len(texts))
	for i, text := range texts {
		if err := m.component(fmt.Sprintf("%s[%d]", field, i), text, standard, &(*to)[i]); err != nil {
			return err
		}
	}
	return nil
}

// parseTime reads RFC 3339, and cuts what is finer than a microsecond. An absent text leaves an absent time.
func parseTime(field string, text *string, to **time.Time) error {
	if text == nil {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, *text)
	if err != nil {
		return fault.Input(field, "%q is no time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z", *text)
	}
	t = t.UTC().Truncate(time.Microsecond)
	*to = &t
	return nil
}
