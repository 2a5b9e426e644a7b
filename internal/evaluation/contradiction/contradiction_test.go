package contradiction

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/internal/judge"
	"github.com/tzzr/context-manager/internal/window"
)

const testdata = "../../../testdata/judge/"

func TestBuiltInJudge(t *testing.T) {
	t.Parallel()
	pairs, err := ReadFile(testdata + "pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	report, err := Measure(context.Background(), judge.New(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	if o := report.Overall; o.Pairs != 150 || o.TruePositives+o.FalseNegatives != 75 || o.Precision < 0.95 || o.Recall < 0.7 {
		var b strings.Builder
		_ = report.WriteTable(&b)
		t.Errorf("precision %.3f, recall %.3f of %d pairs, want 0.95 and 0.7 of 150, half of them contradictions:\n%s", o.Precision, o.Recall, o.Pairs, &b)
	}
	if len(report.Kinds) != 6 || len(report.Languages) != 3 {
		t.Errorf("%d kinds and %d languages, want 6 and 3", len(report.Kinds), len(report.Languages))
	}
}

// TestMisleading holds that of pairs which look like contradictions none is told as one.
func TestMisleading(t *testing.T) {
	t.Parallel()
	pairs, err := ReadFile(testdata + "misleading.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	report, err := Measure(context.Background(), judge.New(), pairs)
	if err != nil || report.Overall.FalsePositives > 0 || report.Overall.TrueNegatives < 200 {
		t.Errorf("%+v, %v, want no contradiction in 200 pairs or more", report, err)
	}
}

// said is a judge that contradicts where the new text says so.
type said struct{}

func (said) Judge(_ context.Context, pairs []window.Pair) ([]window.Verdict, error) {
	verdicts := make([]window.Verdict, len(pairs))
	for i, p := range pairs {
		verdicts[i] = window.Verdict{By: "said", Fallback: "none", Reason: "because"}
		if p.New == "yes" {
			verdicts[i].Relation = window.Contradicts
		}
	}
	return verdicts, nil
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	var pairs []Pair
	add := func(n int, contradicts bool, answer, kind string) {
		for range n {
			pairs = append(pairs, Pair{Known: "x", New: answer, Contradicts: contradicts, Kind: kind, Language: "en"})
		}
	}
	add(60, true, "yes", "a") // more than one batch
	add(20, true, "no", "b")
	add(15, false, "yes", "b")
	add(5, false, "no", "a")
	r, err := Measure(context.Background(), said{}, pairs)
	if err != nil {
		t.Fatal(err)
	}
	want := Count{"overall", 100, 60, 15, 20, 5, 0.8, 0.75, 120.0 / 155}
	if r.Overall != want {
		t.Errorf("overall = %+v, want %+v", r.Overall, want)
	}
	if b := r.Kinds[1]; b.Name != "b" || b.Pairs != 35 || b.Precision != 0 || b.Recall != 0 || b.F1 != 0 {
		t.Errorf("kind b = %+v, want nothing found", b)
	}
	if len(r.Mistakes) != 35 || r.Mistakes[0].Line != 61 || r.Judges[0] != (By{"said", 100, 100}) {
		t.Errorf("%d mistakes, the first %+v, by %+v; want 35, from pair 61, and one judge", len(r.Mistakes), r.Mistakes[0], r.Judges)
	}
	var table, asJSON strings.Builder
	if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), "missed, pair 61 (b, en)") || !strings.Contains(table.String(), "0.800   0.750  0.774") {
		t.Errorf("table = %s (%v)", &table, err)
	}
	var back Report
	if err := r.WriteJSON(&asJSON); err != nil || json.Unmarshal([]byte(asJSON.String()), &back) != nil || back.Overall != want || len(back.Mistakes) != 35 {
		t.Errorf("JSON = %s (%v)", &asJSON, err)
	}
}

func TestReadPairs(t *testing.T) {
	t.Parallel()
	const good = `{"known":"a","new":"b","contradicts":false,"kind":"k","language":"en"}`
	for name, test := range map[string]struct{ file, want string }{
		"fine":        {good + "\n\n" + good + "\r\n", ""},
		"no pairs":    {"\n", "f: has no pairs"},
		"no JSON":     {good + "\nknown", "f, line 2: is no JSON object"},
		"a list":      {"[1]", "f, line 1: is no JSON object"},
		"null":        {"null", "f, line 1: is no JSON object"},
		"missing":     {`{"known":"a","new":"b","kind":"k","language":"en"}`, `f, line 1: field "contradicts" is missing`},
		"wrong type":  {"\n" + strings.Replace(good, "false", `"no"`, 1), `f, line 2: field "contradicts" must be true or false`},
		"null field":  {strings.Replace(good, `"b"`, `null`, 1), `f, line 1: field "new" must be a text`},
		"empty field": {strings.Replace(good, `"a"`, `" "`, 1), `f, line 1: field "known" must not be empty`},
		"another":     {strings.Replace(good, "{", `{"x":1,`, 1), `f, line 1: field "x" is not known`},
		"not UTF-8":   {strings.Replace(good, `"a"`, "\"\xff\"", 1), "f, line 1: is not UTF-8"},
		"too long":    {good + "\n" + strings.Repeat("x", maxLine+1), "f, line 2: is longer than 1 MiB"},
	} {
		pairs, err := readPairs("f", strings.NewReader(test.file))
		if test.want == "" {
			if err != nil || len(pairs) != 2 {
				t.Errorf("%s: readPairs = %v, %v, want two pairs", name, pairs, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: readPairs says %v, want %s", name, err, test.want)
		}
	}
}
