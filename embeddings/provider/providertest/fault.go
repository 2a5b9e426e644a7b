package providertest

import (
	"encoding/json"
	"strings"

	"github.com/tzzr/context-manager/internal/endpoint/endpointtest"
)

// Texts gives those of a request.
func Texts(x *endpointtest.Exchange) []string {
	texts, _ := read(x.Body)
	return texts
}

// Dimensions gives vectors of another dimension.
func Dimensions(dimensions int) Fault {
	return func(x *endpointtest.Exchange) {
		x.Change(func([]byte) []byte {
			return encode(vectors(Texts(x), dimensions))
		})
	}
}

// change answers with what it makes of the right elements.
func change(change func(all []embedding) []embedding) Fault {
	return func(x *endpointtest.Exchange) {
		x.Change(func(right []byte) []byte {
			var answer struct{ Data []embedding }
			if err := json.Unmarshal(right, &answer); err != nil {
				panic(err) // the server's own
			}
			return encode(change(answer.Data))
		})
	}
}

// Element puts these bytes, such as NaN, null or 1e999, in place of the first number of each vector.
func Element(number string) Fault {
	return change(func(all []embedding) []embedding {
		for i, one := range all {
			_, rest, _ := strings.Cut(string(one.Embedding), ",")
			all[i].Embedding = json.RawMessage("[" + number + "," + rest)
		}
		return all
	})
}

// Zeros gives vectors of zeros.
func Zeros() Fault {
	return change(func(all []embedding) []embedding {
		for i, one := range all {
			all[i].Embedding = json.RawMessage("[0" + strings.Repeat(",0", strings.Count(string(one.Embedding), ",")) + "]")
		}
		return all
	})
}

// Missing leaves out the vector of one text.
func Missing() Fault { return change(func(all []embedding) []embedding { return all[1:] }) }

// Only lets a fault happen to requests that hold a text with this part, and answers the others.
func Only(part string, f Fault) Fault {
	return When(func(texts []string) bool {
		for _, text := range texts {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}, f)
}

// When lets a fault happen to requests whose texts are so, and answers the others.
func When(is func(texts []string) bool, f Fault) Fault {
	return func(x *endpointtest.Exchange) {
		if is(Texts(x)) {
			f(x)
			return
		}
		x.Answer()
	}
}
