package graph_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
)

// Everything that is given comes back, and its bytes give its hash.
func TestMessageFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var records struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation { addRecords(records: [{kind: ACCOUNTANT, book: "ledger", title: "Entry 7", content: "c", data: {amount: 12.5}}]) { hash } }`, nil, &records)
	a.ask(`mutation { upsertComponents(components: [{namespace: PLY, key: "o", name: "Owner", preferences: ["tea"]}]) { hash } }`, nil, &struct{}{})
	first := a.append(message("s", "first"))[0]
	given := message("s", "line one\nline two 😀", object{
		"threadHash": hashOf("t"), "ownerId": hashOf("ply:o"), "playerIds": []string{hashOf("p1"), hashOf("p2")}, "masterPlayer": hashOf("m"),
		"role": "assistant", "eventType": "TOOL", "importance": 2, "channel": "webchat", "source": "", "prevHash": first,
		"attachments": json.RawMessage(`{"n": 1.10, "big": 12345678901234567890, "deep": {"list": [null, true]}}`), "ambient": object{"tz": "Europe/Madrid"},
		"hashtags": []string{hashOf("h")}, "flagId": hashOf("flg:gdpr"), "masterItemId": hashOf("mi"), "itemIds": []string{hashOf("i")}, "locationId": hashOf("l"),
		"createdAt": "2030-02-03T05:05:06.1234567+01:00",
		"refs":      []object{{"hash": records.AddRecords[0].Hash, "type": "ACCOUNTANT"}, {"hash": first, "type": "CONTEXT"}},
	})
	hash := a.append(given)[0]
	var got struct{ Message map[string]json.RawMessage }
	a.ask(`query($h: Hash!) { message(hash: $h) {
		hash prevHash sequence session { hash length head } thread { hash messageCount } owner { hash namespace key name preferences }
		players { hash namespace key } masterPlayer { hash } role eventType importance channel source content attachments ambient
		hashtags { hash data } flag { hash key name } masterItem { hash } items { hash } location { hash } createdAt
		refs { position type hash target { __typename ... on Message { content citedBy { totalCount edges { node { hash } } } } ... on Record { title data verified } } }
		ledger: refs(type: ACCOUNTANT) { position } integrity { state preimage contentPreimage } } }`, object{"h": hash}, &got)
	want := `{
		"hash": "` + hash + `", "prevHash": "` + first + `", "sequence": 2,
		"session": {"hash": "` + hashOf("s") + `", "length": 2, "head": "` + hash + `"}, "thread": {"hash": "` + hashOf("t") + `", "messageCount": 1},
		"owner": {"hash": "` + hashOf("ply:o") + `", "namespace": "PLY", "key": "o", "name": "Owner", "preferences": ["tea"]},
		"players": [{"hash": "` + hashOf("p1") + `", "namespace": null, "key": null}, {"hash": "` + hashOf("p2") + `", "namespace": null, "key": null}],
		"masterPlayer": {"hash": "` + hashOf("m") + `"}, "role": "assistant", "eventType": "TOOL", "importance": 2, "channel": "webchat", "source": "; by ` + auth.Administrator().Player.String() + `",
		"content": "line one\nline two 😀", "attachments": {"n": 1.10, "big": 12345678901234567890, "deep": {"list": [null, true]}}, "ambient": {"tz": "Europe/Madrid"},
		"hashtags": [{"hash": "` + hashOf("h") + `", "data": {}}], "flag": {"hash": "` + hashOf("flg:gdpr") + `", "key": "gdpr", "name": "General Data Protection Regulation"},
		"masterItem": {"hash": "` + hashOf("mi") + `"}, "items": [{"hash": "` + hashOf("i") + `"}], "location": {"hash": "` + hashOf("l") + `"},
		"createdAt": "2030-02-03T04:05:06.123456Z",
		"refs": [
			{"position": 1, "type": "ACCOUNTANT", "hash": "` + records.AddRecords[0].Hash + `", "target": {"__typename": "Record", "title": "Entry 7", "data": {"amount": 12.5}, "verified": true}},
			{"position": 2, "type": "CONTEXT", "hash": "` + first + `", "target": {"__typename": "Message", "content": "first", "citedBy": {"totalCount": 1, "edges": [{"node": {"hash": "` + hash + `"}}]}}}],
		"ledger": [{"position": 1}]}`
	var integrity struct{ State, Preimage, ContentPreimage string }
	if err := json.Unmarshal(got.Message["integrity"], &integrity); err != nil {
		t.Fatal(err)
	}
	delete(got.Message, "integrity")
	if diff := cmp.Diff(normal(t, []byte(want)), normal(t, got.Message)); diff != "" {
		t.Error(diff)
	}
	preimage, err := base64.StdEncoding.DecodeString(integrity.Preimage)
	if err != nil || chain.Sum(preimage).String() != hash || integrity.State != "CHAINED" {
		t.Errorf("the preimage (%v) does not give the hash; state %s", err, integrity.State)
	}
	content, err := base64.StdEncoding.DecodeString(integrity.ContentPreimage)
	if digest := chain.Sum(content); err != nil || !bytes.Contains(preimage, digest[:]) || !bytes.Contains(content, []byte("line two 😀")) {
		t.Errorf("the content's preimage (%v) does not give the digest within the message's", err)
	}
}

// normal gives JSON in one form, its numbers digit by digit.
func normal(t *testing.T, v any) string {
	t.Helper()
	text, ok := v.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A mutation's later fields see what its earlier ones wrote.
func TestMutationFieldsInOrder(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const one = `appendMessages(messages: [{sessionHash: $s, threadHash: $s, ownerId: $s, content: "x"}]) { session { length } thread { messageCount } }`
	type written []struct {
		Session struct{ Length int }
		Thread  struct{ MessageCount int }
	}
	var out struct{ A, B written }
	a.ask(`mutation($s: Hash!) { a: `+one+` b: `+one+` }`, object{"s": hashOf("s")}, &out)
	if out.A[0].Session.Length != 1 || out.B[0].Session.Length != 2 || out.B[0].Thread.MessageCount != 2 {
		t.Errorf("a = %+v, b = %+v", out.A, out.B)
	}
}

// The API names what was tampered with, by query and by subscription.
func TestVerification(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hashes := a.append(message("s", "one"), message("s", "two"), message("s", "three"), message("other", "four"))
	type report struct {
		Valid    bool
		Length   int
		Sessions int
		Messages int
		Head     string
		Breaks   []struct {
			Session, MessageHash, Reason, Detail string
			Sequence                             int
		}
	}
	var out struct{ Whole, Bad, Good, None report }
	const query = `query($s: Hash!, $o: Hash!, $n: Hash!) {
		whole: verifyLog { valid sessions messages tookMs breaks { session sequence messageHash reason detail } }
		bad: verifySession(hash: $s) { session valid length head breaks { session sequence messageHash reason detail } }
		good: verifySession(hash: $o) { valid length head breaks { detail } }
		none: verifySession(hash: $n) { valid length breaks { detail } } }`
	variables := object{"s": hashOf("s"), "o": hashOf("other"), "n": hashOf("nothing")}
	a.ask(query, variables, &out)
	if !out.Whole.Valid || out.Whole.Messages != 4 || out.Whole.Sessions != 2 || !out.Bad.Valid || out.Bad.Head != hashes[2] || !out.None.Valid {
		t.Fatalf("before: %+v", out)
	}
	conn, err := pgx.Connect(t.Context(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range []string{`ALTER TABLE log.messages DISABLE TRIGGER ALL`, `UPDATE log.messages SET content = 'TWO' WHERE hash = '` + hashes[1] + `'`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	a.ask(query, variables, &out)
	for name, r := range map[string]report{"whole": out.Whole, "session": out.Bad} {
		if r.Valid || len(r.Breaks) != 1 || r.Breaks[0].MessageHash != hashes[1] || r.Breaks[0].Sequence != 2 ||
			r.Breaks[0].Reason != "HASH_MISMATCH" || r.Breaks[0].Session != hashOf("s") {
			t.Errorf("%s after tampering: %+v", name, r)
		}
	}
	if !out.Good.Valid {
		t.Errorf("the other session: %+v", out.Good)
	}
	if _, err := hex.DecodeString(out.Bad.Head); err != nil {
		t.Errorf("head = %q", out.Bad.Head)
	}
}

// The bytes of a selection give its receipt, when it is made and when it is read again.
func TestSelectionReceipt(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "The lighthouse <b>&</b> the harbour.\u2028Both are old."))
	const fields = `{ id receipt preimage query tokens tokenBudget embeddingModel logSize items { type position source { ... on Message { content } } } dropped { reason source { __typename } } }`
	type selection struct {
		ID, Receipt, Preimage, Query, EmbeddingModel string
		Tokens, TokenBudget, LogSize                 int
		Items                                        []struct{ Type string }
	}
	var out struct{ RequestContext, ContextSelection selection }
	a.ask(`mutation { requestContext(input: {query: "<b>lighthouse</b>", threshold: 0, tokenBudget: 90}) `+fields+` }`, nil, &out)
	a.ask(`query($id: ID!) { contextSelection(id: $id) `+fields+` }`, object{"id": out.RequestContext.ID}, &out)
	if diff := cmp.Diff(out.RequestContext, out.ContextSelection); diff != "" {
		t.Errorf("read again: %s", diff)
	}
	got := out.ContextSelection
	preimage, err := base64.StdEncoding.DecodeString(got.Preimage)
	if err != nil || chain.Sum(preimage).String() != got.Receipt {
		t.Errorf("the preimage (%v) does not give the receipt", err)
	}
	if len(got.Items) != 1 || got.Items[0].Type != "CONTEXT" || got.TokenBudget != 90 || got.LogSize != 1 || got.Query != "<b>lighthouse</b>" {
		t.Errorf("selection = %+v", got)
	}
	if !bytes.HasPrefix(preimage, []byte("context-manager/selection/v3\n{\"request\":{\"query\":\"<b>lighthouse</b>\",\"scope\":{},\"limit\":5,")) ||
		bytes.Contains(preimage, []byte("harbour")) {
		t.Errorf("preimage = %s", preimage)
	}
}
