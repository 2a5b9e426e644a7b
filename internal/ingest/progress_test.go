package ingest

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Where there is no terminal, a line tells every few seconds how far it is; not more often.
func TestMeter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total int64
		unit  string
		want  string
	}{
		{40 << 10, "", "import f: 10 of 40 KiB (25 %)\nimport f: 20 of 40 KiB (50 %)\n"},
		{-1, "", "import f: 10 KiB\nimport f: 20 KiB\n"},
		{40 << 10, "questions", "import f: 10240 of 40960 questions (25 %)\nimport f: 20480 of 40960 questions (50 %)\n"},
	} {
		var out bytes.Buffer
		m := NewMeter(&out, "import f", c.total, c.unit)
		now := m.last
		m.now = func() time.Time { return now }
		m.Add(5 << 10)
		now = now.Add(plainEvery)
		m.Add(5 << 10)
		now = now.Add(plainEvery - 1)
		m.Add(5 << 10)
		now = now.Add(1)
		if n, err := m.Reader(strings.NewReader(strings.Repeat("x", 5<<10))).Read(make([]byte, 8<<10)); n != 5<<10 || err != nil {
			t.Errorf("Read = %d, %v", n, err)
		}
		m.Done()
		if got := out.String(); got != c.want {
			t.Errorf("the meter wrote\n%s, want\n%s", got, c.want)
		}
	}
}
