package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each bound of what goes by position is held, and its error names the field and the limit.
func TestRangeBounds(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.append(message("s", "one", object{"threadHash": hashOf("t")}))
	texts := func(n int, text string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%q,", text), n), ",") + "]"
	}
	for arguments, want := range map[string]string{
		`range(from: -1, count: 1)`:                                                           "from: -1 is outside of 0 to 2147483647",
		`range(from: 2147483648, count: 1)`:                                                   "from: 2147483648 is outside of 0 to 2147483647",
		`range(from: 0, count: 0)`:                                                            "count: 0 is outside of 1 to 200",
		`range(from: 0, count: 201)`:                                                          "count: 201 is outside of 1 to 200",
		`range(from: 0, count: 1, match: {channels: ` + texts(101, "c") + `})`:                "match.channels: has 101 entries; at most 100 are allowed",
		`range(from: 0, count: 1, match: {channels: [` + fmt.Sprintf("%q", long(257)) + `]})`: "match.channels[0]: has 257 bytes; at most 256 are allowed",
		`range(from: 0, count: 1, match: {importance: [0, 1, 2, 2]})`:                         "match.importance: has 4 entries; at most 3 are allowed",
		`range(from: 0, count: 1, match: {importance: [1, 3]})`:                               "match.importance[1]: 3 is outside of 0 to 2",
		`range(from: 0, count: 1, match: {text: ""})`:                                         "match.text: holds no word",
		`range(from: 0, count: 1, match: {text: " ?! "})`:                                     "match.text: holds no word",
		`range(from: 0, count: 1, match: {text: ` + fmt.Sprintf("%q", long(257)) + `})`:       "match.text: has 257 bytes; at most 256 are allowed",
	} {
		for _, line := range []string{"session(hash: %q)", "thread(hash: %q)"} {
			hash := hashOf("%s", line[:1])
			got := a.try(fmt.Sprintf("{ "+line+" { %s { totalCount } } }", hash, arguments), nil)
			if len(got.Errors) != 1 || got.Errors[0].Message != want || got.Errors[0].Extensions.Code != "BAD_USER_INPUT" {
				t.Errorf("%.80s: %+v, want %q", arguments, got.Errors, want)
			}
		}
	}
	for _, field := range []string{"place(message: %[1]q, %[2]s)", "placeAt(at: \"2020-01-01T00:00:00Z\", %[2]s)", "marks(%[2]s) { hash }", "marksCount(%[2]s)"} {
		got := a.try(fmt.Sprintf("{ thread(hash: %q) { %s } }", hashOf("t"), fmt.Sprintf(field, hashOf("m"), "match: {importance: [9]}")), nil)
		if len(got.Errors) != 1 || got.Errors[0].Message != "match.importance[0]: 9 is outside of 0 to 2" {
			t.Errorf("%s: %+v", field, got.Errors)
		}
	}
	for _, root := range []string{"messages", "sessions", "threads"} {
		got := a.try("{ "+root+`(match: {text: "-"}) { totalCount } }`, nil)
		if len(got.Errors) != 1 || got.Errors[0].Message != "match.text: holds no word" {
			t.Errorf("%s: %+v", root, got.Errors)
		}
	}
}

// A range takes the same few statements whatever its length, and the lists of the roots show what matches.
func TestRangeStatements(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	thread := object{"threadHash": hashOf("t"), "playerIds": []string{hashOf("p")}, "channel": "voice"}
	var messages []object
	for i := range 60 {
		messages = append(messages, message(fmt.Sprint("s", i%3), fmt.Sprint("message about lanterns ", i), thread))
	}
	hashes := a.append(append(messages, message("s9", "an error", object{"eventType": "ERROR", "importance": 2, "threadHash": hashOf("u")}))...)
	const page = `query($h: Hash!, $m: Hash!, $n: Int!) { thread(hash: $h) {
		range(from: 10, count: $n) { from totalCount messages { hash owner { name } players { name } refs { hash } session { length } } }
		place(message: $m) placeAt(at: "2000-01-01T00:00:00Z") marksCount marks { position kind hash } } }`
	var out struct {
		Thread struct {
			Range struct {
				From, TotalCount int
				Messages         []struct{ Hash string }
			}
			Place, PlaceAt, MarksCount int
			Marks                      []struct {
				Position   int
				Kind, Hash string
			}
		}
	}
	counts := map[int]int64{}
	for _, n := range []int{1, 1, 50} { // the first puts on record what an administrator reads
		before := a.counter.n.Load()
		a.ask(page, object{"h": hashOf("t"), "m": hashes[7], "n": n}, &out)
		counts[n] = a.counter.n.Load() - before
		got := out.Thread
		if len(got.Range.Messages) != n || got.Range.From != 10 || got.Range.TotalCount != 60 || got.Range.Messages[0].Hash != hashes[10] {
			t.Fatalf("range of %d: %+v", n, got.Range)
		}
		if got.Place != 7 || got.PlaceAt != 0 || got.MarksCount != 3 || len(got.Marks) != 3 || got.Marks[1].Kind != "SESSION" || got.Marks[1].Hash != hashes[1] {
			t.Fatalf("%+v", got)
		}
	}
	if counts[1] != counts[50] || counts[50] > 20 {
		t.Errorf("statements by length: %v, want the same and at most 20", counts)
	}
	var lists struct {
		Messages, Sessions, Threads, Errors struct{ TotalCount int }
	}
	a.ask(`{ messages(match: {channels: ["voice"], text: "lantern 5"}) { totalCount } sessions(match: {text: "lantern"}) { totalCount }
		threads(match: {importance: [2]}) { totalCount } errors: threads(filter: {eventTypes: [ERROR]}, match: {text: "lantern"}) { totalCount } }`, nil, &lists)
	got := []int{lists.Messages.TotalCount, lists.Sessions.TotalCount, lists.Threads.TotalCount, lists.Errors.TotalCount}
	if diff := cmp.Diff([]int{1, 3, 1, 0}, got); diff != "" {
		t.Errorf("totals of lists:\n%s", diff)
	}
}

// What names a component is counted by the calendar, and for a player by the part they have.
func TestComponentUsage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	at := func(day string, more object) object {
		more["createdAt"] = day + "T12:00:00Z"
		return message("s", "at "+day, more)
	}
	p := hashOf("p")
	a.append(at("2024-02-29", object{"ownerId": p}), at("2024-03-01", object{"playerIds": []string{p}, "masterPlayer": p}), at("2024-03-01", object{"itemIds": []string{hashOf("i")}, "masterItemId": hashOf("i")}),
		at("2024-03-04", object{"ownerId": p, "playerIds": []string{p}}))
	var out struct {
		ComponentUsage struct {
			Total, Sent, Received, Led int
			First, Last                *string
			Buckets                    []struct {
				Start                      string
				Total, Sent, Received, Led int
			}
		}
	}
	const query = `query($h: Hash!, $b: UsageBucket!) { componentUsage(hash: $h, bucket: $b) { total sent received led first last buckets { start total sent received led } } }`
	for bucket, want := range map[string][]string{
		"DAY": {"2024-02-29 1 1 0 0", "2024-03-01 1 0 1 1", "2024-03-04 1 1 1 0"}, "WEEK": {"2024-02-26 2 1 1 1", "2024-03-04 1 1 1 0"}, "MONTH": {"2024-02-01 1 1 0 0", "2024-03-01 2 1 2 1"},
	} {
		a.ask(query, object{"h": p, "b": bucket}, &out)
		u := out.ComponentUsage
		var got []string
		for _, b := range u.Buckets {
			got = append(got, fmt.Sprint(b.Start[:10], " ", b.Total, b.Sent, b.Received, b.Led))
		}
		if diff := cmp.Diff(want, got); diff != "" || u.Total != 3 || u.Sent != 2 || u.Received != 2 || u.Led != 1 || (*u.First)[:10] != "2024-02-29" || (*u.Last)[:10] != "2024-03-04" {
			t.Errorf("%s: %+v\n%s", bucket, u, diff)
		}
	}
	a.ask(query, object{"h": hashOf("i"), "b": "DAY"}, &out)
	if u := out.ComponentUsage; u.Total != 1 || u.Sent != 0 {
		t.Errorf("an item: %+v", u)
	}
	a.ask(query, object{"h": hashOf("nothing"), "b": "DAY"}, &out)
	if u := out.ComponentUsage; u.Total != 0 || len(u.Buckets) != 0 || u.First != nil {
		t.Errorf("nothing: %+v", u)
	}
}

// A record says which selections hold it.
func TestRecordUsedBy(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var records struct{ AddRecords []struct{ Hash string } }
	a.ask(`mutation { addRecords(records: [{kind: SECRETARY, book: "b", title: "t", content: "the violin is in the harbour"}, {kind: SECRETARY, book: "b", title: "u", content: "nothing"}]) { hash } }`, nil, &records)
	var asked struct{ RequestContext struct{ ID string } }
	a.ask(`mutation { requestContext(input: {query: "violin harbour", threshold: 0, limit: 1}) { id } }`, nil, &asked)
	for i, want := range []int{1, 0} {
		var out struct {
			Record struct {
				UsedBy struct {
					TotalCount int
					Edges      []struct {
						Node struct {
							ID       string
							Position int
						}
					}
				}
			}
		}
		a.ask(`query($h: Hash!) { record(hash: $h) { usedBy { totalCount edges { node { id position } } } } }`, object{"h": records.AddRecords[i].Hash}, &out)
		u := out.Record.UsedBy
		if u.TotalCount != want || len(u.Edges) != want || want == 1 && (u.Edges[0].Node.ID != asked.RequestContext.ID || u.Edges[0].Node.Position != 1) {
			t.Errorf("record %d: %+v, want %d", i, u, want)
		}
	}
}
