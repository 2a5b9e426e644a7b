package graph_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// raw asks with variables as they are, which need not be what an encoder would write.
func (a *api) raw(query, variables string) reply {
	a.t.Helper()
	text, err := json.Marshal(query)
	if err != nil {
		a.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(a.t.Context(), http.MethodPost, "/graphql", strings.NewReader(`{"query": `+string(text)+`, "variables": `+variables+`}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	var out reply
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		a.t.Fatalf("status %d, no JSON: %s", w.Code, w.Body)
	}
	return out
}

// What mutations of windows do with what means them no good: a word for clients, and the window is as it was.
func TestHostileWindows(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newWindow("hostile", 2000, "")
	a.mustWrite(id, "DECISION", "The train leaves at nine in the morning.")
	var put struct{ Offload []struct{ ID string } }
	a.ask(`mutation($w: ID!) { offload(window: $w, contents: ["something else"]) { id } }`, object{"w": id}, &put)
	var seg struct{ CreateSegment struct{ ID string } }
	a.ask(`mutation($w: [ID!]!) { createSegment(name: "s", windows: $w) { id } }`, object{"w": []string{id}}, &seg)
	entry, segment := put.Offload[0].ID, seg.CreateSegment.ID
	before := a.window(id)

	const (
		create   = `mutation($i: WindowInput!) { createWindow(input: $i) { id } }`
		remove   = `mutation($w: ID!) { deleteWindow(id: $w) }`
		write    = `mutation($i: WriteInput!) { writeContext(input: $i) { item { id } } }`
		share    = `mutation($s: ID!, $i: WriteInput!) { writeToSegment(segment: $s, input: $i) { item { id } } }`
		sel      = `mutation($w: ID!, $i: ContextRequestInput!) { selectIntoWindow(window: $w, input: $i) { receipt } }`
		compress = `mutation($w: ID!, $t: Float) { compressWindow(window: $w, target: $t) { tokensAfter } }`
		take     = `mutation($w: ID!, $i: [ID!]!) { removeFromWindow(window: $w, items: $i) { used } }`
		segments = `mutation($n: String!, $w: [ID!]!) { createSegment(name: $n, windows: $w) { id } }`
		offload  = `mutation($w: ID!, $c: [String!]!) { offload(window: $w, contents: $c) { id } }`
		inject   = `mutation($w: ID!, $e: ID!) { injectFromScratchpad(window: $w, entry: $e) { id } }`
		tools    = `mutation($w: ID!, $t: [ToolInput!]!) { registerTools(window: $w, tools: $t) { name } }`
		overrule = `mutation($o: ID!, $r: String!) { overruleJudgement(operation: $o, reason: $r) { id } }`
		search   = `query($w: ID!, $q: String!, $l: Int) { searchTools(window: $w, query: $q, limit: $l) { name } }`
		read     = `query($i: ID!) { scratchpadEntry(id: $i) { id } }`
		bad      = "BAD_USER_INPUT"
		none     = "NOT_FOUND"
		full     = "CONTEXT_WINDOW_EXCEEDED"
	)
	long := func(n int) string { return strings.Repeat("x", n) }
	quoted := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	many := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	in := func(fields string) string { return `{"i": {` + fields + `}}` }
	to := func(fields string) string { return in(`"window": ` + quoted(id) + `, "type": "KNOWLEDGE", ` + fields) }
	at := func(fields string) string { return `{"w": ` + quoted(id) + `, ` + fields + `}` }
	const stranger = "00000000-0000-4000-8000-000000000000"
	ids := make([]string, 101) // of windows that are nobody's
	for i := range ids {
		ids[i] = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "ContextWindow:00000000-0000-4000-8000-%012d", i))
	}
	for name, test := range map[string]struct{ query, variables, code string }{
		"a name of nothing":                          {create, in(`"name": ""`), bad},
		"a name of blanks":                           {create, in(`"name": " \n "`), bad},
		"a long name":                                {create, in(`"name": ` + quoted(long(257))), bad},
		"a name with NUL":                            {create, in(`"name": "a\u0000b"`), bad},
		"a long task":                                {create, in(`"name": "n", "task": ` + quoted(long(64<<10+1))), bad},
		"a task with NUL":                            {create, in(`"name": "n", "task": "\u0000"`), bad},
		"an encoding that is none":                   {create, in(`"name": "n", "encoding": "o200k_base\u0000"`), bad},
		"a long encoding":                            {create, in(`"name": "n", "encoding": ` + quoted(long(1<<19))), bad},
		"a negative capacity":                        {create, in(`"name": "n", "capacity": -1`), bad},
		"no capacity":                                {create, in(`"name": "n", "capacity": 0`), bad},
		"a capacity of too little":                   {create, in(`"name": "n", "capacity": 15`), bad},
		"a capacity of too much":                     {create, in(`"name": "n", "capacity": 2000001`), bad},
		"a capacity beyond 32 bits":                  {create, in(`"name": "n", "capacity": 4294967312`), bad},
		"a capacity beyond 64 bits":                  {create, in(`"name": "n", "capacity": 1e300`), bad},
		"a capacity of a half":                       {create, in(`"name": "n", "capacity": 16.5`), bad},
		"a capacity that is a text":                  {create, in(`"name": "n", "capacity": "16; DROP TABLE"`), bad},
		"an agent that is no hash":                   {create, in(`"name": "n", "agent": "x"`), bad},
		"a window's id that is none":                 {remove, `{"w": "x"}`, bad},
		"an empty id":                                {remove, `{"w": ""}`, bad},
		"an id with NUL":                             {remove, `{"w": "a\u0000"}`, bad},
		"an id of something else":                    {write, in(`"window": ` + quoted(entry) + `, "type": "KNOWLEDGE", "content": "a b"`), bad},
		"an id of a segment":                         {write, in(`"window": ` + quoted(segment) + `, "type": "KNOWLEDGE", "content": "a b"`), bad},
		"an id that is a number":                     {write, in(`"window": 7, "type": "KNOWLEDGE", "content": "a b"`), bad},
		"no content":                                 {write, to(`"content": ""`), bad},
		"content of blanks":                          {write, to(`"content": "\t \u2003"`), bad},
		"content with NUL":                           {write, to(`"content": "a\u0000 b"`), bad},
		"content that is long":                       {write, to(`"content": ` + quoted(strings.Repeat("a b ", 1<<16-100))), full},
		"content that is too long":                   {write, to(`"content": ` + quoted(long(256<<10+1))), bad},
		"a long key":                                 {write, to(`"content": "a b", "key": ` + quoted(long(257))), bad},
		"a key with NUL":                             {write, to(`"content": "a b", "key": "\u0000"`), bad},
		"a type that is none":                        {write, in(`"window": ` + quoted(id) + `, "type": "knowledge' OR 1=1", "content": "a b"`), bad},
		"a source that is no hash":                   {write, to(`"content": "a b", "source": "x"`), bad},
		"a source that is nobody's":                  {write, to(`"content": "a b", "source": ` + quoted(hashOf("nothing"))), none},
		"observed in the future":                     {write, to(`"content": "a b", "observedAt": "2999-01-01T00:00:00Z"`), bad},
		"observed beyond all time":                   {write, to(`"content": "a b", "observedAt": "99999-01-01T00:00:00Z"`), bad},
		"observed before the first":                  {write, to(`"content": "a b", "observedAt": "0000-01-01T00:00:00Z"`), bad},
		"a segment's id that is none":                {share, `{"s": "x\u0000", "i": {"window": ` + quoted(id) + `, "type": "KNOWLEDGE", "content": "a b"}}`, bad},
		"a segment that is nobody's":                 {share, `{"s": "` + stranger + `", "i": {"window": ` + quoted(id) + `, "type": "KNOWLEDGE", "content": "a b"}}`, none},
		"content with NUL for a segment":             {share, `{"s": ` + quoted(segment) + `, "i": {"window": ` + quoted(id) + `, "type": "KNOWLEDGE", "content": "\u0000 b"}}`, bad},
		"content that is long for a segment":         {share, `{"s": ` + quoted(segment) + `, "i": {"window": ` + quoted(id) + `, "type": "KNOWLEDGE", "content": ` + quoted(strings.Repeat("a b ", 1<<16-100)) + `}}`, full},
		"an empty question":                          {sel, at(`"i": {"query": ""}`), bad},
		"a question with NUL":                        {sel, at(`"i": {"query": "\u0000"}`), bad},
		"a long question":                            {sel, at(`"i": {"query": ` + quoted(long(1<<19)) + `}`), bad},
		"a negative budget":                          {sel, at(`"i": {"query": "q", "tokenBudget": -1}`), bad},
		"a negative limit":                           {sel, at(`"i": {"query": "q", "limit": -5}`), bad},
		"a target below nothing":                     {compress, at(`"t": -0.1`), bad},
		"a target above all":                         {compress, at(`"t": 1e300`), bad},
		"a target beyond numbers":                    {compress, at(`"t": 1e999`), bad},
		"a target that is no number":                 {compress, at(`"t": "NaN"`), bad},
		"no items":                                   {take, at(`"i": []`), bad},
		"too many items":                             {take, at(`"i": ` + many(1001, `"x"`)), bad},
		"an item that is not there":                  {take, at(`"i": ["x"]`), none},
		"an item with NUL":                           {take, at(`"i": ["a\u0000"]`), none},
		"a long item's id":                           {take, at(`"i": [` + quoted(long(1<<19)) + `]`), none},
		"an item that is there and one that is not":  {take, at(`"i": [` + quoted(before.Items[0].ID) + `, "x"]`), none},
		"an entry in place of an item":               {take, at(`"i": [` + quoted(entry) + `]`), none},
		"a segment of nothing":                       {segments, `{"n": "n", "w": []}`, bad},
		"a segment of too many":                      {segments, `{"n": "n", "w": ` + quoted(ids) + `}`, bad},
		"a segment of nobody's":                      {segments, `{"n": "n", "w": ` + quoted(ids[:100]) + `}`, none},
		"a segment with a long name":                 {segments, `{"n": ` + quoted(long(257)) + `, "w": [` + quoted(id) + `]}`, bad},
		"a segment with NUL":                         {segments, `{"n": "\u0000", "w": [` + quoted(id) + `]}`, bad},
		"a segment of a window that is none":         {segments, `{"n": "n", "w": [` + quoted(id) + `, "x"]}`, bad},
		"nothing to put aside":                       {offload, at(`"c": []`), bad},
		"too much to put aside":                      {offload, at(`"c": ` + many(1001, `"a b"`)), bad},
		"an empty one to put aside":                  {offload, at(`"c": ["a b", " "]`), bad},
		"NUL to put aside":                           {offload, at(`"c": ["a b", "\u0000"]`), bad},
		"a number to put aside":                      {offload, at(`"c": [{"a": 1}]`), bad},
		"an entry that is none":                      {inject, at(`"e": "x"`), none},
		"an entry with NUL":                          {inject, at(`"e": "\u0000"`), bad},
		"a long entry's id":                          {inject, at(`"e": ` + quoted(long(1<<19))), none},
		"an item in place of an entry":               {inject, at(`"e": ` + quoted(before.Items[0].ID)), none},
		"too many tools":                             {tools, at(`"t": ` + many(1001, `{"name": "n", "description": ""}`)), bad},
		"a tool of no name":                          {tools, at(`"t": [{"name": " ", "description": ""}]`), bad},
		"a tool's long name":                         {tools, at(`"t": [{"name": ` + quoted(long(257)) + `, "description": ""}]`), bad},
		"a tool's name with NUL":                     {tools, at(`"t": [{"name": "\u0000", "description": ""}]`), bad},
		"a tool that is there twice":                 {tools, at(`"t": [{"name": "a", "description": ""}, {"name": "a", "description": ""}]`), bad},
		"a tool's long description":                  {tools, at(`"t": [{"name": "a", "description": ` + quoted(long(16<<10+1)) + `}]`), bad},
		"a tool's description with NUL":              {tools, at(`"t": [{"name": "a", "description": "\u0000"}]`), bad},
		"a tool's long schema":                       {tools, at(`"t": [{"name": "a", "description": "", "schema": {"a": ` + quoted(long(64<<10)) + `}}]`), bad},
		"a tool's schema that is nested":             {tools, at(`"t": [{"name": "a", "description": "", "schema": ` + strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101) + `}]`), bad},
		"a tool's schema that is nested deep":        {tools, at(`"t": [{"name": "a", "description": "", "schema": ` + strings.Repeat(`[`, 5000) + strings.Repeat("]", 5000) + `}]`), bad},
		"a tool's schema with NUL":                   {tools, at(`"t": [{"name": "a", "description": "", "schema": {"a\u0000": 1}}]`), bad},
		"a tool's schema with a number of no end":    {tools, at(`"t": [{"name": "a", "description": "", "schema": {"a": 1` + strings.Repeat("0", 1900) + `e99}}]`), bad},
		"a tool's schema with a number beyond jsonb": {tools, at(`"t": [{"name": "a", "description": "", "schema": {"a": 1e200000}}]`), bad},
		"tools that do not fit":                      {tools, at(`"t": [{"name": "a", "description": ` + quoted(strings.Repeat("word ", 3000)) + `}]`), full},
		"an operation that is none":                  {overrule, `{"o": "x\u0000", "r": "r"}`, bad},
		"an operation that is nobody's":              {overrule, `{"o": "` + stranger + `", "r": "r"}`, none},
		"no reason":                                  {overrule, `{"o": "` + stranger + `", "r": ""}`, bad},
		"a long reason":                              {overrule, `{"o": "` + stranger + `", "r": ` + quoted(long(1<<10+1)) + `}`, bad},
		"a reason with NUL":                          {overrule, `{"o": "` + stranger + `", "r": "\u0000"}`, bad},
		"a purpose of nothing":                       {search, at(`"q": ""`), bad},
		"a long purpose":                             {search, at(`"q": ` + quoted(long(4<<10+1))), bad},
		"a purpose with NUL":                         {search, at(`"q": "\u0000"`), bad},
		"a negative number of tools":                 {search, at(`"q": "q", "l": -1`), bad},
		"too large a number of tools":                {search, at(`"q": "q", "l": 31`), bad},
		"a name that is no text":                     {create, in("\"name\": \"\xff\xfe\""), bad},
		"content that is no text":                    {write, to("\"content\": \"a b \xc3\""), bad},
		"a key that is no text":                      {write, to("\"content\": \"a b\", \"key\": \"\xed\xa0\x80\""), bad},
		"no text to put aside":                       {offload, at("\"c\": [\"\xc0\x80\"]"), bad},
		"a tool that is no text":                     {tools, at("\"t\": [{\"name\": \"a\", \"description\": \"\xf8\"}]"), bad},
		"a reason that is no text":                   {overrule, `{"o": "` + stranger + "\", \"r\": \"\xff\"}", bad},
		"half of a character":                        {write, to(`"content": "a b \ud800"`), bad},
		"an entry's id with NUL":                     {read, `{"i": "\u0000"}`, bad},
	} {
		t.Run(name, func(t *testing.T) {
			got := a.raw(test.query, test.variables)
			code := "-"
			if len(got.Errors) > 0 {
				code = got.Errors[0].Extensions.Code
				if len(got.Errors[0].Message) > 600 {
					t.Errorf("the message has %d bytes: %.200s", len(got.Errors[0].Message), got.Errors[0].Message)
				}
			}
			if code != test.code {
				t.Errorf("%q: %+v %.300s, want %s", code, got.Errors, got.Data, test.code)
			}
		})
	}
	if after := a.window(id); after.Used != before.Used || len(after.Items) != len(before.Items) || len(after.Tools) != 0 {
		t.Errorf("the window holds %+v, want it as it was: %+v", after, before)
	}
}
