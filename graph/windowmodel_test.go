package graph_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
	"github.com/tzzr/context-manager/internal/llm"
	"github.com/tzzr/context-manager/internal/llm/llmtest"
)

// A model judges and summarises; once it fails, what is built in does, and the result says so.
func TestWindowWithModel(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	server := llmtest.New(t)
	server.JudgeBy(func(known, new string) (relation, reason string) {
		if strings.Contains(known, "soloist") && strings.Contains(new, "choir") {
			return "contradicts", "a soloist sings alone"
		}
		return "unrelated", ""
	})
	model, err := llm.New(llm.Config{URL: server.URL(), Model: llmtest.Model})
	if err != nil {
		t.Fatal(err)
	}
	judge, summariser := db.BuiltIn()
	f := model.WithFallback(judge, summariser, slog.New(slog.DiscardHandler))
	a.store.UseModels(f, f)
	record := a.addRecord("The singer", "Ana performs tonight as a soloist")
	id := a.newWindow("concert", 8192, "")
	got := a.writeTo(id, "KNOWLEDGE", "Ana performs tonight with the choir")
	if got.Item != nil || len(got.Mitigations) != 1 || got.Mitigations[0].Record.Hash != record || !contains(*got.Rejected, "a soloist sings alone") {
		t.Fatalf("judged by a model: %+v", got)
	}
	const judged = `query($id: ID!) { window(id: $id) { operations(first: 1) { edges { node { judgements { by fallback relation } compression { steps { by fallback } } } } } } }`
	var out struct {
		Window struct {
			Operations struct {
				Edges []struct {
					Node struct {
						Judgements []struct {
							By, Relation string
							Fallback     *string
						}
						Compression *struct {
							Steps []struct{ By, Fallback *string }
						}
					}
				}
			}
		}
	}
	a.ask(judged, object{"id": id}, &out)
	if j := out.Window.Operations.Edges[0].Node.Judgements; len(j) != 1 || j[0].By != llmtest.Model || j[0].Fallback != nil || j[0].Relation != "CONTRADICTS" {
		t.Errorf("judgements = %+v, want the model's", j)
	}
	// What was written stays written, whoever judges now.
	server.Break(endpointtest.Status(503, ""))
	a.addRecord("Eiffel Tower", "The Eiffel Tower is in Paris")
	if got := a.writeTo(id, "KNOWLEDGE", "The Eiffel Tower is in London"); got.Rejected == nil {
		t.Errorf("with the model away: %+v", got)
	}
	a.ask(judged, object{"id": id}, &out)
	if j := out.Window.Operations.Edges[0].Node.Judgements; len(j) != 1 || j[0].By != "rules" || j[0].Fallback == nil || !contains(*j[0].Fallback, "503") {
		t.Errorf("judgements = %+v, want those of the rules, and why", j)
	}
	for i := range 12 {
		a.mustWrite(id, "USER_MESSAGE", strings.Repeat(sentence(i)+" ", 8))
	}
	a.ask(`mutation($w: ID!) { compressWindow(window: $w, target: 0.1) { ratio } }`, object{"w": id}, &struct{}{})
	a.ask(judged, object{"id": id}, &out)
	summaries := 0
	for _, step := range out.Window.Operations.Edges[0].Node.Compression.Steps {
		if step.By != nil {
			summaries++
			if *step.By != "extractive" || step.Fallback == nil {
				t.Errorf("summarised by %s, want the extract, and why", *step.By)
			}
		}
	}
	if summaries == 0 {
		t.Error("nothing was summarised")
	}
}

// A model that is slow is asked for all that is selected at once, within its limit. What it has judged by then stands, and the
// rules judge the rest, which the history says.
func TestSelectWithSlowModel(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	server := llmtest.New(t)
	server.JudgeBy(func(known, new string) (relation, reason string) {
		if k, n := strings.Fields(known), strings.Fields(new); k[1] == n[1] {
			return "contradicts", "there is one of each name"
		}
		return "unrelated", ""
	})
	server.Break(func(x *endpointtest.Exchange) {
		if strings.Contains(string(x.Body), `Alba tower is in Paris\",\"new\":\"The Alba`) || x.Wait() {
			x.Answer()
		}
	})
	model, err := llm.New(llm.Config{URL: server.URL(), Model: llmtest.Model, Limit: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	judge, summariser := db.BuiltIn()
	f := model.WithFallback(judge, summariser, slog.New(slog.DiscardHandler))
	a.store.UseModels(f, f)
	towers := []string{"Alba", "Brisa", "Cedro", "Duero", "Encina", "Faro", "Gala", "Hiedra", "Iris", "Jara", "Lirio", "Mirto", "Nardo", "Olmo", "Pino", "Roble", "Sauce"}
	for _, name := range towers {
		a.addRecord("Tower "+name, "The "+name+" tower is in Paris")
		a.append(message("towers", "The "+name+" tower is in London"))
	}
	id := a.newWindow("towers", 4096, "")
	a.ask(`mutation($w: ID!) { selectIntoWindow(window: $w, input: {query: "London", limit: 17, threshold: 0}) { id } }`, object{"w": id}, &struct{}{})
	var out struct {
		Window struct {
			Items      []windowItem
			Operations struct {
				Edges []struct {
					Node struct {
						Kind       string
						Judgements []struct {
							By, Relation string
							Fallback     *string
						}
					}
				}
			}
		}
	}
	a.ask(`query($id: ID!) { window(id: $id) { items { content } operations(first: 1) { edges { node { kind judgements { by fallback relation } } } } } }`, object{"id": id}, &out)
	by := map[string]int{}
	for _, j := range out.Window.Operations.Edges[0].Node.Judgements {
		why := ""
		if j.Fallback != nil {
			why = "; " + *j.Fallback
		}
		by[j.Relation+" by "+j.By+why]++
	}
	// A request has 16 pairs: the one that was answered has what is said of some towers, and no request of all.
	own, rest := by["CONTRADICTS by "+llmtest.Model], by["CONTRADICTS by rules; the model did not answer within 3s"]
	if len(out.Window.Items) != 0 || own == 0 || rest == 0 || own+rest != len(towers) || len(by) != 2 {
		t.Errorf("%d requests; what was judged of %d is %v; the window holds %q", len(server.Requests()), len(towers), by, texts(out.Window.Items))
	}
}
