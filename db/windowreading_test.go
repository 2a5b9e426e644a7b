package db_test

import (
	"testing"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/window"
)

// What an administrator reads of messages in others' windows is on record, by whichever way they see it.
func TestReadingOfWindowsIsOnRecord(t *testing.T) {
	t.Parallel()
	ways := map[string]func(d *db.DB, w window.Window) error{
		"the window": func(d *db.DB, w window.Window) error { _, err := d.Window(t.Context(), w.ID); return err },
		"a write": func(d *db.DB, w window.Window) error {
			_, err := d.CompressWindow(t.Context(), w.ID, 1, boss.Player)
			return err
		},
		"a write to a segment": func(d *db.DB, w window.Window) error {
			_, err := d.WriteToSegment(t.Context(), w.Segments[0].ID, w.ID, window.Draft{Type: window.UserMessage, Content: "The weather is fine."}, nil, boss.Player)
			return err
		},
		"the history": func(d *db.DB, w window.Window) error {
			_, err := d.WindowOperations(t.Context(), w.ID, db.Page[string]{Limit: 10})
			return err
		},
	}
	for name, look := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _ := open(t)
			m := mustAppend(t, store, from(ana, "foreign", "The code of the safe is xylographer."))[0]
			id := fillWindow(t, store, ana, &m.Hash)
			w, err := store.Window(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			view := store.AsAdministrator(boss, db.NewReading())
			if err := look(view, w); err != nil {
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
