package graph

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/limit"
)

// quiet is an API without a store, for what never reaches one.
func quiet() http.Handler {
	return newQuiet(auth.NewAdminVerifier(auth.NewAdminToken()), nil)
}

func newQuiet(tokens auth.Verifier, limits *limit.Limiter) http.Handler {
	log := slog.New(slog.DiscardHandler)
	return NewHandler(&Resolver{Log: log}, Config{Log: log, Tokens: tokens, Limits: limits})
}

type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct{ Code fault.Code }
	}
}

func (a answer) code() fault.Code {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Extensions.Code
}

func (a answer) message() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Message
}

func requestBody(t testing.TB, query string, variables any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func post(h http.Handler, caller auth.Caller, body string, header ...string) *http.Response {
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), caller)))
	return w.Result()
}

func read(t testing.TB, r *http.Response) answer {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("the answer %.200q is not JSON: %v", text, err)
	}
	return a
}

func doubled(n int, leaf string) string {
	var b strings.Builder
	b.WriteString("{...f0}")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on Query{...f%d ...f%d}", i, i+1, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on Query{%s}", n, leaf)
	return b.String()
}

func nested(n int, open, leaf string) string {
	return "{" + strings.Repeat(open+"{", n) + leaf + strings.Repeat("}", n) + "}"
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+" ", i)
	}
	return b.String()
}

// paired has operations in which each level has a field and a fragment with the same one, down to a depth: all below is
// compared three times a level.
func paired(depth, operations int) string {
	set, fragments := "id bad", ""
	for i := range depth {
		fragments += fmt.Sprintf("fragment f%d on ContextSelection{previous{%s}} ", i, set)
		set = fmt.Sprintf("previous{%s} ...f%d", set, i)
	}
	return numbered(operations, "query q%d{contextSelection(id:1){"+set+"}}") + fragments
}

// hostile requests, most of about 15 kB or less, and a part of what they are told.
func hostile() map[string]struct{ query, want string } {
	page := "threads{edges{node{messages{edges{node{session{messages{edges{node{hash}}}}}}}}}}"
	chain := "session(hash:$h){messages{edges{node{session{messages{edges{node{session{messages{edges{node{"
	closing := strings.Repeat("}", strings.Count(chain, "{"))
	return map[string]struct{ query, want string }{
		"repeated fields":         {"{" + strings.Repeat("a ", 7500) + "}", "7500 fields and fragments; at most 500"},
		"repeated __typename":     {"{" + strings.Repeat("__typename ", 1300) + "}", "1300 fields and fragments; at most 500"},
		"fragments doubled":       {doubled(26, "__typename"), "fields and fragments; at most 500"},
		"fragments doubled, 49":   {doubled(49, "__typename"), "1073741824 fields and fragments; at most 500"},
		"100 levels":              {nested(100, "a", "a"), "101 levels of fields; at most 15"},
		"4500 levels":             {nested(4500, "a", "a"), "levels of fields; at most 15"},
		"100 levels of fragments": {nested(600, "...", "a"), "601 fields and fragments; at most 500"},
		"aliases":                 {"{" + numbered(101, "a%d:__typename") + "}", "101 aliases; at most 100"},
		"aliases below":           {"{threads{" + numbered(101, "a%d:__typename") + "}}", "101 aliases; at most 100"},
		"root fields":             {"{" + strings.Repeat("__typename ", 51) + "}", "51 root fields; at most 50"},
		"root fields by fragment": {"{...f ...f} fragment f on Query{" + strings.Repeat("__typename ", 26) + "}", "52 root fields; at most 50"},
		"directives":              {"{__typename " + strings.Repeat("@include(if:true)", 700) + "}", "700 directives; at most 50"},
		"unknown directives":      {"{__typename " + strings.Repeat("@a", 7000) + "}", "7000 directives; at most 50"},
		"arguments":               {"{a(" + numbered(2000, "a%d:1") + ")}", "2000 arguments; at most 500"},
		"repeated arguments":      {"{message(" + strings.Repeat("hash:1 ", 2000) + "){hash}}", "2000 arguments; at most 500"},
		"variables":               {"query(" + numbered(1500, "$a%d:Int") + "){__typename}", "1500 variables; at most 100"},
		"operations":              {numbered(800, "query q%d{__typename}"), "800 operations; at most 20"},
		"fragments":               {"{__typename}" + numbered(800, "fragment f%d on A{a}"), "800 fragments; at most 50"},
		"two fragments of a name": {"{...f} fragment f on Query{" + strings.Repeat("__typename ", 14_900) + "} fragment f on Query{__typename}", "two fragments of one name"},
		"the same, the other way": {"{...f} fragment f on Query{__typename} fragment f on Query{" + strings.Repeat("__typename ", 14_900) + "}", "two fragments of one name"},
		"circular fragments":      {"{...a} fragment a on Query{...b} fragment b on Query{...a}", `spreads itself`},
		"self in fragment":        {"{...a} fragment a on Query{threads{edges{node{...a}}}}", `fragment "a" spreads itself`},
		"deep literal":            {"{a(a:" + strings.Repeat("[", 7000) + strings.Repeat("]", 7000) + ")}", "an argument has more than 100 levels"},
		"deep literal of objects": {"{a(a:" + strings.Repeat("{a:", 3000) + "1" + strings.Repeat("}", 3000) + ")}", "an argument has more than 100 levels"},
		"deep default":            {"query($a:Int=" + strings.Repeat("[", 7000) + strings.Repeat("]", 7000) + "){a}", "an argument has more than 100 levels"},
		"tokens":                  {"{a(a:[" + strings.Repeat("1,", 15_000) + "])}", "exceeded token limit of 15000"},
		"circular introspection": {"{__schema{types{" + strings.Repeat("fields{type{", 6) + "name" + strings.Repeat("}}", 6) + "}}}",
			"Maximum introspection depth exceeded"},
		"circular introspection, deeper": {"{__schema{types{" + strings.Repeat("fields{type{", 20) + "name" + strings.Repeat("}}", 20) + "}}}",
			"levels of fields; at most 15"},
		"complexity": {"{" + strings.ReplaceAll(page, "messages{", "messages(first:200){") + "}", "complexity is 6040151; at most 200000"},
		"complexity by fragments": {"{a:threads(first:200){...t} b:threads(first:200){...t}} fragment t on ThreadConnection{edges{node{" +
			"messages(first:200){edges{node{hash id owner{hash}}}}}}}", "complexity is"},
		"checks":      {"{" + numbered(40, "a%d:verifyLog{valid}") + "}", "complexity is 1600080; at most 200000"},
		"five checks": {"query($h:Hash!){...f} fragment f on Query{" + numbered(5, "a%d:verifySession(hash:$h){valid}") + "}", "complexity is"},
		"replays":     {"{" + numbered(50, "a%d:replayContext(id:\"a\"){identical}") + "}", "complexity is 2000100; at most 200000"},
		"models":      {"{" + numbered(50, "a%d:embeddingModels{name}") + "}", "complexity is"},
		"many alike, deep": {"query($h:Hash!){" + strings.Repeat(chain+strings.Repeat("hash ", 38)+closing+" ", 11) + "}",
			"fields and fragments; at most 500"},
		"enums":               {"{components(namespaces:[" + strings.Repeat("PLX_ ", 2900) + "]){totalCount}}", "PLX_"},
		"unknown fields":      {"{" + numbered(49, "threats%d") + "}", "Cannot query field"},
		"unterminated":        {`{a(a:"` + strings.Repeat("x", 14_000), "Unexpected <Invalid>"},
		"comments":            {strings.Repeat("#\n", 7000), "no operation provided"},
		"commas":              {strings.Repeat(",", 15_000), "no operation provided"},
		"no operation":        {"fragment a on Query{a}", "no operation provided"},
		"names":               {strings.Repeat("a", 15_000), "Unexpected Name"},
		"spreads to nowhere":  {"{" + numbered(499, "...f%d") + "}", "is not defined"},
		"spreads of one":      {"{" + strings.Repeat("...f ", 490) + "} fragment f on Query{a}", "fields and fragments; at most 500"},
		"spreads of many":     {"{" + numbered(8, "...f%d") + numbered(8, "...f%d") + "}" + numbered(8, "fragment f%d on Query{a b c}"), "Cannot query field"},
		"alike":               {"{threads{" + strings.Repeat("a ", 490) + "}}", "489 fields of the same name side by side; at most 100"},
		"alike, inline":       {"{threads{" + strings.Repeat("...{a} ", 240) + "}}", "239 fields of the same name side by side; at most 100"},
		"alike, allowed":      {"{threads{" + strings.Repeat("a ", 101) + "}}", "Cannot query field"},
		"alike, in arguments": {"{threads{" + numbered(50, "a(a:%d)") + numbered(50, "a:b(a:%d)") + "}}", "Cannot query field"},
		"alike, in operations": {numbered(20, "query q%d($h:Hash!){message(hash:$h){"+strings.Repeat("thread{hash bad} ", 98)+"}}"),
			"the document has 1940 fields of the same name side by side; at most 100"},
		"alike, in fragments": {"query($h:Hash!){message(hash:$h){hash}}" + numbered(24, "fragment f%d on Message{"+strings.Repeat("thread{hash id bad} ", 98)+"}"),
			"the document has 2328 fields of the same name side by side; at most 100"},
		"alike, in a fragment of many": {numbered(20, "query q%d($h:Hash!){message(hash:$h){...f}}") + "fragment f on Message{" + strings.Repeat("thread{hash id bad} ", 98) + "}",
			"the document has 2037 fields of the same name side by side; at most 100"},
		"alike, below a field of a fragment of many": {numbered(20, "query q%d{...f}") + "fragment f on Query{overview{bad " + strings.Repeat("checkpoint{size bad} ", 98) + "}}",
			"the document has 2037 fields of the same name side by side; at most 100"},
		"alike, by fragments at each level": {paired(6, 20), "the document has 6663 fields and fragments; at most 2000"},
		"values in a fragment of many": {numbered(20, "query q%d{...f}") + "fragment f on Query{components(namespaces:[" + strings.Repeat("PLX_ ", 2900) + "]){totalCount}}",
			"the document has 60921 values of arguments; at most 15000"},
		"fields of inputs in a fragment of many": {numbered(20, "query q%d{...f}") + "fragment f on Query{messages(filter:{" + strings.Repeat("a:1 ", 3500) + "}){totalCount}}",
			"the document has 73521 values of arguments; at most 15000"},
		"fields of inputs":    {"{messages(filter:{" + strings.Repeat("a:1 ", 3500) + "}){totalCount}}", "a"},
		"variables in values": {"query(" + numbered(100, "$a%d:Int ") + "){messages(filter:{importance:[" + strings.Repeat("$a99 ", 2900) + "]}){totalCount}}", "a"},
		"alike, by fragments": {"query($h:Hash!){message(hash:$h){" + numbered(49, "...f%d") + "}}" + numbered(49, "fragment f%d on Message{thread{lastMessage{thread{lastMessage{bad}}}}}"), "Cannot query field"},
		"alike, deep twice":   {"query($h:Hash!){" + strings.Repeat(chain+strings.Repeat("hash ", 45)+closing+" ", 2) + "}", "complexity is"},
		"alike, deep often":   {"query($h:Hash!){" + strings.Repeat(chain+strings.Repeat("hash ", 5)+closing+" ", 15) + "}", "complexity is"},
		"unlike, deep twice":  {"query($h:Hash!){" + strings.Repeat(chain+numbered(45, "h%d:hash")+closing+" ", 2) + "}", "complexity is"},
		"alike, deep and by fragments": {"query($h:Hash!){" + strings.Repeat(chain+strings.Repeat("...f ", 40)+closing+" ", 2) + "} fragment f on Message{hash hash}",
			"complexity is"},
	}
}
