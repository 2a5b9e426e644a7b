package db_test

import (
	"testing"

	"github.com/tzzr/context-manager/db"
)

// What an administrator reads of messages in others' windows is on record, by whichever way they see it.
func TestReadingOfWindowsIsOnRecord(t *testing.T) {
	t.Parallel()
	ways := map[string]func(d *db.DB, id string) error{
		"the window": func(d *db.DB, id string) error { _, err := d.Window(t.Context(), id); return err },
		"a write": func(d *db.DB, id string) error {
			_, err := d.CompressWindow(t.Context(), id, 1, boss.Player)
			return err
		},
		"the history": func(d *db.DB, id string) error {
			_, err := d.WindowOperations(t.Context(), id, db.Page[string]{Limit: 10})
			return err
		},
	}
	for name, look := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _ := open(t)
			m := mustAppend(t, store, from(ana, "foreign", "The code of the safe is xylographer."))[0]
			id := fillWindow(t, store, ana, &m.Hash)
			view := store.AsAdministrator(boss, db.NewReading())
			if err := look(view, id); err != nil {
				t.Fatal(err)
			}
			if err := view.RecordReading(t.Context()); err != nil {
				t.Fatal(err)
			}
			events := audited(t, store, boss.Player)
			if len(events) != 1 {
				t.Errorf("on record is %+v, want one reading", events)
			}
		})
	}
}
