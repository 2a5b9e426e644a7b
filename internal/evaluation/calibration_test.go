package evaluation

import (
	"math"
	"strings"
	"testing"
)

func TestRenaming(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		from, to         []string
	}{
		{"both", "Did Ada's dog bite Ben?", "Did Cid's dog bite Dora?", []string{"Ada", "Ben"}, []string{"Cid", "Dora"}},
		{"exchanged", "Ada and Ben", "Ben and Ada", []string{"Ada", "Ben"}, []string{"Ben", "Ada"}},
		{"whole words", "Adam bends", "Adam bends", []string{"Ada", "Ben"}, []string{"Cid", "Dora"}},
		{"special characters", "A.B and AxB", "Cid and AxB", []string{"A.B", ""}, []string{"Cid", "Dora"}},
		{"no names", "Ada", "Ada", nil, nil},
	} {
		if got := renaming(c.from, c.to)(c.text); got != c.want {
			t.Errorf("%s: renamed %q = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestArea(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		own, other []float64
		want       float64
	}{
		{"apart", []float64{0.8, 0.9}, []float64{0.1, 0.7}, 1},
		{"the wrong way round", []float64{0.1}, []float64{0.2}, 0},
		{"the same", []float64{0.5, 0.5}, []float64{0.5}, 0.5},
		{"mixed", []float64{0.2, 0.6}, []float64{0.4}, 0.5},
		{"none", nil, []float64{0.4}, 0},
	} {
		if got := area(c.own, c.other); got != c.want {
			t.Errorf("%s: area = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNewCalibration(t *testing.T) {
	t.Parallel()
	all := []trial{
		{conversation: "a", own: true, words: 3, selected: 2, best: 0.9},
		{conversation: "a", own: true, words: 9, selected: 0, best: 0.6},
		{conversation: "a", words: 4, selected: 0, best: 0.5},
		{conversation: "b", own: true, words: 8, selected: 1, best: 0.8},
		{conversation: "b", words: 12, selected: 1, best: 0.7},
		{conversation: "b", words: 4, selected: 0, best: 0},
	}
	c := newCalibration([]sample{{id: "a"}, {id: "b"}}, all)
	want := []Separation{
		{"overall", 3, 3, 2.0 / 3, 2.0 / 3, 8.0 / 9},
		{"a", 2, 1, 0.5, 1, 1}, {"b", 1, 2, 1, 0.5, 1},
		{"up to 4 words", 1, 2, 1, 1, 1}, {"longer", 2, 1, 0.5, 0, 0.5},
	}
	for i, got := range []Separation{c.Overall, c.Conversations[0], c.Conversations[1], c.Lengths[0], c.Lengths[1]} {
		if math.Abs(got.Area-want[i].Area) < 1e-12 {
			got.Area = want[i].Area
		}
		if got != want[i] {
			t.Errorf("separation = %+v, want %+v", got, want[i])
		}
	}
	var table strings.Builder
	if err := c.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"0.7", "up to 4 words", "66.7 %", "0.889"} {
		if !strings.Contains(table.String(), text) {
			t.Errorf("the table lacks %q:\n%s", text, table.String())
		}
	}
}
