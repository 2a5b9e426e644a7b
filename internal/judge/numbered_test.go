package judge

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/window"
)

// TestNumberedTexts holds that of texts which differ in what they are numbered by, none contradicts another.
func TestNumberedTexts(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		"message %d about the hotel", "Message %d", "This is message %d.", "Message number %d is about the hotel.", "Note %d: the user wants a room.",
		"The user asked about room %d.", "The user asked %d questions.", "Turn %d of the talk was long.", "Document %d says that the hotel is good.",
		"Tool result %d: the hotel costs 1%d euros.", "Fact number %d is true.", "Fact no. %d is false.", "Chunk %d of the document has 5%d words.",
		"Item %d costs 1%d euros.", "I have read page %d.", "Hotel %d has 4%d rooms.", "Option %d: 12%d euros a night.", "The answer to question %d is 4%d.",
		"%d. The hotel has a pool.", "Row %d of the table is empty.", "We are at step %d.", "I am on page %d.", "El mensaje número %d trata del hotel.",
		"La habitación %d cuesta 9%d euros.", "El usuario ha preguntado por la habitación %d.", "Found %d results.", "There are %d results.", "Hay %d resultados.",
		"The search found %d hotels.", "The flight IB%d leaves at 1%d:00.", "Invoice #%d is due on May %d.", "El documento %d tiene 3%d páginas.",
		"User %d prefers tea.", "Player %d lives in Paris.", "Server web-%d has %d cores.", "{\"id\": %d, \"price\": 1%d}", "id: %d", "Total: %d", "price: %d euros",
		"The user chose option %d.", "The user bought %d tickets.", "Chapter %d begins on page 1%d.", "The price of item %d is 1%d euros.", "Bus %d goes to the airport.",
		"I paid %d euros for lunch.", "I slept %d hours.", "We walked %d km.", "He dormido %d horas.", "The user is in room %d of hotel 1%d.", "Question %d?",
	} {
		var texts []string
		for n := 1; n <= 30; n++ {
			texts = append(texts, fmt.Sprintf(form, anything(n, strings.Count(form, "%d"))...))
		}
		for i, known := range texts {
			var pairs []window.Pair
			for _, given := range texts[:i] {
				pairs = append(pairs, window.Pair{Known: known, New: given})
			}
			verdicts, err := New().Judge(context.Background(), pairs)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range verdicts {
				if v.Relation != window.Unrelated {
					t.Fatalf("%q, then %q: %v (%s), want unrelated", known, texts[j], v.Relation, v.Reason)
				}
			}
		}
	}
}

func anything(n, count int) []any {
	list := make([]any, count)
	for i := range list {
		list[i] = n
	}
	return list
}
