package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/servertest"
)

// Marks stand for secrets: those of the server, and those that clients send, which no log and no metric may hold.
const (
	serverMark = "serversecret7391"
	clientMark = "clientsecret8264"
)

// internals is what no answer shows.
var internals = regexp.MustCompile(`(?i)\bselect .* from |\binsert into |\bSQLSTATE\b|\bpgx|pgconn|goroutine \d|\.go:\d+|runtime error|panic|postgres://|relation |/internal/`)

// stack is what no log holds.
var stack = regexp.MustCompile(`goroutine \d+ \[|debug\.Stack|(?i)\bselect .* from |\binsert into `)

// provoker sends what goes wrong, and looks at what comes back.
type provoker struct {
	t       *testing.T
	p       *servertest.Process
	schema  *ast.Schema
	answers int
	codes   map[string]int
	named   object // what documents of fields name
	token   string // that asks for fields
	agents  string // of a player's agent, "" until it was made
}

func (v *provoker) send(method, path, body string, header ...string) string {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.p.URL+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	v.look(method+" "+path, string(text)+response.Header.Get("Set-Cookie")+response.Header.Get("Location"))
	return string(text)
}

// answered is the code of an error in an answer.
var answered = regexp.MustCompile(`"code":"([A-Z_]+)"`)

func (v *provoker) look(what, answer string) {
	v.t.Helper()
	v.answers++
	for _, m := range answered.FindAllStringSubmatch(answer, -1) {
		v.codes[m[1]]++
	}
	if strings.Contains(answer, serverMark) || strings.Contains(answer, v.p.Token) || v.agents != "" && strings.Contains(answer, v.agents) {
		v.t.Errorf("%s: the answer has a secret: %.500s", what, answer)
	}
	if found := internals.FindString(answer); found != "" {
		v.t.Errorf("%s: the answer shows %q: %.500s", what, found, answer)
	}
}

// ask sends a document that is valid: one that is not would never reach the store.
func (v *provoker) ask(query string, variables any) string {
	v.t.Helper()
	if _, err := gqlparser.LoadQueryWithRules(v.schema, query, nil); err != nil {
		v.t.Errorf("%s: %v", query, err)
	}
	return v.try(query, variables)
}

// try sends any document.
func (v *provoker) try(query string, variables any) string {
	v.t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		v.t.Fatal(err)
	}
	return v.send("POST", "/graphql", string(body), "Authorization: Bearer "+v.token)
}

// tokens shows tokens that are none, wherever somebody might put one.
func (v *provoker) tokens() {
	v.t.Helper()
	wrong := auth.NewAdminToken()
	for _, header := range []string{
		"Authorization: Bearer " + clientMark, "Authorization: Basic " + clientMark, "Authorization: " + clientMark, "Authorization: Bearer " + wrong,
		"Cookie: cm_session=" + clientMark, "Cookie: __Host-cm_session=" + clientMark, "Origin: https://" + clientMark + ".example",
		"X-Forwarded-For: " + clientMark, "Accept: " + clientMark, "Content-Type: " + clientMark, "Referer: http://a/" + clientMark, "User-Agent: " + clientMark,
	} {
		for _, path := range []string{"/graphql", "/session", "/metrics", "/tile/entries/000", "/" + clientMark, "/tile/" + clientMark, "/graphql?token=" + clientMark + "&access_token=" + v.p.Token} {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				v.send(method, path, `{"query":"{`+clientMark+`}"}`, header)
			}
		}
	}
	v.send("POST", "/session", `{"token":"`+clientMark+`"}`)
	v.send("POST", "/session", `{"token":`+clientMark)
	v.send("POST", "/session", `{"token":"`+v.p.Token+`"}`)
	v.send("GET", "/graphql", "", "Upgrade: websocket", "Connection: "+clientMark, "Sec-WebSocket-Protocol: "+clientMark)
	for _, raw := range []string{
		clientMark + " / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /" + clientMark + " HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost: " + clientMark + "\r\n" + clientMark + "\r\n\r\n",
		"GET /%zz" + clientMark + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: -" + clientMark + "\r\n\r\n",
		"GET /graphql?a=;" + clientMark + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "\x16\x03\x01" + clientMark + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(v.p.URL, "http://"))
		if err != nil {
			v.t.Fatal(err)
		}
		_, _ = io.WriteString(conn, raw)
		text, _ := io.ReadAll(conn)
		v.look(raw, string(text))
		_ = conn.Close()
	}
}

// values sends values that the log or its database does not take, and documents that are wrong.
func (v *provoker) values() {
	v.t.Helper()
	good := hashOf("good")
	for _, content := range []string{clientMark + "\x00", clientMark + "'; DROP TABLE log.messages; --", clientMark + "\xff", strings.Repeat(clientMark, 100_000), clientMark + "\ud7ff\uffff"} {
		v.ask("mutation($m:[MessageInput!]!){appendMessages(messages:$m){hash}}", object{"m": []object{{"sessionHash": good, "ownerId": good, "content": content}}})
		v.ask("mutation($q:String!){requestContext(input:{query:$q}){id}}", object{"q": content})
		v.ask("mutation($n:String!){dropEmbeddingModel(name:$n){name}}", object{"n": content})
	}
	for _, attachments := range []any{clientMark, object{clientMark: json.Number("1e999999")}, object{clientMark: "\x00"}, []any{clientMark, nil}} {
		v.ask("mutation($m:[MessageInput!]!){appendMessages(messages:$m){hash}}", object{"m": []object{{"sessionHash": good, "ownerId": good, "content": "", "attachments": attachments}}})
	}
	for _, at := range []string{clientMark, "0000-00-00T00:00:00Z", "294277-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z", "infinity"} {
		v.ask("mutation($m:[MessageInput!]!){appendMessages(messages:$m){hash}}", object{"m": []object{{"sessionHash": good, "ownerId": good, "content": "", "createdAt": at}}})
	}
	for _, id := range []string{clientMark, "bTox", "", "bTo5OTk5OTk5OTk5OTk5OTk5OTk5OQ==", "'"} {
		v.ask("query($i:ID!){node(id:$i){id} contextSelection(id:$i){id} replayContext(id:$i){identical}}", object{"i": id})
		v.ask("query($a:String){messages(after:$a,first:1){totalCount} threads(after:$a,first:1){totalCount} selections(after:$a){totalCount} windows(after:$a){totalCount}}", object{"a": id})
	}
	for _, document := range []string{
		"{" + clientMark + "}", clientMark, "{message(hash:\"" + clientMark + "\"){hash}}", "query($" + clientMark + ":Int){a}", "{messages(first:99999999999999999999){totalCount}}",
		"query " + clientMark + "{__typename}", "{a(a:\"" + clientMark, "{..." + clientMark + "}", "{" + clientMark + ":messages(first:-1){totalCount}}",
		"{__typename @" + clientMark + "}", "subscription{messageAppended{" + clientMark + "}}",
	} {
		v.try(document, object{clientMark: clientMark})
	}
	for _, body := range []string{clientMark, `{"` + clientMark, `{"query":"{__typename}","` + clientMark + `":`, `{"query":` + clientMark, `["` + clientMark + `"]`, `{"query":"{__typename}","variables":"` + clientMark + `"}`} {
		v.send("POST", "/graphql", body, "Authorization: Bearer "+v.p.Token)
		v.send("POST", "/graphql", body, "Authorization: Bearer "+v.p.Token, "Accept: text/event-stream")
	}
}

// begin makes what the documents of fields name, and a token of an agent.
func (v *provoker) begin() {
	v.t.Helper()
	hash := hashOf("good")
	var created struct {
		Data struct{ CreateToken struct{ Secret string } }
	}
	text := v.ask(`mutation($h:Hash!){createToken(input:{kind:AGENT,player:$h,scopes:["log:read","log:append","context:select","memory:write","events:ingest","verify"]}){secret}}`, object{"h": hash})
	if json.Unmarshal([]byte(text), &created) != nil || created.Data.CreateToken.Secret == "" {
		v.t.Fatal(text)
	}
	v.agents = created.Data.CreateToken.Secret
	v.named = object{"h": hash, "q": clientMark, "m": object{"sessionHash": hash, "ownerId": hash, "content": clientMark}}
	for name, document := range map[string]string{
		"c": `mutation{made:startConversation(role:CLIENT,userId:"` + clientMark + `"){id}}`, "w": `mutation{made:createWindow(input:{name:"` + clientMark + `"}){id}}`,
		"s": `mutation{made:requestContext(input:{query:"` + clientMark + `"}){id}}`,
	} {
		var answer struct {
			Data struct{ Made struct{ ID string } }
		}
		if text := v.ask(document, nil); json.Unmarshal([]byte(text), &answer) != nil || answer.Data.Made.ID == "" {
			v.t.Fatalf("%s: %s", document, text)
		}
		v.named[name] = answer.Data.Made.ID
	}
}

// declared are the types of the variables of the documents of fields.
var declared = map[string]string{"$h": "Hash!", "$q": "String!", "$m": "MessageInput!", "$c": "String!", "$w": "ID!", "$s": "ID!"}

// fields asks for what needs the database, each by itself, and by every route, as an administrator and as an agent, whom the fence keeps
// in.
func (v *provoker) fields() {
	v.t.Helper()
	for _, v.token = range []string{v.agents, v.p.Token} {
		v.fieldsOf()
	}
}

func (v *provoker) fieldsOf() {
	v.t.Helper()
	for _, field := range []string{
		"messages(first:1){totalCount edges{node{hash session{length} integrity{state}}}}", "threads{totalCount}", "sessions{totalCount}", "message(hash:$h){content}",
		"components{totalCount}", "records{totalCount}", "verifyLog{valid}", "checkpoint{note}", "embeddingModels{name}", "seal{condition}", "overview{messages problems{message}}", "server{databaseVersion}",
		"channels{name}", "tokens{totalCount}", "quarantines{totalCount}", "eraseImpact(message:$h){contents}",
		"windows(first:1){edges{node{used}}}", "window(id:$w){items{content} segments{name} tools{name} scratchpad{totalCount} operations{totalCount}}", "searchTools(window:$w,query:$q){name}", "contextMetrics{scratchpadReads}",
		"conversation(id:$c){history{content} session{hash}}", "conversations(role:CLIENT,userId:$q){id}", "threadEvents(agent:$q,userId:$q,threadId:$q){content}", "userThreads(agent:$q,userId:$q){threadId}",
		"selections{totalCount}", "contextSelection(id:$s){rendered items{hash}}", "replayContext(id:$s){identical}", "whyNot(selection:$s,text:$q){verdicts{kind}}", "tryContext(request:{query:$q}){receipt}",
	} {
		v.field("query", field)
	}
	for _, field := range []string{
		"requestContext(input:{query:$q}){id}", "appendMessages(messages:[$m]){hash}", "recordSelection(selection:$s,message:$m){hash}",
		"writeContext(input:{window:$w,type:USER_MESSAGE,content:$q}){rejected}", "offload(window:$w,contents:[$q]){id}", "selectIntoWindow(window:$w,input:{query:$q}){id}", "registerTools(window:$w,tools:[{name:$q,description:$q}]){name}",
		"recordExchange(conversation:$c,user:$q,assistant:$q){turns}", "updateState(conversation:$c,state:{a:$q}){state}", "promptMessages(conversation:$c,input:$q,rolePrompt:$q){content}",
		"upsertComponents(components:[{namespace:FLG,key:$q,name:$q}]){hash}",
	} {
		v.field("mutation", field)
	}
	for _, path := range []string{"/readyz", "/healthz", "/checkpoint", "/tile/0/000.p/1", "/log.pub"} {
		v.send("GET", path, "")
	}
	bearer := "Authorization: Bearer " + v.token
	for _, path := range []string{"/export?session=", "/stretch?session="} {
		v.send("GET", path+hashOf("good"), "", bearer)
		v.send("GET", path+clientMark, "", bearer)
	}
	event := `{"source":"s","agent":"` + clientMark + `","user_id":"u","thread_id":"t","role":"user","content":"` + clientMark + `"%s}`
	v.send("POST", "/hooks/events", "["+fmt.Sprintf(event, "")+","+fmt.Sprintf(event, `,"tags":["`+clientMark+`"]`)+"]", bearer)
	v.send("POST", "/hooks/events", fmt.Sprintf(event, `,"`+clientMark+`":1`), bearer)
	v.send("POST", "/hooks/events", fmt.Sprintf(event, ""), "X-Signature-Timestamp: "+clientMark, "X-Signature-256: sha256="+clientMark)
	for _, operation := range []string{"{" + clientMark + ":messages(first:1){totalCount edges{node{content}}}}", "subscription{" + clientMark + ":verificationProgress{done}}"} {
		if _, err := gqlparser.LoadQueryWithRules(v.schema, operation, nil); err != nil {
			v.t.Errorf("%s: %v", operation, err)
		}
		v.socket(v.hello(), subscribing(operation))
	}
}

// field asks for one, under an alias, with the variables that it names.
func (v *provoker) field(operation, field string) {
	v.t.Helper()
	var variables []string
	for name, kind := range declared {
		if strings.Contains(field, name) {
			variables = append(variables, name+":"+kind)
		}
	}
	head := operation
	if len(variables) > 0 {
		head += "(" + strings.Join(variables, ",") + ")"
	}
	v.ask(head+"{"+clientMark+":"+field+"}", v.named)
}

// quoting has the database quote in an error what was written. That its own log has it is this test's doing, so it does not.
const quoting = `CREATE FUNCTION public.quote() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET log_min_messages = 'panic' AS
	$$ BEGIN RAISE EXCEPTION 'cannot keep "%"', NEW.content; END $$;
	CREATE TRIGGER quote BEFORE INSERT ON log.messages FOR EACH ROW EXECUTE FUNCTION public.quote()`

// Whatever goes wrong, no answer, no line of the log or of the private Postgres' and no metric has a secret, SQL or a stack.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	owner := start(t, servertest.DataDir(t), "DEMO=1")
	url := strings.Replace(owner.DatabaseURL(), "@", ":"+serverMark+"@", 1)
	if !strings.Contains(url, serverMark) {
		url += "&password=" + serverMark
	}
	p := start(t, servertest.DataDir(t), "DATABASE_URL="+url, "ADDRESS_RATE_LIMIT=0",
		"EMBEDDINGS_URL=http://127.0.0.1:1/v1", "EMBEDDINGS_MODEL=m", "EMBEDDINGS_KEY="+serverMark,
		"LLM_URL=http://127.0.0.1:1/v1", "LLM_MODEL=m", "LLM_KEY="+serverMark, "HOOK_SECRETS=crm="+serverMark,
		"LOG_KEY="+filepath.Join(owner.DataDir, "log.key"))
	v := &provoker{t: t, p: p, schema: schemaOf(), codes: map[string]int{}, token: p.Token}
	v.tokens()
	v.values()
	v.sockets()
	v.begin()
	v.fields()
	for _, defect := range []struct{ made, mended string }{
		{"ALTER TABLE log.messages RENAME TO gone", "ALTER TABLE log.gone RENAME TO messages"},
		{"ALTER TABLE core.items RENAME COLUMN hash TO gone", "ALTER TABLE core.items RENAME COLUMN gone TO hash"},
		{"ALTER TABLE memory.windows RENAME TO gone; ALTER TABLE memory.conversations RENAME TO went; ALTER TABLE memory.selections RENAME TO left_us",
			"ALTER TABLE memory.gone RENAME TO windows; ALTER TABLE memory.went RENAME TO conversations; ALTER TABLE memory.left_us RENAME TO selections"},
		{quoting, "DROP TRIGGER quote ON log.messages"},
	} {
		runSQL(t, owner.DatabaseURL(), defect.made)
		v.fields()
		runSQL(t, owner.DatabaseURL(), defect.mended)
	}
	owner.StopPostgres()
	v.fields() // while it is away, or comes back
	_, metrics := p.GetAsAdmin("/metrics")
	key, err := os.ReadFile(filepath.Join(owner.DataDir, "log.key"))
	if err != nil {
		t.Fatal(err)
	}
	postgres, err := os.ReadFile(filepath.Join(owner.DataDir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(postgres), "ERROR:  ") {
		t.Errorf("Postgres did not complain of anything:\n%s", postgres)
	}
	for what, text := range map[string]string{"the log": p.Output(), "Postgres' log": string(postgres), "/metrics": metrics} {
		text = strings.Replace(text, p.URL+"/#token="+p.Token, "", 1) // the one that is printed at the first start
		for name, secret := range map[string]string{
			"a setting": serverMark, "the token": p.Token, "the agent's token": v.agents, "what a client sent": clientMark, "the key": strings.TrimSpace(string(key)),
		} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s has %s: …%s", what, name, text[max(0, at-300):min(len(text), at+100)])
			}
		}
		if found := stack.FindString(text); found != "" {
			t.Errorf("%s has %q", what, found)
		}
	}
	if !regexp.MustCompile(`msg="internal error" field="" cause=".*cannot keep … \(SQLSTATE P0001\)"`).MatchString(p.Output()) {
		t.Error("the log does not tell why an event was answered with INTERNAL")
	}
	for _, code := range []string{"BAD_USER_INPUT", "UNAUTHENTICATED", "NOT_FOUND", "INTERNAL", "UNAVAILABLE"} {
		if v.codes[code] == 0 {
			t.Errorf("nothing was answered with %s: %v", code, v.codes)
		}
	}
	t.Logf("%d answers: %v", v.answers, v.codes)
}

// A server that cannot start says why, and none of its secrets.
func TestStartTellsNoSecrets(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://user:" + serverMark + "@127.0.0.1:1/db?connect_timeout=2", "postgres://user:" + serverMark + "@127.0.0.1:x/db", "host=127.0.0.1 port=1 connect_timeout=2 password=" + serverMark,
		"postgres://user:" + serverMark + "%zz@127.0.0.1:1/db", "password='" + serverMark,
	} {
		cmd := command(t, servertest.DataDir(t))
		cmd.Env = append(cmd.Env, "DATABASE_URL="+url)
		if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), serverMark) {
			t.Errorf("%s: %v, %s", url, err, out)
		}
	}
}
