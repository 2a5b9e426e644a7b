package chaos

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/tzzr/context-manager/db/local"
)

// What is lost, doubled or altered in the log is seen, whatever the server would say.
func TestCompare(t *testing.T) {
	t.Parallel()
	programs, err := local.Programs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := Open(t.Context(), Config{Postgres: programs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	s, err := h.newStage(scenario{name: "compare"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	c, err := s.started(t.Context(), map[string]string{"fsync": "off"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.exec(t.Context(), database, "CREATE SCHEMA log", "CREATE TABLE log.messages (hash TEXT, session_hash TEXT, content TEXT)",
		"INSERT INTO log.messages VALUES ('h1', 's', 'one'), ('h2', 's', 'two')"); err != nil {
		t.Fatal(err)
	}
	one, two := entry{"h1", "s", "one"}, entry{"h2", "s", "two"}
	for _, test := range []struct {
		name          string
		acknowledged  []entry
		open          bool
		lost, doubled int
	}{
		{name: "equal", acknowledged: []entry{one, two}},
		{name: "a message is lost", acknowledged: []entry{one, two, {"h3", "s", "three"}}, lost: 1},
		{name: "another content", acknowledged: []entry{one, {"h2", "s", "twice"}}, lost: 1},
		{name: "another session", acknowledged: []entry{one, {"h2", "t", "two"}}, lost: 1},
		{name: "more than was acknowledged", acknowledged: []entry{one}, doubled: 1},
		{name: "more than was acknowledged, as may be", acknowledged: []entry{one}, open: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			j, err := openJournal(filepath.Join(t.TempDir(), "journal"))
			if err != nil {
				t.Fatal(err)
			}
			defer j.close()
			if err := j.add(test.acknowledged...); err != nil {
				t.Fatal(err)
			}
			var sum verdict
			if err := (&crew{s: s, journal: j, open: test.open}).compare(t.Context(), c.url(database), &sum); err != nil {
				t.Fatal(err)
			}
			if sum.lost != test.lost || sum.doubled != test.doubled || sum.acknowledged != len(test.acknowledged) || sum.rows != 2 ||
				(len(sum.problems) > 0) != (test.lost+test.doubled > 0) {
				t.Errorf("verdict = %+v, want %d lost, %d doubled", sum, test.lost, test.doubled)
			}
		})
	}
	if err := c.exec(t.Context(), database, "INSERT INTO log.messages VALUES ('h4', 's', 'two')"); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if err := j.add(one, two); err != nil {
		t.Fatal(err)
	}
	var sum verdict
	if err := (&crew{s: s, journal: j, open: true}).compare(t.Context(), c.url(database), &sum); err != nil || sum.doubled != 1 {
		t.Errorf("one content twice: verdict = %+v, %v, want it doubled", sum, err)
	}
}

func TestJournalRefusesTwoOfOneHash(t *testing.T) {
	t.Parallel()
	j, err := openJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if err := j.add(entry{"h", "s", "one"}, entry{"h", "s", "two"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.read(); err == nil || j.count() != 2 {
		t.Errorf("read = %v, want that two messages have one hash", err)
	}
}

// count is how many messages were noted, however often each.
func (j *journal) count() (n int) {
	text, _ := io.ReadAll(io.NewSectionReader(j.file, 0, 1<<62))
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(`"deed":`)) {
			n++
		}
	}
	return n
}
