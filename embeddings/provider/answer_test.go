package provider

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const two = `{"data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[ 3 , 4e0 ]}],"object":"list"}`
	vectors, failure := parse([]byte(two), 2)
	if failure != nil || fmt.Sprint(vectors) != "[[0.6 0.8] [0 -1]]" {
		t.Errorf("parse = %v, %v, want by index and of length 1", vectors, failure)
	}
	if vectors, failure := parse([]byte(`{"data":[{"embedding":[3,4]},{"embedding":[0,1]}]}`), 2); failure != nil || fmt.Sprint(vectors) != "[[0.6 0.8] [0 1]]" {
		t.Errorf("parse = %v, %v, want by position where there is no index", vectors, failure)
	}
	if vectors, failure := parse([]byte(`{"data":[{"index":0,"embedding":[3e150,4e150]}]}`), 1); failure != nil || fmt.Sprint(vectors) != "[[0.6 0.8]]" {
		t.Errorf("parse = %v, %v, want what is beyond float32 brought to length 1", vectors, failure)
	}
	if vectors, failure := parse([]byte(`{"data":[{"index":0,"embedding":[`+ones(MaxDimensions)+`]}]}`), 1); failure != nil || len(vectors[0]) != MaxDimensions {
		t.Errorf("parse = %v, want %d dimensions taken", failure, MaxDimensions)
	}
}

func ones(n int) string { return strings.TrimSuffix(strings.Repeat("1,", n), ",") }

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	one := func(vector string) string { return `{"data":[{"index":0,"embedding":` + vector + `}]}` }
	cases := map[string]struct {
		body string
		kind Kind
	}{
		"nothing":            {``, Unreachable},
		"half":               {`{"data":[{"index":0,"embedding":[1,2`, Unreachable},
		"a page":             {`<html>`, Unusable},
		"a list":             {`[1]`, Unusable},
		"null":               {`null`, Unusable},
		"no data":            {`{}`, Unusable},
		"two":                {`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`, Unusable},
		"index beyond":       {`{"data":[{"index":1,"embedding":[1]}]}`, Unusable},
		"index below":        {`{"data":[{"index":-1,"embedding":[1]}]}`, Unusable},
		"index of text":      {`{"data":[{"index":"0","embedding":[1]}]}`, Unusable},
		"no vector":          {`{"data":[{"index":0}]}`, Unusable},
		"null vector":        {one(`null`), Unusable},
		"base64":             {one(`"AACAPw=="`), Unusable},
		"an object":          {one(`{"a":1}`), Unusable},
		"empty":              {one(`[]`), Unusable},
		"blank":              {one(`[ ]`), Unusable},
		"zeros":              {one(`[0,0.0,-0]`), Unusable},
		"as good as zeros":   {one(`[1e-200,1e-300]`), Unusable},
		"NaN":                {one(`[1,NaN]`), Unusable},
		"infinity":           {one(`[1,Infinity]`), Unusable},
		"beyond float64":     {one(`[1,1e999]`), Unusable},
		"too long":           {one(`[1e200,1e200]`), Unusable},
		"null among numbers": {one(`[1,null]`), Unusable},
		"text among numbers": {one(`["1",2]`), Unusable},
		"text of numbers":    {one(`["1,2"]`), Unusable},
		"truth":              {one(`[true]`), Unusable},
		"nested":             {one(`[[1,2]]`), Unusable},
		"too many":           {one(`[` + ones(MaxDimensions+1) + `]`), WrongDimension},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if vectors, failure := parse([]byte(c.body), 1); vectors != nil || failure == nil || failure.Kind != c.kind {
				t.Errorf("parse = %v, %v, want %s", vectors, failure, c.kind)
			}
		})
	}
	for body, kind := range map[string]Kind{
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`:   Unusable,
		`{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}`:             Unusable,
		`{"data":[{"index":1,"embedding":[1]},{"embedding":[1]}]}`:             Unusable,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`: WrongDimension,
	} {
		if vectors, failure := parse([]byte(body), 2); vectors != nil || failure == nil || failure.Kind != kind {
			t.Errorf("parse(%s) = %v, %v, want %s", body, vectors, failure, kind)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[3,4]}]}`,
		`{"data":[{"embedding":[1e-30]},{"embedding":[1e150]}]}`, `{"data":[{"index":0,"embedding":[1,null]}]}`, `{"data":[{}]}`,
	} {
		f.Add([]byte(seed), 2)
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, body []byte, texts int) {
		if texts < 1 || texts > 100 {
			return
		}
		vectors, failure := parse(body, texts)
		if failure != nil {
			if vectors != nil || failure.Message == "" {
				t.Errorf("parse = %v with %v", vectors, failure)
			}
			return
		}
		if len(vectors) != texts {
			t.Fatalf("%d vectors for %d texts", len(vectors), texts)
		}
		for _, vector := range vectors {
			sum := 0.0
			for _, value := range vector {
				sum += float64(value) * float64(value)
			}
			if len(vector) == 0 || len(vector) > MaxDimensions || len(vector) != len(vectors[0]) || !(math.Abs(sum-1) < 1e-4) {
				t.Fatalf("%d dimensions, length² %v", len(vector), sum)
			}
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add(" a€b ", 3)
	f.Add("\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 {
			return
		}
		got := cut(text, limit)
		if strings.TrimSpace(got) != got || strings.ToValidUTF8(got, "") != got {
			t.Errorf("cut(%q, %d) = %q", text, limit, got)
		}
	})
}
