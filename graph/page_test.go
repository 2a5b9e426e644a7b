package graph_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

type connection struct {
	TotalCount int
	PageInfo   struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
	Edges []struct {
		Cursor string
		Node   struct{ Hash string }
	}
}

func (c connection) hashes() []string {
	var out []string
	for _, e := range c.Edges {
		out = append(out, e.Node.Hash)
	}
	return out
}

const pageFields = `{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { hash } } }`

// Every list of messages can be walked both ways, in pages of any length, and gives each message once.
func TestMessageConnections(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var want []string
	for i := range 23 { // two at a time have the same time
		want = append(want, a.append(message("s", fmt.Sprint(i), object{
			"threadHash": hashOf("t"), "createdAt": at.Add(time.Duration(i/2) * time.Second), "hashtags": []string{hashOf("tag")},
		}))...)
	}
	a.append(message("other", "not of the list"))
	lists := map[string]string{
		"messages": `query($first: Int, $after: String, $last: Int, $before: String) { list: messages(filter: {hashtags: ["` + hashOf("tag") + `"]}, first: $first, after: $after, last: $last, before: $before) ` + pageFields + ` }`,
		"session":  `query($first: Int, $after: String, $last: Int, $before: String) { at: session(hash: "` + hashOf("s") + `") { list: messages(first: $first, after: $after, last: $last, before: $before) ` + pageFields + ` } }`,
		"thread":   `query($first: Int, $after: String, $last: Int, $before: String) { at: thread(hash: "` + hashOf("t") + `") { list: messages(first: $first, after: $after, last: $last, before: $before) ` + pageFields + ` } }`,
	}
	for name, query := range lists {
		page := func(variables object) connection {
			var out struct {
				List connection
				At   struct{ List connection }
			}
			a.ask(query, variables, &out)
			if name == "messages" {
				return out.List
			}
			return out.At.List
		}
		for _, size := range []int{1, 7, 23, 50} {
			var forward, backward []string
			for c := page(object{"first": size}); ; c = page(object{"first": size, "after": c.PageInfo.EndCursor}) {
				if c.TotalCount != len(want) {
					t.Fatalf("%s: totalCount = %d, want %d", name, c.TotalCount, len(want))
				}
				forward = append(forward, c.hashes()...)
				if !c.PageInfo.HasNextPage {
					break
				}
			}
			for c := page(object{"last": size}); ; c = page(object{"last": size, "before": c.PageInfo.StartCursor}) {
				backward = append(c.hashes(), backward...)
				if !c.PageInfo.HasPreviousPage {
					break
				}
			}
			if !slices.Equal(forward, want) || !slices.Equal(backward, want) {
				t.Errorf("%s by %d: forward %d, backward %d messages, want %d in order", name, size, len(forward), len(backward), len(want))
			}
		}
		whole := page(object{"first": 23})
		between := page(object{"first": 50, "after": whole.Edges[4].Cursor, "before": whole.Edges[9].Cursor})
		if !slices.Equal(between.hashes(), want[5:9]) {
			t.Errorf("%s: between two cursors there are %d messages, want 4", name, len(between.Edges))
		}
	}
}

// Lists of sessions and threads come latest first, narrowed to what holds a message that matches.
func TestSessionAndThreadConnections(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var want []string
	for i := range 9 {
		name, tags := fmt.Sprint("s", i), []string{}
		if i%2 == 0 {
			tags = append(tags, hashOf("even"))
		}
		common := object{"threadHash": hashOf("%s", name), "createdAt": at.Add(time.Duration(i) * time.Hour)}
		a.append(message(name, "first", common, object{"hashtags": tags}), message(name, "last", common))
		want = append([]string{hashOf("%s", name)}, want...)
	}
	a.append(message("s3", "and again", object{"threadHash": hashOf("s3"), "createdAt": at.Add(100 * time.Hour)}))
	want = append([]string{hashOf("s3")}, slices.DeleteFunc(want, func(h string) bool { return h == hashOf("s3") })...)
	for _, list := range []string{"sessions", "threads"} {
		query := `query($filter: ContextScope, $first: Int, $after: String) { list: ` + list + `(filter: $filter, first: $first, after: $after) ` + pageFields + ` }`
		walk := func(filter any, size int) (got []string, total int) {
			variables := object{"filter": filter, "first": size}
			for {
				var out struct{ List connection }
				a.ask(query, variables, &out)
				got, total = append(got, out.List.hashes()...), out.List.TotalCount
				if !out.List.PageInfo.HasNextPage {
					return got, total
				}
				variables["after"] = out.List.PageInfo.EndCursor
			}
		}
		for _, size := range []int{1, 4, 50} {
			if got, total := walk(nil, size); !slices.Equal(got, want) || total != len(want) {
				t.Errorf("%s by %d: %d of %d, or in another order", list, size, len(got), total)
			}
		}
		if got, total := walk(object{"hashtags": []string{hashOf("even")}}, 2); len(got) != 5 || total != 5 {
			t.Errorf("%s with the tag: %d, counted %d, want 5", list, len(got), total)
		}
	}
}

func TestPageArguments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for query, want := range map[string]string{
		`{ messages(first: -1) { totalCount } }`:                     "first: -1 is outside of 0 to 200",
		`{ messages(first: 201) { totalCount } }`:                    "first: 201 is outside of 0 to 200",
		`{ messages(last: 201) { totalCount } }`:                     "last: 201 is outside of 0 to 200",
		`{ messages(after: "x") { totalCount } }`:                    "after: is not a cursor of this list",
		`{ threads(after: "bWVzc2FnZXM6MQ") { totalCount } }`:        "after: is not a cursor of this list",
		`{ node(id: "bm9wZQ") { id } }`:                              "id: is not an id",
		`{ contextSelection(id: "bm9wZQ") { id } }`:                  "id: is not the id of a selection",
		`{ message(hash: "ABC") { hash } }`:                          "a hash is 64 lower-case hexadecimal digits",
		`{ components(search: "` + long(257) + `") { totalCount } }`: "search: has 257 bytes; at most 256",
	} {
		got := a.try(query, nil)
		if len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" || !contains(got.Errors[0].Message, want) {
			t.Errorf("%s: %+v, want BAD_USER_INPUT with %q", query, got.Errors, want)
		}
	}
}

// A cursor is good for its own list only: another one's would start at a place of no meaning.
func TestCursorsOfOtherLists(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	cited := a.append(message("s", "cited", object{"threadHash": hashOf("t")}))[0]
	var added struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation { addRecords(records: [{kind: SECRETARY, book: "b", title: "t", content: "c"}]) { hash } upsertComponents(components: [{namespace: PLY, key: "k"}]) { __typename } }`, nil, &added)
	record := added.AddRecords[0].Hash
	a.append(message("s", "citing", object{"refs": []object{{"type": "CONTEXT", "hash": cited}, {"type": "SECRETARY", "hash": record}}}))
	const page = `(after: $after) { edges { cursor } } `
	lists := map[string]string{
		"messages":         `list: messages` + page,
		"session.messages": `at: session(hash: "` + hashOf("s") + `") { list: messages` + page + `}`,
		"thread.messages":  `at: thread(hash: "` + hashOf("t") + `") { list: messages` + page + `}`,
		"citedBy":          `at: message(hash: "` + cited + `") { list: citedBy` + page + `}`,
		"record.citedBy":   `at: record(hash: "` + record + `") { list: citedBy` + page + `}`,
		"sessions":         `list: sessions` + page,
		"threads":          `list: threads` + page,
		"records":          `list: records` + page,
		"components":       `list: components` + page,
	}
	query := func(list string) string { return `query($after: String) { ` + lists[list] + ` }` }
	cursors := map[string]string{}
	for list := range lists {
		var out struct {
			List connection
			At   struct{ List connection }
		}
		a.ask(query(list), nil, &out)
		edges := append(out.List.Edges, out.At.List.Edges...)
		if len(edges) == 0 {
			t.Fatalf("%s is empty", list)
		}
		cursors[list] = edges[0].Cursor
	}
	for list := range lists {
		for of, cursor := range cursors {
			got := a.try(query(list), object{"after": cursor})
			if list == of && len(got.Errors) > 0 {
				t.Errorf("%s refuses its own cursor: %+v", list, got.Errors)
			}
			if list != of && (len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" || got.Errors[0].Message != "after: is not a cursor of this list") {
				t.Errorf("%s with a cursor of %s: %+v, want BAD_USER_INPUT", list, of, got.Errors)
			}
		}
	}
}
