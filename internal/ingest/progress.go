package ingest

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// plainEvery is how often progress is written where there is no terminal.
const plainEvery = 5 * time.Second

// Meter shows on a stream how far something has come: as a bar on a terminal, else as a line every few seconds.
// It is not safe for concurrent use.
type Meter struct {
	out  io.Writer
	what string
	bar  *progressbar.ProgressBar // nil without a terminal
	done int64
	of   int64
	unit string
	last time.Time
	now  func() time.Time
}

// NewMeter makes a meter that shows what is being done, out of total bytes (negative: not known) or, if unit is
// not empty, out of total of that unit, such as "questions".
func NewMeter(out io.Writer, what string, total int64, unit string) *Meter {
	m := &Meter{out: out, what: what, of: total, unit: unit, now: time.Now}
	m.last = m.now()
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		m.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(what),
			progressbar.OptionShowBytes(unit == ""), progressbar.OptionShowCount(), progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetSpinnerChangeInterval(0)) // no goroutine that draws on after Done
	}
	return m
}

// Reader counts what is read through it.
func (m *Meter) Reader(r io.Reader) io.Reader { return meterReader{r, m} }

// Add counts n more. A terminal that goes away is no reason to fail.
func (m *Meter) Add(n int64) {
	m.done += n
	if m.bar != nil {
		_ = m.bar.Add64(n)
		return
	}
	if now := m.now(); now.Sub(m.last) >= plainEvery {
		m.last = now
		fmt.Fprintln(m.out, m.line())
	}
}

// Done takes the bar away.
func (m *Meter) Done() {
	if m.bar != nil {
		_ = m.bar.Clear()
	}
}

func (m *Meter) line() string {
	done, unit := m.done, m.unit
	of := m.of
	if unit == "" {
		done, of, unit = done>>10, of>>10, "KiB"
	}
	if m.of <= 0 {
		return fmt.Sprintf("%s: %d %s", m.what, done, unit)
	}
	return fmt.Sprintf("%s: %d of %d %s (%d %%)", m.what, done, of, unit, 100*m.done/m.of)
}

type meterReader struct {
	r io.Reader
	m *Meter
}

func (r meterReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.m.Add(int64(n))
	return n, err
}
