package graph_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tzzr/context-manager/graph"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
)

const eraseMutation = `mutation($h: Hash!, $r: String!) { eraseMessage(hash: $h, reason: $r) { hash } }`

func (a *api) erase(hash, reason string) string {
	a.t.Helper()
	var out struct{ EraseMessage struct{ Hash string } }
	a.ask(eraseMutation, object{"h": hash, "r": reason}, &out)
	return out.EraseMessage.Hash
}

func TestEraseMessage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	secret := message("s", "the code of the safe", object{"attachments": object{"a": 1}, "ambient": object{"b": 2}, "threadHash": hashOf("t"), "idempotencyKey": "k"})
	hashes := a.append(message("s", "first"), secret, message("s", "third"))
	target := hashes[1]
	var before struct {
		Message struct{ Integrity struct{ Preimage string } }
	}
	a.ask(`query($h: Hash!) { message(hash: $h) { integrity { preimage } } }`, object{"h": target}, &before)
	erasure := a.erase(target, "asked for")

	var after struct{ Message, Session any }
	a.ask(`query($h: Hash!, $s: Hash!) {
		message(hash: $h) { content attachments ambient sequence thread { hash } citedBy { edges { node { hash } } }
			integrity { state preimage contentPreimage erasure { hash eventType owner { hash } content attachments sequence refs { type hash } integrity { erasure { hash } } } } }
		session(hash: $s) { length head } }`, object{"h": target, "s": hashOf("s")}, &after)
	want := `{"message": {"content": null, "attachments": {}, "ambient": null, "sequence": 2, "thread": {"hash": "` + hashOf("t") + `"},
			"citedBy": {"edges": [{"node": {"hash": "` + erasure + `"}}]},
			"integrity": {"state": "ERASED", "preimage": "` + before.Message.Integrity.Preimage + `", "contentPreimage": null, "erasure": {
				"hash": "` + erasure + `", "eventType": "ERASURE", "owner": {"hash": "` + auth.Administrator().Player.String() + `"}, "content": "asked for",
				"attachments": {"erased": "` + target + `", "sequence": 2}, "sequence": 4, "refs": [{"type": "CONTEXT", "hash": "` + target + `"}],
				"integrity": {"erasure": null}}}},
		"session": {"length": 4, "head": "` + erasure + `"}}`
	got := object{"message": after.Message, "session": after.Session}
	if diff := cmp.Diff(normal(t, []byte(want)), normal(t, got)); diff != "" {
		t.Errorf("after the erasure: %s", diff)
	}
	if again := a.append(secret); again[0] != target {
		t.Errorf("the append with its key gives %s, want the erased message", again[0])
	}
	var log struct {
		VerifyLog struct {
			Valid            bool
			Messages, Erased int
		}
	}
	a.ask(`{ verifyLog { valid messages erased } }`, nil, &log)
	if v := log.VerifyLog; !v.Valid || v.Messages != 5 || v.Erased != 1 {
		t.Errorf("verifyLog = %+v, want 4 messages and an audit event, 1 erased, valid", v)
	}
	tests := []struct{ name, hash, reason, code, message string }{
		{"again", target, "why", "CONFLICT", "erased before"},
		{"an erasure", erasure, "why", "CONFLICT", "ERASURE"},
		{"nothing", hashOf("nothing"), "why", "NOT_FOUND", "no such message"},
		{"no reason", hashes[0], "", "BAD_USER_INPUT", "reason: is empty"},
		{"long reason", hashes[0], long(1025), "BAD_USER_INPUT", "reason: has 1025 bytes"},
	}
	for _, c := range tests {
		r := a.try(eraseMutation, object{"h": c.hash, "r": c.reason})
		if len(r.Errors) != 1 || r.Errors[0].Extensions.Code != c.code || !strings.Contains(r.Errors[0].Message, c.message) {
			t.Errorf("%s: errors = %+v, want %s with %q", c.name, r.Errors, c.code, c.message)
		}
	}
}

// Whoever is no administrator erases nothing, and is not told whether there is anything to erase.
func TestEraseMessageIsForAdministrators(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hash := a.append(message("s", "first"))[0]
	log := slog.New(slog.DiscardHandler)
	served := graph.NewHandler(&graph.Resolver{Store: a.store, Log: log}, graph.Config{Log: log, Tokens: auth.NewAdminVerifier(auth.NewAdminToken())})
	for _, role := range []auth.Role{auth.Agent, auth.Client, auth.Hook, ""} {
		as := &api{t: t, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			served.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), auth.Caller{Player: chain.Sum([]byte("owner")), Role: role})))
		})}
		for _, target := range []string{hash, hashOf("nothing")} {
			r := as.try(eraseMutation, object{"h": target, "r": "why"})
			if len(r.Errors) != 1 || r.Errors[0].Extensions.Code != "FORBIDDEN" {
				t.Errorf("as %q: errors = %+v, want FORBIDDEN", role, r.Errors)
			}
		}
	}
	var got struct{ Message struct{ Content *string } }
	a.ask(`query($h: Hash!) { message(hash: $h) { content } }`, object{"h": hash}, &got)
	if got.Message.Content == nil {
		t.Error("the message was erased")
	}
}

// A selection's receipt is checked from what the API gives, before the erasure of an item and after it.
func TestEraseKeepsReceiptOfSelection(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "The hotel is by the sea."))
	target := a.append(message("t", "The hotel has a safe."))[0]
	const fields = `{ id receipt preimage rendered renderedSalt items { source { ... on Message { hash content } } explanation { matchedTerms } } }`
	type given struct {
		ID, Receipt, Preimage, Rendered string
		RenderedSalt                    *string
		Items                           []struct {
			Source struct {
				Hash    string
				Content *string
			}
			Explanation struct{ MatchedTerms []string }
		}
	}
	var first struct{ RequestContext given }
	a.ask(`mutation { requestContext(input: {query: "Which hotel has a safe?", threshold: 0}) `+fields+` }`, nil, &first)
	before := first.RequestContext
	bytes := receiptOf(t, before.Preimage, before.Receipt)
	if before.RenderedSalt == nil {
		t.Fatal("renderedSalt is null")
	}
	salt, err := base64.StdEncoding.DecodeString(*before.RenderedSalt)
	digest := sha256.Sum256(append(salt, before.Rendered...))
	if want := `"renderedDigest":"` + hex.EncodeToString(digest[:]) + `"`; err != nil || !strings.Contains(bytes, want) || strings.Contains(bytes, "by the sea") {
		t.Errorf("preimage = %s, want %s and no text", bytes, want)
	}
	a.erase(target, "asked for")
	var second struct{ ContextSelection given }
	a.ask(`query($id: ID!) { contextSelection(id: $id) `+fields+` }`, object{"id": before.ID}, &second)
	after := second.ContextSelection
	if got := receiptOf(t, after.Preimage, before.Receipt); got != bytes || after.Receipt != before.Receipt {
		t.Errorf("the preimage was %s and is %s", bytes, got)
	}
	if after.RenderedSalt != nil || strings.Contains(after.Rendered, "safe") || !strings.Contains(after.Rendered, "\n- [erased]") || !strings.Contains(after.Rendered, "by the sea") {
		t.Errorf("rendered = %q with salt %v, want the erased text gone and the other there", after.Rendered, after.RenderedSalt)
	}
	for _, item := range after.Items {
		if gone := item.Source.Hash == target; gone != (item.Source.Content == nil) || gone != (len(item.Explanation.MatchedTerms) == 0) {
			t.Errorf("item = %+v, erased: %t", item, gone)
		}
	}
}

// receiptOf gives the bytes of a preimage, which must have the receipt.
func receiptOf(t *testing.T, preimage, receipt string) string {
	t.Helper()
	bytes, err := base64.StdEncoding.DecodeString(preimage)
	if sum := sha256.Sum256(bytes); err != nil || hex.EncodeToString(sum[:]) != receipt {
		t.Errorf("the preimage has %x, %v; want the receipt %s", sum, err, receipt)
	}
	return string(bytes)
}
