package provider

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tzzr/context-manager/embeddings/provider/providertest"
	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

func TestEmbedInBatchesAndOrder(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	texts := numbered(2*batchTexts + 6)
	vectors, err := p.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, vectors, server, texts)
	var sizes []int
	for _, request := range server.Requests() {
		sizes = append(sizes, len(request.Texts))
	}
	if !slices.Equal(sizes, []int{batchTexts, batchTexts, 6}) {
		t.Errorf("batches of %v", sizes)
	}
	if state := p.State(); state.Requests != 3 || state.Texts != int64(len(texts)) || state.Failures != 0 || state.Dimensions != dimensions || state.LastError != "" || state.LastSuccessAt.IsZero() {
		t.Errorf("State = %+v", state)
	}
	if vectors, err := p.Embed(t.Context(), nil); len(vectors) != 0 || err != nil || len(server.Requests()) != 3 {
		t.Errorf("Embed of nothing = %v, %v, want nothing asked", vectors, err)
	}
}

func TestEmbedBoundsBytes(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	texts := slices.Repeat([]string{strings.Repeat("word ", 2*MaxText)}, 20)
	if _, err := p.Embed(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	for _, request := range server.Requests() {
		size := 0
		for _, text := range request.Texts {
			size += len(text)
		}
		if size > batchBytes || size < batchBytes/2 && len(request.Texts) > 4 {
			t.Errorf("a batch of %d texts has %d bytes", len(request.Texts), size)
		}
	}
}

func TestEmbedCutsAtARune(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	if _, err := p.Embed(t.Context(), []string{"a" + strings.Repeat("€", MaxText), "  padded\n", "broken \xff\xfe"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"a" + strings.Repeat("€", (MaxText-1)/3), "padded", "broken \uFFFD"}
	if got := server.Requests()[0].Texts; !slices.Equal(got, want) {
		t.Errorf("sent %.60q of %d bytes, want the first %d bytes of whole runes, trimmed, and UTF-8", got, len(got[0]), MaxText)
	}
}

func TestEmbedLeavesOutEmptyTexts(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	texts := []string{"", "ferry", " \n\t", "quay", "\u00a0\u2003"}
	vectors, err := p.Embed(t.Context(), texts)
	wantVectors(t, vectors, server, texts, 0, 2, 4)
	if _, failed := errors.AsType[*Error](err); failed || !slices.Equal(indexes(err), []int{0, 2, 4}) {
		t.Errorf("error = %v, want one a blank text", err)
	}
	if got := server.Requests()[0].Texts; !slices.Equal(got, []string{"ferry", "quay"}) {
		t.Errorf("sent %q", got)
	}
	if vectors, err := p.Embed(t.Context(), []string{" "}); len(vectors) != 1 || !slices.Equal(indexes(err), []int{0}) || len(server.Requests()) != 1 {
		t.Errorf("Embed of white space = %v, %v, want nothing asked", vectors, err)
	}
}

// TestOneBadText lets the provider fail over one text, in every way that lies in a text.
func TestOneBadText(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]providertest.Fault{
		"400": endpointtest.Status(http.StatusBadRequest, ""), "413": endpointtest.Status(http.StatusRequestEntityTooLarge, ""),
		"422": endpointtest.Status(http.StatusUnprocessableEntity, ""), "NaN": providertest.Element("NaN"), "null": providertest.Element("null"),
		"1e999": providertest.Element("1e999"), "zeros": providertest.Zeros(), "no vector": providertest.Missing(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := start(t)
			server.Break(providertest.Only("poison", f))
			texts := numbered(batchTexts + 5)
			texts[3], texts[batchTexts+1] = "poison in short", strings.Repeat("poison ", MaxText)
			vectors, err := p.Embed(t.Context(), texts)
			wantVectors(t, vectors, server, texts, 3, batchTexts+1)
			if _, failed := errors.AsType[*Error](err); failed || !slices.Equal(indexes(err), []int{3, batchTexts + 1}) {
				t.Errorf("error = %v of %v, want the two", err, indexes(err))
			}
			if n := len(server.Requests()); n > 30 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestOnlyTheFirstTextIsBad sees that a provider that has embedded nothing yet is not blamed for a text.
func TestOnlyTheFirstTextIsBad(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(providertest.Only("poison", endpointtest.Status(http.StatusBadRequest, "")))
	vectors, err := p.Embed(t.Context(), []string{"poison"})
	if _, failed := errors.AsType[*Error](err); failed || !slices.Equal(indexes(err), []int{0}) || vectors[0] != nil {
		t.Errorf("Embed = %v, %v, want the text blamed", vectors, err)
	}
	if state := p.State(); state.LastError != "" || state.Failures != 0 || state.Refused != 1 {
		t.Errorf("State = %+v, want no failure", state)
	}
	if _, err := p.Embed(t.Context(), append(numbered(batchTexts), "poison")); !slices.Equal(indexes(err), []int{batchTexts}) || server.Asked(known) != 1 {
		t.Errorf("error = %v, asked for a known word %d times, want only where no vector came before", err, server.Asked(known))
	}
}

// TestTextsThatAreTooLongForTheModel are cut until it takes them.
func TestTextsThatAreTooLongForTheModel(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(providertest.When(func(texts []string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return len(text) > 2500 })
	}, endpointtest.Status(http.StatusRequestEntityTooLarge, "")))
	long := strings.Repeat("mooring ", MaxText)
	texts := []string{"ferry", long, "quay"}
	vectors, err := p.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, vectors, server, []string{"ferry", cut(long, MaxText/4), "quay"})
}

// TestLongTextsThatAreRefused are cut only if they are refused for their length.
func TestLongTextsThatAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("mooring ", 500)
	isLong := func(texts []string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return len(text) > 2500 })
	}
	said := func(status int, body string) providertest.Fault {
		return func(x *endpointtest.Exchange) {
			http.Error(x.W, body, status)
		}
	}
	for name, c := range map[string]struct {
		fault providertest.Fault
		cut   bool
	}{
		"a code": {said(400, `{"error": {"code": "context_length_exceeded"}}`), true},
		"words":  {said(400, `{"error": "the input length exceeds the context length"}`), true},
		"none":   {said(400, `{"error": {"message": "no"}}`), false},
		"422":    {said(422, ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := start(t)
			server.Break(providertest.When(isLong, c.fault))
			vectors, err := p.Embed(t.Context(), []string{long})
			if got := err == nil && vectors[0] != nil; got != c.cut || !c.cut && len(TextErrors(err)) != 1 {
				t.Errorf("Embed = %v; embedded: %t, want %t", err, got, c.cut)
			}
		})
	}
}

// TestStatusesThatPass blame the provider and no text.
func TestStatusesThatPass(t *testing.T) {
	t.Parallel()
	for _, status := range []int{408, 409, 423, 424, 425} {
		p, server := start(t)
		server.Break(providertest.Only("late", endpointtest.Status(status, "")))
		_, err := p.Embed(t.Context(), []string{"late"})
		if failure := wantKind(t, err, Failing); !failure.Temporary() || len(TextErrors(err)) > 0 {
			t.Errorf("%d: %v, want the provider blamed", status, err)
		}
	}
}

// TestBatchesThatAreTooLarge are split.
func TestBatchesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(providertest.When(func(texts []string) bool { return len(texts) > 1 }, endpointtest.Status(http.StatusUnprocessableEntity, "")))
	texts := numbered(batchTexts)
	vectors, err := p.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	wantVectors(t, vectors, server, texts)
}

// TestUnusableAnswers lets the provider answer everything so.
func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault providertest.Fault
		kind  Kind
		says  string
	}{
		"NaN":                 {providertest.Element("NaN"), Unusable, "JSON"},
		"null":                {providertest.Element("null"), Unusable, "NaN"},
		"1e999":               {providertest.Element("1e999"), Unusable, "finite"},
		"zeros":               {providertest.Zeros(), Unusable, "zeros"},
		"count":               {providertest.Missing(), Unusable, "vectors for"},
		"a page":              {endpointtest.Body("text/html", "<html>"), Unusable, "EMBEDDINGS_URL"},
		"half JSON":           {endpointtest.Body("application/json", `{"data":[`), Unreachable, "broke off"},
		"no dimension":        {endpointtest.Body("application/json", `{"data":[{"index":0,"embedding":[]}]}`), Unusable, "dimensions"},
		"too many dimensions": {providertest.Dimensions(MaxDimensions + 1), WrongDimension, "4000"},
		"endless":             {endpointtest.Body("application/json", `{"data":"`+strings.Repeat("x", maxAnswer)+`"}`), Unusable, "more than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := start(t)
			server.Break(c.fault)
			texts := numbered(2 * batchTexts)
			vectors, err := p.Embed(t.Context(), texts)
			failure := wantKind(t, err, c.kind)
			if !strings.Contains(err.Error(), c.says) || len(TextErrors(err)) > 0 || failure.Temporary() != (c.kind == Unreachable) {
				t.Errorf("error = %v, texts %v, want the provider blamed", err, indexes(err))
			}
			if i := slices.IndexFunc(vectors, func(v []float32) bool { return v != nil }); i >= 0 {
				t.Errorf("vector %d = %v, want none", i, vectors[i])
			}
			if n := len(server.Requests()); n > 2 {
				t.Errorf("%d requests for a provider that fails, want 2 at most", n)
			}
			if state := p.State(); state.LastErrorKind != c.kind || state.Failures == 0 || state.Texts != 0 {
				t.Errorf("State = %+v", state)
			}
			server.Mend()
			vectors, err = p.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			wantVectors(t, vectors, server, texts)
		})
	}
}

func TestDimensionThatChanges(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.Break(providertest.Only("number 40 ", providertest.Dimensions(dimensions+1)))
	texts := numbered(3 * batchTexts)
	vectors, err := p.Embed(t.Context(), texts)
	if failure := wantKind(t, err, WrongDimension); failure.Temporary() || !strings.Contains(err.Error(), "EMBEDDINGS_MODEL") {
		t.Errorf("error = %v, want a lasting one", err)
	}
	wantVectors(t, vectors[:batchTexts], server, texts[:batchTexts])
	if i := slices.IndexFunc(vectors[batchTexts:], func(v []float32) bool { return v != nil }); i >= 0 {
		t.Errorf("text %d has a vector, want only those before the change", batchTexts+i)
	}
}

// TestWrongFirstDimension sees that a first answer that was wrong does not count for ever.
func TestWrongFirstDimension(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.BreakNext(1, providertest.Dimensions(7))
	if vector, err := p.Query(t.Context(), "ferry"); err != nil || len(vector) != 7 {
		t.Fatalf("Query = %v, %v, want 7 dimensions: nothing was known", vector, err)
	}
	_, err := p.Embed(t.Context(), []string{"quay"})
	wantKind(t, err, WrongDimension)
	for _, text := range []string{"quay", "ferry"} {
		vectors, err := p.Embed(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		wantVectors(t, vectors, server, []string{text})
	}
	if vector, err := p.Query(t.Context(), "ferry"); err != nil || !same(vector, server, "ferry") {
		t.Errorf("Query = %v, %v, want no vector of 7 dimensions from the cache", vector, err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	p, server := start(t)
	server.BreakNext(1, providertest.Dimensions(7))
	if got, err := p.Probe(t.Context()); got != 7 || err != nil {
		t.Fatalf("Probe = %d, %v, want 7", got, err)
	}
	if _, err := p.Embed(t.Context(), []string{"ferry"}); err == nil {
		t.Error("Embed takes another dimension than that of Probe")
	}
	if got, err := p.Probe(t.Context()); got != dimensions || err != nil || p.State().Dimensions != dimensions {
		t.Fatalf("Probe = %d, %v, want what it gives now", got, err)
	}
	if _, err := p.Embed(t.Context(), []string{"ferry"}); err != nil {
		t.Error(err)
	}
	server.Break(endpointtest.Status(http.StatusBadRequest, ""))
	_, err := p.Probe(t.Context())
	wantKind(t, err, Refused)
	if state := p.State(); state.LastErrorKind != Refused || state.Refused != 0 || state.Failures != 2 {
		t.Errorf("State = %+v, want the provider blamed", state)
	}
}

func TestProbeOfAnotherDimensionThanStated(t *testing.T) {
	t.Parallel()
	p, _ := start(t, func(c *Config) { c.Dimensions = dimensions + 1 })
	_, err := p.Probe(t.Context())
	wantKind(t, err, WrongDimension)
	for range 3 {
		_, err = p.Embed(t.Context(), []string{"ferry"})
		wantKind(t, err, WrongDimension)
	}
}
