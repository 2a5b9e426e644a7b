package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	t.Parallel()
	text := "{}\n\n{\n\"a\":1} [2]\r\n3" // 2, 5, 9, 15 and 18 are the offsets of line feeds and such
	v, err := newValues(iotestReader{strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		next, err := v.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("next: %v", err)
		}
		line, column := v.lines.at(next.offset)
		got = append(got, fmt.Sprintf("%d:%d %s", line, column, next.json))
	}
	if diff := cmp.Diff([]string{"1:1 {}", "3:1 {\n\"a\":1}", "4:8 [2]", "5:1 3"}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if len(v.lines.breaks) > 2 {
		t.Errorf("%d line breaks are still remembered", len(v.lines.breaks))
	}
}

// iotestReader reads a byte at a time, so that every boundary falls between two reads.
type iotestReader struct{ r io.Reader }

func (r iotestReader) Read(p []byte) (int, error) { return r.r.Read(p[:1]) }

func TestTooLong(t *testing.T) {
	t.Parallel()
	v, err := newValues(strings.NewReader("{}\n\"" + strings.Repeat("x", 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	v.lines.limit = 128 << 10
	if _, err := v.next(); err != nil {
		t.Fatalf("next: %v", err)
	}
	_, err = v.next()
	if line, ok := errors.AsType[*LineError](err); !ok || line.Line > 2 || !strings.Contains(err.Error(), "is longer than 64 MiB") {
		t.Errorf("next = %v, want that the value is too long", err)
	}
}

// endless gives n lines without keeping any.
type endless struct {
	n, at int
	rest  string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		if e.at == e.n {
			return 0, io.EOF
		}
		e.rest = fmt.Sprintf(`{"sessionHash":"s%d","ownerId":"o%d","content":"%s"}`+"\n", e.at, e.at, strings.Repeat("content ", 100))
		e.at++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Not parallel: it measures the memory of the process.
func TestMemoryDoesNotGrow(t *testing.T) {
	const lines = 40_000 // some 34 MB
	values, err := newValues(&endless{n: lines})
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	rows, early, late := 0, uint64(0), uint64(0)
	err = readRows(values, newOrdinals(ordinalPlaces), func(*row) error {
		switch rows++; rows {
		case lines / 10:
			early = heap()
		case lines:
			late = heap()
		}
		return nil
	})
	if err != nil || rows != lines {
		t.Fatalf("%d rows, %v; want %d", rows, err, lines)
	}
	if late > early+(1<<20) {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}

func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		`{"sessionHash":"s","ownerId":"a","content":"x","refs":[{"label":"l"}],"label":"m"}`,
		`{"component":{"namespace":"PLY","key":"a","data":{"a":1}}}` + "\n" + `{"record":{"kind":"SECRETARY","book":"b","title":"t","content":"c"}}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image"}]},{"role":"tool","content":null,"tool_calls":[{"function":{"name":"f"}}]}]}`,
		`[{"sample_id":"c","conversation":{"speaker_a":"A","speaker_b":"B","session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[{"speaker":"A","dia_id":"D1:1","text":"x"}]}}]`,
		"\xEF\xBB\xBF{}\r\n\n[1,", `{"hash":"` + strings.Repeat("a", 64) + `","salt":"AAAAAAAAAAAAAAAAAAAAAA==","sequence":1,"createdAt":"2026-01-01T00:00:00Z","sessionHash":"s","ownerId":"a","content":"x","attachments":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, firstErr := fuzzRows(t, text)
		second, secondErr := fuzzRows(t, text)
		if diff := cmp.Diff(first, second); diff != "" || fmt.Sprint(firstErr) != fmt.Sprint(secondErr) {
			t.Errorf("read twice, a file differs: %v, %v\n%s", firstErr, secondErr, diff)
		}
		if line, ok := errors.AsType[*LineError](firstErr); ok && (line.Line < 1 || line.Line > 1+strings.Count(string(text), "\n")) {
			t.Errorf("%v: there is no such line", firstErr)
		}
	})
}

// fuzzRows reads a text and gives what makes its rows the same on the next import. What it reads is valid.
func fuzzRows(t *testing.T, text []byte) (keys []string, err error) {
	values, err := newValues(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	err = readRows(values, newOrdinals(1), func(r *row) error {
		switch {
		case r.message != nil:
			if err := r.message.validate(); err != nil {
				t.Errorf("line %d is not valid: %v", r.line, err)
			}
			if r.hash == nil && r.message.draft.IdempotencyKey == nil {
				t.Errorf("line %d would be doubled", r.line)
			}
			keys = append(keys, fmt.Sprint(r.line, r.label, r.message.draft.SessionHash, r.hash))
			if r.hash == nil {
				keys = append(keys, *r.message.draft.IdempotencyKey)
			}
		case r.record != nil:
			keys = append(keys, r.record.Title)
		default:
			keys = append(keys, r.component.Key)
		}
		return nil
	})
	return keys, err
}
