package ingest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
)

const fullLine = `{"label":"m1","sessionHash":"s","threadHash":"t","ownerId":"alice","playerIds":["plu:bob","plx:acme"],` +
	`"masterPlayer":"boss","role":"user","eventType":"ERROR","importance":2,"channel":"mail","source":"gateway",` +
	`"content":"Hé 🐘","attachments":{"n":1.50,"b":[true]},"hashtags":["x","vue:y"],"flagId":"gdpr","masterItemId":"thing",` +
	`"itemIds":["itu:own"],"locationId":"lou:home","ambient":{"tz":"UTC"},"createdAt":"2026-01-02T03:04:05.123456789+01:00",` +
	`"idempotencyKey":"k1"}`

func TestEveryField(t *testing.T) {
	t.Parallel()
	d := open(t)
	load(t, d, fullLine+"\n")
	hash := func(n component.Namespace, key string) chain.Hash { return component.DefaultHash(n, key) }
	thread, boss := chain.Sum([]byte("thread:t")), hash("ply", "boss")
	flag, thing, home := hash("flg", "gdpr"), hash("itm", "thing"), hash("lou", "home")
	m := all(t, d)[0]
	got := []any{
		m.SessionHash, m.ThreadHash, m.OwnerID, m.PlayerIDs, m.MasterPlayer, value(m.Role), m.EventType, m.Importance, value(m.Channel),
		value(m.Source), value(m.Content), value(m.Attachments), m.Hashtags, m.FlagID, m.MasterItemID, m.ItemIDs, m.LocationID,
		value(m.Ambient), m.CreatedAt.UTC().Format("2006-01-02T15:04:05.999999999Z"),
	}
	want := []any{
		chain.Sum([]byte("session:s")), &thread, hash("ply", "alice"), []chain.Hash{hash("plu", "bob"), hash("plx", "acme")}, &boss, "user",
		chain.EventError, int16(2), "mail", "gateway", "Hé 🐘", chain.JSON(`{"b": [true], "n": 1.50}`),
		[]chain.Hash{hash("hst", "x"), hash("vue", "y")}, &flag, &thing, []chain.Hash{hash("itu", "own")}, &home,
		chain.JSON(`{"tz": "UTC"}`), "2026-01-02T02:04:05.123456Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored message differs (-want +got):\n%s", diff)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	d := open(t)
	own := chain.Sum([]byte("anything")).String()
	summary := load(t, d, strings.Join([]string{
		`{"component":{"namespace":"PLY","key":"ana","name":"Ana","preferences":["tea"],"data":{"a":1}}}`,
		`{"component":{"namespace":"ply","key":"agent","hash":"` + own + `"}}`,
		`{"component":{"namespace":"ply","key":"ana","description":"twice in a batch"}}`,
		`{"sessionHash":"s","ownerId":"ana","playerIds":["agent","new"],"flagId":"gdpr","content":"hello"}`,
		`{"component":{"namespace":"PLY","key":"new","name":"Described later"}}`,
	}, "\n"))
	if want := (ingest.Summary{Messages: 1, Components: 4}); summary != want {
		t.Errorf("summary = %+v, want %+v", summary, want)
	}
	m := all(t, d)[0]
	found, err := d.ComponentsByHash(t.Context(), append(m.PlayerIDs, m.OwnerID, *m.FlagID))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, c := range found {
		names[*c.Key] = value(c.Name)
	}
	want := map[string]string{"ana": "Ana", "agent": "", "new": "Described later", "gdpr": "General Data Protection Regulation"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	ana := found[m.OwnerID]
	if value(ana.Description) != "twice in a batch" || ana.Data != `{"a": 1}` || !slices.Equal(ana.Preferences, []string{"tea"}) {
		t.Errorf("ana is %+v", ana)
	}
	if m.PlayerIDs[0].String() != own {
		t.Errorf("agent resolves to %s, want the hash it was given, %s", m.PlayerIDs[0], own)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	d := open(t)
	text := strings.Join([]string{
		`{"record":{"label":"r1","kind":"ACCOUNTANT","book":"b","title":"t","content":"42 euros","verified":false}}`,
		`{"label":"m1","sessionHash":"s","ownerId":"a","content":"one"}`,
		`{"label":"m2","sessionHash":"s","ownerId":"a","content":"two","refs":[{"label":"m1"},{"label":"r1"}]}`,
		`{"sessionHash":"s","ownerId":"a","content":"three","refs":[{"label":"r1","type":"ACCOUNTANT"},{"label":"m2","type":"CONTEXT"},{"label":"m1"}]}`,
	}, "\n")
	for range 2 { // the second time everything is there already
		load(t, d, text)
		wantContents(t, d, "one", "two", "three")
	}
	messages := all(t, d)
	refs, err := d.RefsOf(t.Context(), []chain.Hash{messages[2].Hash})
	if err != nil {
		t.Fatal(err)
	}
	records, err := d.RecordsByHash(t.Context(), []chain.Hash{refs[messages[2].Hash][0].Hash})
	if err != nil || len(records) != 1 || records[0].Content != "42 euros" || records[0].Verified {
		t.Errorf("the first ref names %+v, %v; want the record", records, err)
	}
	want := []chain.Ref{{Type: chain.RefAccountant, Hash: records[0].Hash}, {Type: chain.RefContext, Hash: messages[1].Hash}, {Type: chain.RefContext, Hash: messages[0].Hash}}
	if got := refs[messages[2].Hash]; !slices.Equal(got, want) {
		t.Errorf("refs = %v, want %v", got, want)
	}
}

// Identical lines are as many messages, and a second import of a file that has grown brings what is new.
func TestAgain(t *testing.T) {
	t.Parallel()
	d := open(t)
	same := `{"sessionHash":"s","ownerId":"a","content":"ok"}`
	load(t, d, same+"\n"+same+"\n")
	summary := load(t, d, same+"\n { \"sessionHash\" : \"s\", \"ownerId\":\"a\",\"content\":\"ok\"}\n"+same+"\n")
	if want := (ingest.Summary{Messages: 1, Present: 2}); summary != want {
		t.Errorf("summary = %+v, want %+v", summary, want)
	}
	wantContents(t, d, "ok", "ok", "ok")
}

// What editors and other systems do to a text file does no harm.
func TestShapes(t *testing.T) {
	t.Parallel()
	a, b := `{"sessionHash":"s","ownerId":"a","content":"one"}`, `{"sessionHash":"s","ownerId":"a","content":"two"}`
	for name, text := range map[string]string{
		"byte order mark, CRLF": "\xEF\xBB\xBF" + a + "\r\n" + b + "\r\n",
		"empty lines":           "\n\n" + a + "\n  \n\n" + b + "\n\n",
		"no line end":           a + "\n" + b,
		"an array":              "[" + a + ",\n" + b + "]\n",
		"pretty":                strings.ReplaceAll(a, ",", ",\n  ") + strings.ReplaceAll(b, ",", ",\n  "),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			load(t, d, text)
			wantContents(t, d, "one", "two")
		})
	}
}

func TestLongContent(t *testing.T) {
	t.Parallel()
	d := open(t)
	long := strings.Repeat("á", chain.MaxContentBytes/2)
	escaped := strings.Repeat(`\u00e1`, chain.MaxContentBytes/2) // 3 MiB of JSON
	load(t, d, `{"sessionHash":"s","ownerId":"a","content":"`+escaped+`"}`)
	wantContents(t, d, long)
	_, err := ingest.Import(t.Context(), d, "f", strings.NewReader(`{"sessionHash":"s","ownerId":"a","content":"x`+long+`"}`), ingest.Options{})
	if want := "f: line 1: content: has 1048577 bytes; at most 1048576 are allowed"; err == nil || err.Error() != want {
		t.Errorf("Import = %v, want %s", err, want)
	}
}

// A refusal names the line; what stands before it is in the log, what comes after is not; with the line right, the
// same file goes on from there.
func TestGoOn(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a line that cannot be read":  `{"sessionHash":"s","ownerId":"a"`,
		"a line that says nonsense":   `{"sessionHash":"s","ownerId":"a","content":"x","importance":7}`,
		"a line that the log refuses": `{"sessionHash":"s","ownerId":"a","content":"x","createdAt":"1999-01-01T00:00:00Z"}`,
		"a component it refuses":      `{"component":{"namespace":"PLY","key":"other","hash":"` + component.DefaultHash("ply", "a").String() + `"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			const before, after = 700, 3 // more than a batch
			file := func(line string) string {
				var b strings.Builder
				for i := range before {
					fmt.Fprintf(&b, `{"sessionHash":"s","ownerId":"a","content":"before %d","createdAt":"2026-01-01T00:00:00Z"}`+"\n", i)
				}
				b.WriteString(line + "\n")
				for i := range after {
					fmt.Fprintf(&b, `{"sessionHash":"s","ownerId":"a","content":"after %d","createdAt":"2026-01-01T00:00:00Z"}`+"\n", i)
				}
				return b.String()
			}
			summary, err := ingest.Import(t.Context(), d, "f", strings.NewReader(file(bad)), ingest.Options{})
			line, ok := errors.AsType[*ingest.LineError](err)
			// A brace that is missing shows in the line after it.
			if !ok || line.Line != before+1 && !(line.Line == before+2 && strings.HasSuffix(bad, `"a"`)) {
				t.Errorf("Import = %v, want an error of line %d", err, before+1)
			}
			if want := (ingest.Summary{Messages: before}); summary != want || len(contents(t, d)) != before {
				t.Errorf("summary = %+v and %d messages in the log, want %+v", summary, len(contents(t, d)), want)
			}
			summary = load(t, d, file(`{"sessionHash":"s","ownerId":"a","content":"right","createdAt":"2026-01-01T00:00:00Z"}`))
			if want := (ingest.Summary{Messages: after + 1, Present: before}); summary != want {
				t.Errorf("summary = %+v, want %+v", summary, want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	line := func(fields string) string { return `{"sessionHash":"s","ownerId":"a","content":"x",` + fields + `}` }
	hex := strings.Repeat("0", 63)
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", "hello", "line 1, column 1: invalid character 'h' at start of value"},
		{"no object", "\n\n17", "line 3, column 1: is no JSON object"},
		{"cut off", `{"sessionHash":"s",` + "\n" + `"content":"x`, "line 2, column 13: content: the file ends in the middle of a JSON value"},
		{"after the array", `[` + line(`"role":"r"`) + "]\n{}", "line 2, column 1: there is more after the end of the array"},
		{"a typo", "\n" + line(`"chanel":"mail"`), "line 2, column 48: chanel: there is no such field"},
		{"a typo in a component", `{"component":{"namespace":"PLY","kee":"a"}}`, "line 1, column 33: component.kee: there is no such field"},
		{"both", `{"component":{"namespace":"PLY","key":"a"},"record":{}}`, "line 1, column 44: record: there is no such field"},
		{"a field twice", line(`"role":"a","role":"b"`), `line 1, column 59: role: duplicate object member name`},
		{"a wrong type", line(`"importance":"2"`), "line 1, column 61: importance: is a JSON string, where a whole number belongs"},
		{"a string", line(`"playerIds":"b"`), "line 1, column 60: playerIds: is a JSON string, where an array belongs"},
		{"an object", line(`"role":{}`), "line 1, column 55: role: is a JSON object, where a string belongs"},
		{"a fraction", line(`"importance":1.5`), "line 1, column 61: importance: 1.5 is not a number that fits"},
		{"out of range", line(`"importance":3`), "line 1: importance: 3 is outside of 0 to 2"},
		{"unknown enum", line(`"eventType":"SHOUT"`), `line 1: eventType: "SHOUT" is none of MESSAGE, ERROR, SYSTEM, TOOL, ERASURE`},
		{"not UTF-8", line(`"role":"` + "\xff" + `"`), "line 1, column 56: role: invalid UTF-8"},
		{"half a surrogate", line(`"role":"\ud800"`), "line 1, column 56: role: invalid surrogate pair `\\ud800\"}` in string"},
		{"NUL", line(`"role":"\u0000"`), "line 1: role: holds the character U+0000, which the log cannot store"},
		{"NUL in JSON", line(`"attachments":{"a":"\u0000"}`), "line 1: attachments: holds the character U+0000, which the log cannot store"},
		{"NUL in a name of JSON", line(`"ambient":[{"\u0000":1}]`), "line 1: ambient: holds the character U+0000, which the log cannot store"},
		{"no content", `{"sessionHash":"s","ownerId":"a"}`, "line 1: content: is missing"},
		{"empty content", `{"sessionHash":"s","ownerId":"a","content":""}`, "line 1: content: is empty"},
		{"no session", `{"ownerId":"a","content":"x"}`, "line 1: sessionHash: is empty"},
		{"empty key", line(`"playerIds":["b",""]`), "line 1: playerIds[1]: is empty"},
		{"a hash in capitals", line(`"flagId":"A` + hex + `"`), "line 1: flagId: a hash is 64 lower-case hexadecimal digits"},
		{"another kind", line(`"masterItemId":"ply:a"`), `line 1: masterItemId: "ply" is a namespace of the kind player, and this field takes the kind item`},
		{"no key", line(`"locationId":"loc:"`), "line 1: locationId: has no key after its namespace"},
		{"no time", line(`"createdAt":"yesterday"`), `line 1: createdAt: "yesterday" is no time as RFC 3339 writes it, such as 2026-01-31T09:30:00Z`},
		{"unknown label", line(`"refs":[{"label":"nowhere"}]`), `line 1: refs[0].label: no earlier line has the label "nowhere"`},
		{"a label twice", line(`"label":"l"`) + "\n" + line(`"label":"l"`), `line 2: label: "l" is that of an earlier line already`},
		{"ref without type", line(`"refs":[{"hash":"0` + hex + `"}]`), "line 1: refs[0].type: is missing"},
		{"ref to nothing", line(`"refs":[{"hash":"0` + hex + `","type":"CONTEXT"}]`), "line 1: refs[0].hash: names nothing of type CONTEXT"},
		{"ref to neither", line(`"refs":[{}]`), "line 1: refs[0]: needs either a hash or a label"},
		{"stale prevHash", line(`"prevHash":"0` + hex + `"`), "line 1: prevHash: is not the head of the session"},
		{"bad prevHash", line(`"prevHash":"key"`), "line 1: prevHash: a hash is 64 lower-case hexadecimal digits"},
		{"salt without hash", line(`"salt":"AAAAAAAAAAAAAAAAAAAAAA=="`), "line 1: hash: is missing, although there is what only an export has"},
		{"hash without salt", line(`"hash":"0` + hex + `"`), "line 1: salt: has 0 bytes; next to a hash it has 16"},
		{"wrong hash", line(`"hash":"0` + hex + `","salt":"AAAAAAAAAAAAAAAAAAAAAA==","sequence":1,"createdAt":"2026-01-01T00:00:00Z"`), "line 1: "},
		{"no namespace", `{"component":{"namespace":"XXX","key":"a"}}`, `line 1: component.namespace: "xxx" is no namespace`},
		{"record kind", `{"record":{"kind":"CONTEXT","book":"b","title":"t","content":"c"}}`, `line 1: record.kind: "CONTEXT" is none of ACCOUNTANT, SECRETARY`},
		{"record hash", `{"record":{"hash":"0` + hex + `","kind":"SECRETARY","book":"b","title":"t","content":"c"}}`, "line 1: record.hash: is not the hash of the record"},
	} {
		_, err := ingest.Import(t.Context(), d, "f", strings.NewReader(c.text), ingest.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "f: "+c.want) {
			t.Errorf("%s: Import = %v, want %s", c.name, err, c.want)
		}
		if code := fault.CodeOf(err); code != fault.BadUserInput && code != fault.Conflict {
			t.Errorf("%s: the code is %s", c.name, code)
		}
	}
	wantContents(t, d, "x", "x") // only the lines before the bad ones: the array's, and the label's first
}
