package db_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/knowledge"
	"github.com/tzzr/context-manager/internal/selection"
)

// What the server remembers of samples tells what the database does, whatever was appended, erased or put in quarantine since
// the last search, and forgets what is gone.
func TestSampleFromMemory(t *testing.T) {
	t.Parallel()
	store, url := open(t)
	conn := superuser(t, url)
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("harbour ferry breakfast umbrella timetable lantern orchard violin glacier compass")
	text := func() string {
		chosen := make([]string, 1+random.IntN(6))
		for i := range chosen {
			chosen[i] = words[random.IntN(len(words))]
		}
		if random.IntN(20) == 0 { // several passages
			chosen = append(chosen, strings.Repeat("and then the "+words[0]+" again. ", 200))
		}
		return strings.Join(chosen, " ")
	}
	var written []chain.Message
	add := func(n int) {
		drafts := make([]chain.Draft, n)
		for i := range drafts {
			drafts[i] = draft(fmt.Sprint(i%5), text())
		}
		written = append(written, mustAppend(t, store, drafts...)...)
	}
	var records []knowledge.Draft
	for i := range 60 {
		records = append(records, knowledge.Draft{Kind: []chain.RefType{chain.RefAccountant, chain.RefSecretary}[i%2], Book: "book", Title: fmt.Sprint("title ", i), Content: text()})
	}
	check := func(when string) {
		t.Helper()
		if err := store.IndexAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, scope := range []selection.Scope{{}, {Types: []chain.RefType{chain.RefContext}}, {Types: []chain.RefType{chain.RefSecretary}},
			{Sessions: []chain.Hash{hashOf("session:1")}}, {Owners: []chain.Hash{hashOf("ply:owner")}}} {
			request := selection.Request{Query: words[random.IntN(len(words))] + " " + words[random.IntN(len(words))], Limit: 5, Scope: scope}
			server, database, err := store.Sampled(t.Context(), request)
			if err != nil || !reflect.DeepEqual(server, database) {
				t.Fatalf("%s, %+v: %v\nfrom memory  %+v\nfrom the log %+v", when, scope, err, server, database)
			}
			if database.AllPassages == 0 && (len(scope.Types) == 0 || scope.Types[0] == chain.RefContext) {
				t.Fatalf("%s, %+v: the sample is empty", when, scope)
			}
		}
	}
	add(600)
	check("at first")
	if n := len(store.Remembered()); n < 600/8/2 {
		t.Fatalf("%d messages are remembered", n)
	}
	for round := range 4 {
		add(50 + round*100)
		check("after more")
		if round == 1 {
			if _, err := store.AddRecords(t.Context(), records); err != nil {
				t.Fatal(err)
			}
			check("with records")
		}
		for range 40 {
			place := random.IntN(len(written))
			mustErase(t, store, written[place].Hash)
			written = append(written[:place], written[place+1:]...)
		}
		if _, err := office(store).Quarantine(t.Context(), written[random.IntN(len(written))].Hash, "why"); err != nil {
			t.Fatal(err)
		}
		check("without what was erased")
		var gone int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM unnest($1::BIGINT[]) AS r (id) JOIN log.messages m USING (id) WHERE m.content IS NULL", store.Remembered()).Scan(&gone); err != nil || gone > 0 {
			t.Errorf("of %d messages that are erased the terms are remembered (%v)", gone, err)
		}
	}
}
