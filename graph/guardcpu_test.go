package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/limit"
)

// refusalLimit is the CPU time that a refused request may cost: 50 ms, and where the processor is slower or the race
// detector is on, half of what encoding/json takes to go through as many bytes as anybody may send, of small objects.
func refusalLimit(t testing.TB) time.Duration {
	t.Helper()
	body := []byte("[" + strings.Repeat(`{"a":1},`, MaxAppendBody/8-1) + "1]")
	once := perCall(t, time.Hour, func() {
		if !json.Valid(body) {
			t.Fatal("no JSON")
		}
	})
	t.Logf("encoding/json goes through %d bytes in %v", len(body), once)
	return max(50*time.Millisecond, once/2)
}

// attack is a request that is to be refused: by its document, or by a body that holds none.
type attack struct {
	body string
	code fault.Code
	want string // in the message
}

// attacks are hostile documents of about 15 kB, and hostile bodies of at most so many bytes, but for those that only an append may have.
func attacks(t testing.TB, most int) map[string]attack {
	all := map[string]attack{}
	for name, test := range hostile() {
		all["document: "+name] = attack{requestBody(t, test.query, map[string]any{"h": strings.Repeat("0", 64)}), fault.BadUserInput, test.want}
	}
	fill := func(before, unit, after string) string { // to just so many bytes
		return before + strings.Repeat(unit, (most-len(before)-len(after))/len(unit)) + after
	}
	quoted := func(text string) string {
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	part := func(before, unit, after string) string { // with a document of as much as any may have
		var decoded string
		if err := json.Unmarshal([]byte(`"`+unit+`"`), &decoded); err != nil {
			t.Fatal(err)
		}
		return before + strings.Repeat(unit, min((MaxDocument-100)/len(decoded), (MaxBody-100)/len(unit))) + after
	}
	const lookUp = `{"query":"query($h:Hash!){message(hash:$h){hash}}","variables":{"h":`
	const append16 = "mutation($m:[MessageInput!]!){appendMessages(messages:$m){hash}}"
	for name, a := range map[string]attack{
		"20,000 repeated fields":       {`{"query":"{` + strings.Repeat("a ", 20_000) + `}"}`, "", "exceeded token limit of 15000"},
		"130,000 repeated fields":      {part(`{"query":"{`, "a ", `}"}`), "", "exceeded token limit of 15000"},
		"operations in a list":         {fill(`[{"query":"{__typename}"}`, `,{"query":"{__typename}"}`, `]`), "", "batches are not served"},
		"whitespace before":            {fill("", " ", `[]`), "", "batches are not served"},
		"whitespace in a document":     {part(`{"query":"`, " ", `{a}"}`), "", "Cannot query field"},
		"line ends in a document":      {part(`{"query":"`, `\n`, `{a}"}`), "", "Cannot query field"},
		"a document too long":          {fill(`{"query":"{a(a:\"`, `x`, `\")}"}`), "", "at most 262144 are allowed"},
		"escapes too long":             {fill(`{"query":"{a(a:\"`, `\u0078`, `\")}"}`), "", ""},
		"comments":                     {part(`{"query":"`, `#\n`, `{a}"}`), "", "exceeded token limit"},
		"one comment":                  {part(`{"query":"#`, `x`, `\n{a}"}`), "", "Cannot query field"},
		"commas":                       {part(`{"query":"`, `,`, `{a}"}`), "", "Cannot query field"},
		"byte order marks":             {part(`{"query":"`, `\ufeff`, `{a}"}`), "", "Cannot query field"},
		"a long name":                  {part(`{"query":"{`, `a`, `}"}`), "", "Cannot query field"},
		"a long string":                {part(`{"query":"{a(a:\"`, `x`, `\")}"}`), "", "Cannot query field"},
		"a long block string":          {part(`{"query":"{a(a:\"\"\"`, `x\n `, `\"\"\")}"}`), "", "Cannot query field"},
		"escapes of JSON":              {part(`{"query":"{a(a:\"`, `\u0078`, `\")}"}`), "", "Cannot query field"},
		"escapes of GraphQL":           {part(`{"query":"{a(a:\"`, `\\u0078`, `\")}"}`), "", "Cannot query field"},
		"a long number":                {part(`{"query":"{a(a:`, `9`, `)}"}`), "", ""},
		"a long fraction":              {part(`{"query":"{a(a:0.`, `9`, `e9)}"}`), "", ""},
		"a long unknown character":     {part(`{"query":"{`, `é`, `}"}`), "", "found <Invalid>"},
		"NUL characters":               {part(`{"query":"{`, `\u0000`, `}"}`), "", "found <Invalid>"},
		"no end":                       {part(`{"query":"{a(a:\"`, `x`, `"}`), "", "Unexpected <Invalid>"},
		"an operation's long name":     {fill(`{"query":"query a{__typename} query b{__typename}","operationName":"`, "c", `"}`), "", "operation ccc"},
		"JSON 10,000 deep":             {`{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`, "", "deeper than 100 levels"},
		"objects 10,000 deep":          {`{"query":"{__typename}","variables":{"a":` + strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000) + `}}`, "", "deeper than 100 levels"},
		"JSON that only opens":         {fill("", "[", ""), "", "batches are not served"},
		"variables that only open":     {fill(`{"query":"{__typename}","variables":`, `{"a":`, ``), "", "deeper than 100 levels"},
		"lists in variables":           {fill(lookUp+`[[]`, `,[]`, `]}}`), "", "too many values"},
		"lists that are few enough":    {lookUp + `[[]` + strings.Repeat(",[]", 49_000) + `]}}`, "", "hash: a hash is"},
		"objects that are few enough":  {lookUp + `[{}` + strings.Repeat(`,{"a":1}`, 9_900) + `]}}`, "", "hash: a hash is"},
		"numbers in variables":         {fill(lookUp+`[1`, `,1`, `]}}`), "", "too many values"},
		"numbers that are few enough":  {lookUp + `[1` + strings.Repeat(",1e99", 49_000) + `]}}`, "", "hash: a hash is"},
		"a number of a million digits": {fill(lookUp, `9`, `}}`), "", "at most 2000"},
		"a large exponent":             {lookUp + `1e999999999}}`, "", "hash: a hash is"},
		"a long string in variables":   {fill(lookUp+`"`, `x`, `"}}`), "", "hash: a hash is"},
		"escapes in variables":         {fill(lookUp+`"`, `\u0078`, `"}}`), "", "hash: a hash is"},
		"quotes in variables":          {fill(lookUp+`"`, `\"`, `"}}`), "", "too many values"},
		"names in variables":           {fill(lookUp+`{"a":1`, `,"a":1`, `}}}`), "", "too many values"},
		"the same name in variables":   {fill(lookUp+`null`, `,"h":null`, `}}`), "", "too many values"},
		"the same name in the body":    {fill(`{"query":"{a}"`, `,"query":"{a}"`, `}`), "", "is there twice"},
		"unknown names in the body":    {fill(`{"query":"{a}"`, `,"x":1`, `}`), "", "too many values"},
		"a long name in the body":      {fill(`{"query":"{a}","`, `x`, `":1}`), "", "Cannot query field"},
		"no JSON at the end":           {fill(`{"query":"{__typename}","variables":{"a":"`, `x`, `"}}x`), "", "not JSON"},
		"fields of inputs":             {`{"query":` + quoted("mutation{appendMessages(messages:["+strings.Repeat("{a:1}", 2400)+"]){hash}}") + `}`, "", "was not provided"},
		"inputs in variables":          {requestBody(t, append16, map[string]any{"m": slices.Repeat([]any{map[string]any{"a": 1}}, 9_900)}), "", "m[0]"},
		"inputs, the last is wrong": {requestBody(t, append16, map[string]any{"m": append(slices.Repeat([]any{map[string]any{
			"sessionHash": "a", "ownerId": "a", "content": ""}}, 5500), 1)}), "", "m[5500]"},
		"16 MiB, a query":         {`{"query":"{__typename}","variables":{"a":"` + strings.Repeat("x", MaxAppendBody-100) + `"}}`, "", "only mutations may have"},
		"16 MiB, the query last":  {`{"variables":{"a":"` + strings.Repeat("x", MaxAppendBody-100) + `"},"query":"` + append16 + `"}`, "", "put it before the variables"},
		"16 MiB, lists":           {`{"query":"` + append16 + `","variables":{"m":[[]` + strings.Repeat(",[]", MaxAppendBody/3-100) + `]}}`, "", "too many values"},
		"16 MiB, a hostile query": {`{"query":"{` + strings.Repeat("a ", 7000) + `}","variables":{"a":"` + strings.Repeat("x", MaxAppendBody-20_000) + `"}}`, "", "fields and fragments"},
		"16 MiB, the last message is wrong": {requestBody(t, append16, map[string]any{"m": append(slices.Repeat([]any{map[string]any{
			"sessionHash": strings.Repeat("0", 64), "ownerId": strings.Repeat("0", 64), "content": strings.Repeat("x", 16_000)}}, 999), 1)}), "", "m[999]"},
		"16 MiB of escapes, the last message is wrong": {`{"query":"` + append16 + `","variables":{"m":[` + strings.Repeat(`{"sessionHash":"`+strings.Repeat("0", 64)+
			`","ownerId":"a","content":"`+strings.Repeat(`\u00e9`, 2600)+`"},`, 999) + `1]}}`, "", "8 escapes in strings as one"},
		"16 MiB, escapes and values that are few enough, the last is wrong": {`{"query":"` + append16 + `","variables":{"m":[` + strings.Repeat(`{"sessionHash":"`+strings.Repeat("0", 64)+
			`","ownerId":"a","content":"`+strings.Repeat(`\u00e9`, 20)+strings.Repeat("x", 15_000)+`","hashtags":["a","a","a","a"]}`+`,`, 999) + `1]}}`, "", "m[999]"},
		"large, the last message is wrong": {requestBody(t, append16, map[string]any{"m": append(slices.Repeat([]any{map[string]any{
			"sessionHash": strings.Repeat("0", 64), "ownerId": "a", "content": strings.Repeat("x", 100)}}, (MaxValues-valuesPerMiB)/9-2), 1)}), "", "m["},
		"16 MiB beyond ASCII, the last message is wrong": {requestBody(t, append16, map[string]any{"m": append(slices.Repeat([]any{map[string]any{
			"sessionHash": strings.Repeat("0", 64), "ownerId": "a", "content": "x" + strings.Repeat("é", 8000)}}, 999), 1)}), "", "m[999]"},
		"17 MiB": {strings.Repeat("x", 17<<20), "", "the limit for any"},
	} {
		a.code = fault.BadUserInput
		all["body: "+name] = a
	}
	return all
}

// aroundBody is more than a WebSocket's message has around a body.
const aroundBody = 50

// cpu is the CPU time that the process has used.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// perCall is the CPU time that the process uses for a call, garbage collection included, over calls enough to tell
// whether it is less than enough.
func perCall(t testing.TB, enough time.Duration, call func()) time.Duration {
	t.Helper()
	for n := 1; ; n *= 4 {
		before := cpu(t)
		for range n {
			call()
		}
		if used := (cpu(t) - before) / time.Duration(n); used < enough || n > 8 {
			return used
		}
	}
}

// sent is a request with a body that the server has to read; it is made before it is measured.
func sent(body string, caller *auth.Caller) func(h http.Handler) *http.Response {
	return func(h http.Handler) *http.Response {
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if caller != nil {
			r = r.WithContext(auth.WithCaller(r.Context(), *caller))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
}

// No refused request costs more than the limit of CPU time, with a token or without. The CPU time is the process's,
// so nothing else may run: the test is not parallel.
func TestRefusalsCostLittle(t *testing.T) {
	h, admin, limit := quiet(), auth.Administrator(), refusalLimit(t)
	all := attacks(t, MaxBody)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a := all[name]
		got := read(t, sent(a.body, &admin)(h))
		if got.code() != a.code || !strings.Contains(got.message(), a.want) {
			t.Errorf("%s: %s %.200q, want %s with %q", name, got.code(), got.message(), a.code, a.want)
		}
		if len(got.message()) > 1000 || strings.Contains(strings.ToLower(got.message()), "did you mean") {
			t.Errorf("%s: the message is %.300q, want it short and without suggestions", name, got.message())
		}
		for who, caller := range map[string]*auth.Caller{"an administrator": &admin, "nobody": nil} {
			if used := perCall(t, limit/2, func() { sent(a.body, caller)(h) }); used > limit {
				t.Errorf("%s: from %s it costs %v of CPU time, want at most %v", name, who, used, limit)
			} else if testing.Verbose() {
				t.Logf("%-50s %-16s %v", name, who, used)
			}
		}
	}
}

// Nor does one on a WebSocket, with the opening and closing of one, and what the client does.
func TestRefusalsOnSocketsCostLittle(t *testing.T) {
	l, most := newLimited(t, limit.Config{}), refusalLimit(t)
	all := attacks(t, MaxBody-aroundBody)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		body := all[name].body
		if len(body) > MaxBody-aroundBody { // it is not read to its end
			continue
		}
		message := []byte(`{"type":"subscribe","id":"1","payload":` + body + `}`)
		refused := func() (string, error) {
			conn, _, err := l.open("", "admin")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.CloseNow() }()
			if err := conn.Write(t.Context(), websocket.MessageText, message); err != nil {
				return "", err
			}
			_, got, err := conn.Read(t.Context())
			return string(got), err
		}
		switch got, err := refused(); {
		case err == nil && !strings.Contains(got, `"type":"error"`) && !strings.Contains(got, `"errors":[`), len(got) > 4000,
			err != nil && websocket.CloseStatus(err) != websocket.StatusPolicyViolation && websocket.CloseStatus(err) != closeGarbled:
			t.Errorf("%s: %.300s %v, want it refused", name, got, err)
		case testing.Verbose():
			t.Logf("%-50s %d bytes, %.150s %v", name, len(got), got, err)
		}
		if used := perCall(t, most/2, func() { _, _ = refused() }); used > most {
			t.Errorf("%s: it costs %v of CPU time, want at most %v", name, used, most)
		} else if testing.Verbose() {
			t.Logf("%-50s %v", name, used)
		}
	}
}

// unread is a body that tells whether it was read.
type unread struct{ reads int }

func (u *unread) Read([]byte) (int, error) {
	u.reads++
	return 0, fmt.Errorf("nothing to read")
}

// Of a request without a valid token nothing of the body is read; nor of one that its headers refuse.
func TestBodiesOfNobodyAreNotRead(t *testing.T) {
	t.Parallel()
	h := quiet()
	for name, prepare := range map[string]func(*http.Request){
		"no token":      func(*http.Request) {},
		"a form":        func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
		"a large body":  func(r *http.Request) { r.ContentLength = MaxAppendBody + 1 },
		"a GET's body":  func(r *http.Request) { r.Method = "GET" },
		"a PUT":         func(r *http.Request) { r.Method = "PUT" },
		"no type given": func(r *http.Request) { r.Header.Del("Content-Type") },
	} {
		body := &unread{}
		r := httptest.NewRequest("POST", "/graphql", body)
		r.Header.Set("Content-Type", "application/json")
		if prepare(r); name != "no token" {
			r = r.WithContext(auth.WithCaller(r.Context(), auth.Administrator()))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body.reads > 0 || w.Code < 400 {
			t.Errorf("%s: status %d, and the body was read %d times; want it refused unread", name, w.Code, body.reads)
		}
	}
}

// BenchmarkRefusals gives the CPU time of each attack, and its ratio to a request that is answered.
func BenchmarkRefusals(b *testing.B) {
	h, admin := quiet(), auth.Administrator()
	sent(`{"query":"{__typename}"}`, &admin)(h) // what is done only once
	plain := perCall(b, 0, func() { sent(`{"query":"{__typename}"}`, &admin)(h) })
	all := attacks(b, MaxBody)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				sent(all[name].body, &admin)(h)
			}
			used := (cpu(b) - before) / time.Duration(b.N)
			b.ReportMetric(float64(used.Microseconds()), "cpu-µs/op")
			b.ReportMetric(float64(used)/float64(plain), "×plain")
		})
	}
}
