package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
)

// roundTrip exports a session, imports it into another log, and compares both logs by what they export.
func roundTrip(t testing.TB, from, to *db.DB, session chain.Hash) (lines []string) {
	t.Helper()
	exported := export(t, from, session)
	load(t, to, exported)
	if back := export(t, to, session); back != exported {
		t.Errorf("exported again, the session is\n%s\nand was\n%s", back, exported)
	}
	lines = strings.Split(strings.TrimSuffix(exported, "\n"), "\n")
	if summary := load(t, to, exported); summary.Messages != 0 || summary.Present == 0 {
		t.Errorf("imported again: %s, want nothing new", summary)
	}
	return lines
}

func TestExportSample(t *testing.T) {
	t.Parallel()
	from, to := open(t), open(t)
	if _, err := ingest.Sample(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	lines := roundTrip(t, from, to, ingest.SessionHash("paris-stay/booking"))
	want := []string{"component", "component", "component", "component", "component", "component", "component", "component", "component", "record", "message", "message", "message", "message", "message", "message"}
	for i, line := range lines {
		kind := "message"
		for _, k := range []string{"component", "record"} {
			if strings.HasPrefix(line, `{"`+k+`":`) {
				kind = k
			}
		}
		if i >= len(want) || kind != want[i] {
			t.Fatalf("line %d is a %s; %d lines: %s", i+1, kind, len(lines), line)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d lines, want %d", len(lines), len(want))
	}
	// This one has refs to messages of other sessions, which the other log lacks until they come.
	roundTrip(t, from, to, ingest.SessionHash("buenas-noches/2026-04-09"))
}

func TestExportPages(t *testing.T) {
	t.Parallel()
	from, to := open(t), open(t)
	var b strings.Builder
	for i := range 1234 { // pages and batches end within it
		fmt.Fprintf(&b, `{"sessionHash":"s","ownerId":"p%d","content":"message %d"}`+"\n", i%300, i)
	}
	load(t, from, b.String())
	counted := &countingLog{DB: to}
	if _, err := ingest.Import(t.Context(), counted, "f", strings.NewReader(export(t, from, ingest.SessionHash("s"))), ingest.Options{}); err != nil {
		t.Fatalf("Import: %v", err)
	}
	if counted.appends > 4 { // 1,534 lines in batches of 500
		t.Errorf("%d calls of Append; an exported session comes in batches", counted.appends)
	}
	if lines := roundTrip(t, from, to, ingest.SessionHash("s")); len(lines) != 1234+300 {
		t.Errorf("%d lines, want 1,534", len(lines))
	}
}

// countingLog counts the calls that reach the log.
type countingLog struct {
	*db.DB
	appends int
}

func (c *countingLog) Append(ctx context.Context, drafts []chain.Draft) ([]chain.Message, error) {
	c.appends++
	return c.DB.Append(ctx, drafts)
}

// An attachment or ambient that is the JSON value null is not the same as none.
func TestExportNull(t *testing.T) {
	t.Parallel()
	from, to := open(t), open(t)
	null, session := chain.JSON("null"), ingest.SessionHash("s")
	_, err := from.Append(t.Context(), []chain.Draft{
		{SessionHash: session, Content: "null", Attachments: &null, Ambient: &null},
		{SessionHash: session, Content: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := all(t, from); value(m[0].Ambient) != "null" {
		t.Fatalf("the log holds %+v", m[0])
	}
	roundTrip(t, from, to, session)
	if m := all(t, to); *m[0].Attachments != "null" || value(m[0].Ambient) != "null" || *m[1].Attachments != "{}" || m[1].Ambient != nil {
		t.Errorf("the copies are %+v and %+v", m[0], m[1])
	}
}

func TestExportRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	nowhere := ingest.SessionHash("nowhere")
	text, _, err := tryExport(t, d, ingest.What{Session: &nowhere})
	if fault.CodeOf(err) != fault.NotFound || text != "" {
		t.Errorf("Export = %v and %d bytes, want NOT_FOUND and none", err, len(text))
	}
}

// A copy that was changed on the way is refused, whatever was changed.
func TestExportChanged(t *testing.T) {
	t.Parallel()
	from, to := open(t), open(t)
	load(t, from, fullLine+"\n"+`{"sessionHash":"s","ownerId":"alice","content":"second","refs":[{"label":"m1"}]}`)
	lines := strings.Split(export(t, from, ingest.SessionHash("s")), "\n")
	first, second := len(lines)-3, len(lines)-2
	at := strings.Index(lines[first], `"salt":"`)
	salt := lines[first][at : at+len(`"salt":"AA`)]
	other := `"salt":"AA`
	if salt == other {
		other = `"salt":"BB`
	}
	for _, c := range []struct {
		line     int
		old, new string
	}{
		{first, `"content":"H`, `"content":"h`}, {first, `"importance":2`, `"importance":1`}, {first, `\"n\": 1.50`, `\"n\": 1.5`},
		{first, `123456Z`, `123457Z`}, {first, `"role":"user"`, `"role":"User"`}, {first, `"channel":"mail",`, ``},
		{first, `"ambientText":"{\"tz\": \"UTC\"}",`, ``}, {first, `"eventType":"ERROR"`, `"eventType":"TOOL"`}, {first, salt, other},
		{second, `"content":"second"`, `"content":"third"`}, {second, `"type":"CONTEXT"`, `"type":"SECRETARY"`}, {second, `"sequence":2`, `"sequence":1`},
	} {
		changed := append([]string{}, lines...)
		changed[c.line] = strings.Replace(changed[c.line], c.old, c.new, 1)
		if changed[c.line] == lines[c.line] {
			t.Fatalf("%s is not in %s", c.old, lines[c.line])
		}
		_, err := ingest.Import(t.Context(), to, "f", strings.NewReader(strings.Join(changed[:c.line+1], "\n")), ingest.Options{})
		if want := fmt.Sprintf("f: line %d: ", c.line+1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("with %s for %s: Import = %v, want an error of line %d", c.new, c.old, err, c.line+1)
		}
	}
	// The first message came in with its right line, before the second was refused; and nothing else did.
	wantContents(t, to, "Hé 🐘")
	load(t, to, strings.Join(lines, "\n"))
	wantContents(t, to, "Hé 🐘", "second")
}

// Whatever a session holds, its copy elsewhere has the same hashes and exports to the same bytes.
func TestExportProperty(t *testing.T) {
	t.Parallel()
	from, to := open(t), open(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		session := fmt.Sprintf("s%d", n)
		load(t, from, drawSession(r, session))
		roundTrip(t, from, to, ingest.SessionHash(session))
	})
}

func drawSession(r *rapid.T, session string) string {
	var b strings.Builder
	text := rapid.StringN(1, 20, 60).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) })
	object := rapid.SampledFrom([]string{`{}`, `[]`, `"text"`, `1e2`, `-0.10`, `12345678901234567890.5`, `{"b":1,"a":[null,{"é":"\u2028"}]}`, `"\u001f\"\\\/<&>"`})
	key := rapid.SampledFrom([]string{"a", "b", "plu:c", "plx:d"})
	field := func(name, value string) { fmt.Fprintf(&b, `,"%s":%s`, name, value) }
	maybe := func(name string) bool { return rapid.Bool().Draw(r, name) }
	for i := range rapid.IntRange(1, 5).Draw(r, "messages") {
		fmt.Fprintf(&b, `{"label":"%s-%d","sessionHash":"%s","ownerId":"%s","content":%s`, session, i, session, key.Draw(r, "owner"), quote(text.Draw(r, "content")))
		if maybe("attach") {
			field("attachments", object.Draw(r, "attachments"))
		}
		if maybe("ambience") {
			field("ambient", object.Draw(r, "ambient"))
		}
		if maybe("tagged") {
			field("hashtags", `["`+strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"x", "vue:y", "x"}), 1, 3).Draw(r, "tags"), `","`)+`"]`)
		}
		if maybe("channelled") {
			field("channel", quote(text.Draw(r, "channel")))
		}
		if maybe("dated") {
			field("createdAt", fmt.Sprintf(`"2999-01-01T00:00:%02d.%06dZ"`, i, rapid.IntRange(0, 999999).Draw(r, "microseconds")))
		} else {
			field("createdAt", fmt.Sprintf(`"2999-01-01T00:00:%02dZ"`, i))
		}
		if i > 0 && maybe("refers") {
			field("refs", fmt.Sprintf(`[{"label":"%s-%d"}]`, session, rapid.IntRange(0, i-1).Draw(r, "ref")))
		}
		if maybe("weighs") {
			field("importance", fmt.Sprint(rapid.IntRange(0, 2).Draw(r, "importance")))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
