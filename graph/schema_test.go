package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/tzzr/context-manager/graph/generated"
)

// The schema is the reference: every name in it is described.
func TestSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	described := 0
	check := func(what, description string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", what)
		}
		described++
	}
	for name, d := range schema.Types {
		if d.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		check(name, d.Description)
		for _, v := range d.EnumValues {
			check(name+"."+v.Name, v.Description)
		}
		for _, f := range d.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			check(name+"."+f.Name, f.Description)
			for _, a := range f.Arguments {
				check(name+"."+f.Name+"("+a.Name+")", a.Description)
			}
		}
	}
	if described < 300 {
		t.Errorf("looked at %d names only", described)
	}
	if schema.Query == nil || schema.Subscription == nil || schema.Mutation == nil || schema.Query.Kind != ast.Object {
		t.Error("a root type is missing")
	}
}

// Every object with a global id can be read again by it.
func TestNode(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.ask(`mutation { upsertComponents(components: [{namespace: PLY, key: "p"}]) { id } }`, nil, &struct{}{})
	hash := a.append(message("s", "hello", object{
		"threadHash": hashOf("t"), "hashtags": []string{hashOf("h")}, "flagId": hashOf("flg:es"), "masterItemId": hashOf("i"), "locationId": hashOf("l"),
		"playerIds": []string{hashOf("ply:p")},
	}))[0]
	var made struct {
		AddRecords     []struct{ ID string }
		RequestContext struct{ ID string }
	}
	a.ask(`mutation { addRecords(records: [{kind: SECRETARY, book: "b", title: "t", content: "c"}]) { id } requestContext(input: {query: "hello"}) { id } }`, nil, &made)
	var read struct {
		Message map[string]json.RawMessage
	}
	a.ask(`query($h: Hash!) { message(hash: $h) { id session { id } thread { id } owner { id } flag { id } masterItem { id } location { id } players { id } hashtags { id } } }`, object{"h": hash}, &read)
	ids := map[string]string{"Record": made.AddRecords[0].ID, "ContextSelection": made.RequestContext.ID}
	one := func(field string) string {
		var id string
		raw := read.Message[field]
		if json.Unmarshal(raw, &id) == nil {
			return id
		}
		var object struct{ ID string }
		var list []struct{ ID string }
		if json.Unmarshal(raw, &object) == nil {
			return object.ID
		}
		if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
			return list[0].ID
		}
		return ""
	}
	for kind, field := range map[string]string{
		"Message": "id", "Session": "session", "Thread": "thread", "Player": "owner", "Flag": "flag", "Item": "masterItem", "Location": "location", "Hashtag": "hashtags",
	} {
		ids[kind] = one(field)
	}
	for kind, id := range ids {
		var got struct {
			Node *struct {
				ID       string
				Typename string `json:"__typename"`
			}
		}
		a.ask(`query($id: ID!) { node(id: $id) { id __typename } }`, object{"id": id}, &got)
		if got.Node == nil || got.Node.ID != id || got.Node.Typename != kind {
			t.Errorf("node of the %s %q = %+v", kind, id, got.Node)
		}
	}
}
