package graph_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/ingest"
)

var example = regexp.MustCompile("(?s)```graphql\n(.*?)```(?:\n\n```json\n(.*?)```)?")

// The README's examples work, in their order, on the sample log.
func TestReadmeExamples(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllSubmatch(readme, -1)
	if len(examples) != 5 {
		t.Fatalf("the README has %d examples, want 5", len(examples))
	}
	a := newAPI(t)
	if _, err := ingest.Sample(t.Context(), a.store); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for i, e := range examples {
		var variables map[string]any
		if len(e[2]) > 0 {
			if err := json.Unmarshal(e[2], &variables); err != nil {
				t.Fatalf("example %d: variables: %v", i+1, err)
			}
		}
		got := a.try(string(e[1]), variables)
		if len(got.Errors) > 0 {
			t.Fatalf("example %d: %+v", i+1, got.Errors)
		}
		answers = append(answers, string(got.Data))
	}
	for i, want := range map[int]string{
		0: `"name":"Lena"`, 1: `"sequence":2`, 2: `I arrive in Lisbon on the 4th`, 3: `"totalCount":9`, 4: `"valid":true`,
	} {
		if !strings.Contains(answers[i], want) {
			t.Errorf("the answer to example %d does not have %s: %s", i+1, want, answers[i])
		}
	}
}
