package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/servertest"
)

// Whose secret signs events.
const hookSource, hookSecret = "webchat", "a secret of a test"

// bySignature ends the names of what is signed instead of coming with a token.
const bySignature = ", signed"

// surroundings are strings of requests that are no arguments, each by the method and route that it is sent to.
func surroundings(t *testing.T, p *servertest.Process, known samples) []target {
	t.Helper()
	const asks, messages = "Content-Type: application/json", "{messages(first:1){totalCount}}"
	by, all := "Authorization: Bearer "+p.Token, []target(nil)
	add := func(name, path, body string, headers ...string) {
		all = append(all, plain(p.URL, name, path, body, headers...))
	}
	add("GET /graphql: Authorization", "/graphql?query={__typename}", "", by+marker)
	add("GET /graphql: query", "/graphql?query="+messages+marker, "", by)
	add("GET /graphql: operationName", "/graphql?query=query%20a"+messages+"&operationName=a"+marker, "", by)
	add("GET /graphql: variables", "/graphql?query=query($h:Hash!){message(hash:$h){hash}}&variables={%22h%22:%22"+known.Message+marker+"%22}", "", by)
	add("GET /graphql: extensions", "/graphql?query="+messages+"&extensions={%22a%22:%22b"+marker+"%22}", "", by)
	add("POST /graphql: query", "/graphql", `{"query":"`+messages+marker+`"}`, asks, by)
	add("POST /graphql: operationName", "/graphql", `{"query":"query a`+messages+`","operationName":"a`+marker+`"}`, asks, by)
	add("POST /graphql: extensions", "/graphql", `{"query":"`+messages+`","extensions":{"a":"b`+marker+`"}}`, asks, by)
	add("GET /session: Cookie", "/session", "", "Cookie: "+signedIn(t, p)+marker)
	add("POST /session: token", "/session", `{"token":"`+p.Token+marker+`"}`, asks)
	add("DELETE /session: Cookie", "/session", "", "Cookie: "+cookieMark+"abc"+marker)
	for _, path := range []string{"/0*/000.p/1", "/0/000*.p/1", "/0/000.p/1*", "/entries*/000.p/1", "/entries/000*.p/1", "/entries/000.p/1*"} {
		add("GET /tile/: "+strings.ReplaceAll(path, "*", "…"), "/tile"+strings.ReplaceAll(path, "*", marker), "", by)
	}
	for _, path := range []string{"/metrics", "/readyz", "/checkpoint", "/log.pub"} {
		add("GET "+path+": Authorization", path, "", by+marker)
	}
	add("GET /healthz: a parameter", "/healthz?a=b"+marker, "")
	add("GET /: path", "/threads"+marker, "")

	agent := newToken(t, p, object{"kind": "AGENT", "player": known.Player, "scopes": []string{"log:read", "verify"}})
	for _, who := range []string{"", byAgent} {
		if who == byAgent {
			by = "Authorization: Bearer " + agent
		}
		add("GET /export: session"+who, "/export?session="+known.Session+marker, "", by)
		add("GET /stretch: session"+who, "/stretch?session="+known.Session+marker+"&after=0", "", by)
		add("GET /stretch: after"+who, "/stretch?session="+known.Session+"&after=0"+marker, "", by)
		add("GET /stretch: upto"+who, "/stretch?session="+known.Session+"&after=0&upto=9"+marker, "", by)
	}
	return append(all, events(t, p, known.Player)...)
}

// plain is a request with a string that is marked. The name begins with its method.
func plain(at, name, path, body string, headers ...string) target {
	method, _, _ := strings.Cut(name, " ")
	headers = append([]string{method + " " + path + " HTTP/1.1", "Host: " + strings.TrimPrefix(at, "http://")}, headers...)
	return target{name, strings.Join(headers, "\r\n") + "\r\n\r\n" + body}
}

// signedIn gives the cookie of a new session of the console.
func signedIn(t *testing.T, p *servertest.Process) string {
	t.Helper()
	response, err := http.Post(p.URL+"/session", "application/json", strings.NewReader(`{"token":"`+p.Token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	cookie, _, _ := strings.Cut(response.Header.Get("Set-Cookie"), ";")
	return cookie
}

// events are strings of what is told from outside, with a hook's token and signed.
func events(t *testing.T, p *servertest.Process, player string) (all []target) {
	t.Helper()
	const asks, route = "Content-Type: application/json", "POST /hooks/events: "
	by, signed := "Authorization: Bearer "+newToken(t, p, object{"kind": "HOOK", "player": player}), signing(t, p)
	add := func(at, name, body string, headers ...string) {
		all = append(all, plain(at, route+name, "/hooks/events", body, append(headers, asks)...))
	}
	for _, name := range []string{"source", "agent", "user_id", "channel", "thread_id", "event_type", "role", "tags", "content", "payload",
		"created_at", "frontend_message_id", "backend_message_id"} {
		add(p.URL, name, eventWith(name), by)
		add(signed, name+bySignature, eventWith(name), "X-Signature-Timestamp: now", "X-Signature-256: signed")
	}
	add(p.URL, "Authorization", eventWith(""), by+marker)
	add(p.URL, "Idempotency-Key", eventWith(""), by, "Idempotency-Key: hello"+marker)
	add(signed, "X-Signature-Timestamp", eventWith(""), "X-Signature-Timestamp: now"+marker, "X-Signature-256: signed")
	add(signed, "X-Signature-256", eventWith(""), "X-Signature-Timestamp: now", "X-Signature-256: signed"+marker)
	return all
}

// eventWith is an event that holds all that it may, and of ids the one that is marked: what has an id is CONFLICT if it is told otherwise.
func eventWith(marked string) string {
	mark := func(name, text string) string {
		if name == marked {
			text += marker
		}
		return text
	}
	payload := object{"a": mark("payload", "b")}
	if strings.HasSuffix(marked, "_message_id") {
		payload[marked] = mark(marked, "hello")
	}
	text, _ := json.Marshal(object{
		"source": mark("source", hookSource), "agent": mark("agent", "hello"), "user_id": mark("user_id", "hello"), "channel": mark("channel", "hello"),
		"thread_id": mark("thread_id", "hello"), "event_type": mark("event_type", "message"), "role": mark("role", "user"), "importance": 1,
		"tags": []string{mark("tags", "hello")}, "content": mark("content", "hello"), "payload": payload, "created_at": mark("created_at", "2025-01-01T00:00:00Z"),
	})
	return string(text)
}

// signing stands before a server, and puts the time for "now" and the signature for "signed", so that sqlmap's changes are signed
// when they are sent.
func signing(t *testing.T, p *servertest.Process) (at string) {
	t.Helper()
	to, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		body, _ := io.ReadAll(r.In.Body) // what is not whole, the server refuses
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
		h := r.Out.Header
		stamp := strings.Replace(h.Get("X-Signature-Timestamp"), "now", fmt.Sprint(time.Now().Unix()), 1)
		mac := hmac.New(sha256.New, []byte(hookSecret))
		_, _ = fmt.Fprintf(mac, "%s.%s", stamp, body)
		h.Set("X-Signature-Timestamp", stamp)
		h.Set("X-Signature-256", strings.Replace(h.Get("X-Signature-256"), "signed", "sha256="+hex.EncodeToString(mac.Sum(nil)), 1))
	}})
	t.Cleanup(server.Close)
	return server.URL
}
