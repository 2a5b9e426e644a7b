package ingest

import (
	"bufio"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tzzr/context-manager/internal/fault"
)

// MaxValueBytes is about how long one entry of a file may be: a line of JSON lines, a chat, a conversation. It
// bounds the memory that an import takes.
const MaxValueBytes = 64 << 20

// values reads a file as a sequence of JSON values: those of an array, or those that follow each other with
// nothing but white space between them, as in JSON lines. It is strict: a name twice in an object, text that is
// not UTF-8 and half surrogates are errors, never repaired.
type values struct {
	lines   *lineCounter
	decoder *jsontext.Decoder
	started bool
	array   bool
}

// value is one entry of the file and where it starts. Its bytes are the reader's until the next one is read.
type value struct {
	json   jsontext.Value
	offset int64
}

func newValues(r io.Reader) (*values, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\xEF\xBB\xBF" {
		if _, err := buffered.Discard(len(mark)); err != nil {
			return nil, err
		}
	}
	lines := &lineCounter{r: buffered, limit: MaxValueBytes, line: 1}
	return &values{lines: lines, decoder: jsontext.NewDecoder(lines)}, nil
}

// next gives the next value, and io.EOF after the last.
func (v *values) next() (value, error) {
	v.lines.forget(v.decoder.InputOffset())
	if !v.started {
		v.started = true
		if v.decoder.PeekKind() == '[' {
			v.array = true
			if _, err := v.decoder.ReadToken(); err != nil {
				return value{}, v.explain(err)
			}
		}
	}
	if v.array && v.decoder.StackDepth() == 1 && v.decoder.PeekKind() == ']' {
		if _, err := v.decoder.ReadToken(); err != nil {
			return value{}, v.explain(err)
		}
	}
	read, err := v.decoder.ReadValue()
	if err != nil {
		return value{}, v.explain(err)
	}
	if v.array && v.decoder.StackDepth() == 0 {
		return value{}, v.fail(v.decoder.InputOffset()-int64(len(read)), fault.Input("", "there is more after the end of the array"))
	}
	return value{json: read, offset: v.decoder.InputOffset() - int64(len(read))}, nil
}

// explain says where the decoder stumbled. io.EOF and errors of reading stay as they are.
func (v *values) explain(err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, cause := syntax.ByteOffset, syntax.Err
		if errors.Is(cause, io.ErrUnexpectedEOF) {
			offset, cause = v.lines.read, errors.New("the file ends in the middle of a JSON value")
		}
		return v.fail(offset, fault.Input(path(syntax.JSONPointer), "%s", trimPrefix(cause)))
	}
	if errors.Is(err, errTooLong) {
		return v.fail(v.lines.forgotten, fault.Input("", "is longer than %d MiB", MaxValueBytes>>20))
	}
	return err
}

// fail gives err with the line and column of offset.
func (v *values) fail(offset int64, err error) error {
	line, column := v.lines.at(offset)
	return &LineError{Line: line, Column: column, Err: err}
}

var errTooLong = errors.New("too long")

// lineCounter remembers where lines end in what was read and not yet forgotten.
type lineCounter struct {
	r         io.Reader
	limit     int64   // how many bytes may be in use: read and not forgotten
	read      int64   // bytes handed on
	forgotten int64   // offsets below are not asked for again
	line      int     // the number, from 1, of the line that breaks[0] ends
	start     int64   // the offset at which it starts
	breaks    []int64 // offsets of line feeds
}

// Read hands on what r reads. It fails with errTooLong once more than the limit is in use.
func (l *lineCounter) Read(p []byte) (int, error) {
	if l.read-l.forgotten > l.limit {
		return 0, errTooLong
	}
	n, err := l.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// forget says that nothing before offset will be asked for.
func (l *lineCounter) forget(offset int64) {
	l.forgotten = offset
	n := 0
	for n < len(l.breaks) && l.breaks[n] < offset {
		l.start = l.breaks[n] + 1
		n++
	}
	l.line += n
	l.breaks = append(l.breaks[:0], l.breaks[n:]...)
}

// at gives line and column, both from 1, of an offset that is not forgotten; the column counts bytes.
func (l *lineCounter) at(offset int64) (line, column int) {
	line, start := l.line, l.start
	for _, end := range l.breaks {
		if end >= offset {
			break
		}
		line++
		start = end + 1
	}
	return line, int(offset-start) + 1
}
