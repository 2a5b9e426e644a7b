// Package knowledge describes the records of the ledgers and the secretary. It is pure; records are stored by
// package db.
package knowledge

import (
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Record is a piece of knowledge: immutable, and addressed by its hash.
type Record struct {
	ID        int64 // place in this database; not part of the hash
	Hash      chain.Hash
	Kind      chain.RefType // RefAccountant or RefSecretary
	Book      string
	Title     string
	Content   string
	Data      chain.JSON
	Verified  bool
	CreatedAt time.Time
}

// Limits of a record. The database holds the same.
const (
	MaxDrafts     = 1000 // of one call
	MaxTitleBytes = 1024
)

// Draft is a record that somebody wants to add.
type Draft struct {
	Kind      chain.RefType
	Book      string
	Title     string
	Content   string
	Data      *chain.JSON // nil: an empty object
	Verified  bool
	CreatedAt *time.Time // nil: now
}

// Validate checks all that can be checked without the database; the fault names the field below field.
func (d *Draft) Validate(field string) error {
	if d.Kind != chain.RefAccountant && d.Kind != chain.RefSecretary {
		return fault.Input(field+".kind", "%q is not a kind of record", d.Kind)
	}
	for _, t := range []struct {
		name, text string
		limit      int
	}{
		{"book", d.Book, chain.MaxNameBytes},
		{"title", d.Title, MaxTitleBytes},
		{"content", d.Content, chain.MaxContentBytes},
	} {
		if t.text == "" {
			return fault.Input(field+"."+t.name, "is empty")
		}
		if err := chain.CheckText(field+"."+t.name, &t.text, t.limit); err != nil {
			return err
		}
	}
	return chain.CheckJSON(field+".data", d.Data, chain.MaxContentBytes)
}

// SearchText is what a record is found by.
func (r *Record) SearchText() string { return r.Title + "\n" + r.Content }
