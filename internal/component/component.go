// Package component describes what messages name by hash: players, tags, flags, items and locations. It is
// pure; components are stored by package db.
package component

import (
	"fmt"
	"slices"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Kind is what a component is.
type Kind string

// The kinds of components.
const (
	Player   Kind = "player"
	Hashtag  Kind = "hashtag"
	Flag     Kind = "flag"
	Item     Kind = "item"
	Location Kind = "location"
)

// Namespace is where a component lives: its kind, and whether it is the system's, a user's or shared.
// Its text is lower case.
type Namespace string

var kinds = map[Kind][]Namespace{
	Player:   {"ply", "plu", "plx"},
	Hashtag:  {"hst", "spe", "vsn", "vue", "hsu"},
	Flag:     {"flg", "flu"},
	Item:     {"itm", "itu", "itx"},
	Location: {"loc", "lou", "lox"},
}

// Kind gives the kind of the components of a namespace, and false for a namespace that does not exist.
func (n Namespace) Kind() (Kind, bool) {
	for kind, namespaces := range kinds {
		if slices.Contains(namespaces, n) {
			return kind, true
		}
	}
	return "", false
}

// Component is something that messages name. One that no row describes has only its Kind and Hash.
type Component struct {
	Kind        Kind
	Hash        chain.Hash
	Namespace   *Namespace
	Key         *string
	Name        *string
	Description *string
	Data        chain.JSON
	Preferences []string // players only
}

// Limits of a component. The database holds the same.
const (
	MaxDrafts           = 1000 // of one call
	MaxNameBytes        = 1024
	MaxDescriptionBytes = 64 << 10
	MaxPreferences      = 64
)

// Draft is a component that somebody wants to create or change. What is nil stays as it is.
type Draft struct {
	Namespace   Namespace
	Key         string
	Hash        *chain.Hash // nil: DefaultHash
	Name        *string
	Description *string
	Data        *chain.JSON
	Preferences []string // nil: unchanged
}

// DefaultHash is the SHA-256 of "<namespace>:<key>".
func DefaultHash(n Namespace, key string) chain.Hash {
	return chain.Sum([]byte(string(n) + ":" + key))
}

// Validate checks all that can be checked without the database; the fault names the field below field.
func (d *Draft) Validate(field string) error {
	kind, ok := d.Namespace.Kind()
	switch {
	case !ok:
		return fault.Input(field+".namespace", "%q is no namespace", d.Namespace)
	case d.Key == "":
		return fault.Input(field+".key", "is empty")
	case d.Preferences != nil && kind != Player:
		return fault.Input(field+".preferences", "only players have preferences")
	case len(d.Preferences) > MaxPreferences:
		return fault.Input(field+".preferences", "has %d entries; at most %d are allowed", len(d.Preferences), MaxPreferences)
	}
	for i := range d.Preferences {
		if err := chain.CheckText(fmt.Sprintf("%s.preferences[%d]", field, i), &d.Preferences[i], chain.MaxNameBytes); err != nil {
			return err
		}
	}
	for _, t := range []struct {
		name  string
		text  *string
		limit int
	}{
		{"key", &d.Key, chain.MaxNameBytes},
		{"name", d.Name, MaxNameBytes},
		{"description", d.Description, MaxDescriptionBytes},
	} {
		if err := chain.CheckText(field+"."+t.name, t.text, t.limit); err != nil {
			return err
		}
	}
	return chain.CheckJSON(field+".data", d.Data, chain.MaxContentBytes)
}
