package graph_test

import (
	"fmt"
	"slices"
	"testing"
)

const threadPage = `query($hash: Hash!, $first: Int!) {
  thread(hash: $hash) { messageCount messages(first: $first) { edges { node {
    hash sequence content session { hash length } thread { hash }
    owner { key name } players { key name } masterPlayer { key } hashtags { key name } flag { key } masterItem { key } items { key name } location { key name }
    refs { position type hash target { __typename
      ... on Message { hash content owner { name } hashtags { key } refs { hash } }
      ... on Record { hash title } } } } } } } }`

// A page of a thread takes the same few statements whatever its length.
func TestThreadPageStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var records struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation { addRecords(records: [{kind: SECRETARY, book: "b", title: "t", content: "c"}, {kind: ACCOUNTANT, book: "b", title: "t", content: "c"}]) { hash } }`, nil, &records)
	a.ask(`mutation { upsertComponents(components: [{namespace: PLY, key: "one", name: "One"}, {namespace: HST, key: "tag"}, {namespace: ITM, key: "item"}]) { hash } }`, nil, &struct{}{})
	earlier := a.append(message("earlier", "first"), message("earlier", "second"))
	thread := hashOf("thread")
	messages := make([]object, 60)
	for i := range messages {
		messages[i] = message(fmt.Sprint("s", i%3), fmt.Sprint("message ", i), object{
			"threadHash": thread, "ownerId": hashOf("owner %d", i), "playerIds": []string{hashOf("player %d", i), hashOf("ply:one")},
			"masterPlayer": hashOf("master %d", i), "hashtags": []string{hashOf("tag %d", i), hashOf("hst:tag")}, "flagId": hashOf("flg:es"),
			"masterItemId": hashOf("itm:item"), "itemIds": []string{hashOf("item %d", i)}, "locationId": hashOf("place %d", i),
			"refs": []object{
				{"hash": earlier[i%2], "type": "CONTEXT"}, {"hash": records.AddRecords[0].Hash, "type": "SECRETARY"},
				{"hash": records.AddRecords[1].Hash, "type": "ACCOUNTANT"},
			},
		})
	}
	a.append(messages...)

	a.ask(threadPage, object{"hash": thread, "first": 50}, &struct{}{}) // the administrator is no member: so that it is on record
	counts := map[int]int64{}
	for _, first := range []int{1, 10, 50} {
		before := a.counter.n.Load()
		var out struct {
			Thread struct {
				Messages struct{ Edges []any }
			}
		}
		a.ask(threadPage, object{"hash": thread, "first": first}, &out)
		if got := len(out.Thread.Messages.Edges); got != first {
			t.Fatalf("a page of %d has %d", first, got)
		}
		counts[first] = a.counter.n.Load() - before
	}
	const want = 10
	if counts[1] != counts[50] || counts[10] != counts[50] || counts[50] > want {
		t.Errorf("statements by page length: %v, want the same for all and at most %d", counts, want)
	}
	t.Logf("statements: %v", counts)
}

// The list of threads takes the same few statements whatever its length, last messages and players included.
func TestThreadListStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for i := range 30 {
		thread := object{"threadHash": hashOf("t%d", i), "ownerId": hashOf("owner %d", i), "playerIds": []string{hashOf("player %d", i)}}
		a.append(message(fmt.Sprint("s", i), "first", thread), message(fmt.Sprint("s", i), fmt.Sprint("last of ", i), thread))
	}
	counts := map[int]int64{}
	for _, first := range []int{1, 30} {
		before := a.counter.n.Load()
		var out struct {
			Threads struct {
				Edges []struct {
					Node struct{ LastMessage struct{ Content string } }
				}
			}
		}
		a.ask(`query($first: Int!) { threads(first: $first) { totalCount edges { node { messageCount players { name } lastMessage { content owner { name } } } } } }`, object{"first": first}, &out)
		if got := out.Threads.Edges; len(got) != first || got[0].Node.LastMessage.Content != "last of 29" {
			t.Fatalf("a list of %d: %+v", first, got)
		}
		counts[first] = a.counter.n.Load() - before
	}
	if counts[1] != counts[30] || counts[30] > 6 {
		t.Errorf("statements by length: %v, want the same and at most 6", counts)
	}
}

// Hashes of what was selected are in the selection: they take no statement more, and are those of the messages.
func TestSelectedHashStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	hashes := a.append(message("s", "The harbour opens at nine."), message("s", "The harbour closes at five."))
	const request = `mutation { requestContext(input: {query: "harbour", threshold: 0}) { items { score %s } } }`
	ask := func(fields string) (list []string, statements int64) {
		before := a.counter.n.Load()
		var out struct {
			RequestContext struct {
				Items []struct {
					Source struct{ Hash, Content string }
				}
			}
		}
		a.ask(fmt.Sprintf(request, fields), nil, &out)
		for _, item := range out.RequestContext.Items {
			list = append(list, item.Source.Hash)
		}
		return list, a.counter.n.Load() - before
	}
	ask("")
	_, none := ask("")
	found, few := ask("source { __typename ... on Message { hash } ... on Record { hash title } }")
	_, more := ask("source { ... on Message { hash content } }")
	if few != none || more <= few {
		t.Errorf("statements without sources %d, with hashes %d, with contents %d", none, few, more)
	}
	slices.Sort(found)
	if want := slices.Sorted(slices.Values(hashes)); !slices.Equal(found, want) {
		t.Errorf("hashes %v, want %v", found, want)
	}
}
