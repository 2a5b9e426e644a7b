package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/tzzr/context-manager/internal/endpoint"
)

// parse reads an answer to so many texts: one vector each, in the order of the texts, all of one dimension, each of
// length 1. Everything else is refused: a vector that holds NaN would poison each search that meets it.
func parse(body []byte, texts int) ([][]float32, *Error) {
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	switch err := json.NewDecoder(bytes.NewReader(body)).Decode(&answer); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, (*Error)(endpoint.BrokeOff())
	case err != nil:
		return nil, unusable("gave an answer that is no list of vectors in JSON; check EMBEDDINGS_URL")
	case len(answer.Data) != texts:
		return nil, unusable("gave %d vectors for %d texts", len(answer.Data), texts)
	}
	vectors := make([][]float32, texts)
	for position, one := range answer.Data {
		index := position
		if one.Index != nil {
			index = *one.Index
		}
		if (one.Index == nil) != (answer.Data[0].Index == nil) || index < 0 || index >= texts || vectors[index] != nil {
			return nil, unusable("gave vectors whose index does not name a text each")
		}
		vector, failure := parseVector(one.Embedding)
		if failure != nil {
			return nil, failure
		}
		vectors[index] = vector
	}
	for _, vector := range vectors {
		if len(vector) != len(vectors[0]) {
			return nil, &Error{Kind: WrongDimension, Status: http.StatusOK, Message: fmt.Sprintf(
				"gave vectors of %d and of %d dimensions in one answer", len(vectors[0]), len(vector))}
		}
	}
	return vectors, nil
}

// parseVector reads a JSON array of numbers, which is valid JSON, and brings it to length 1.
func parseVector(array []byte) ([]float32, *Error) {
	array = bytes.TrimSpace(array)
	if len(array) < 2 || array[0] != '[' {
		return nil, unusable("gave a vector that is no list of numbers")
	}
	array = bytes.TrimSpace(array[1 : len(array)-1])
	if len(array) == 0 {
		return nil, unusable("gave a vector without dimensions")
	}
	dimensions := bytes.Count(array, []byte{','}) + 1
	if dimensions > MaxDimensions {
		return nil, &Error{Kind: WrongDimension, Status: http.StatusOK, Message: fmt.Sprintf(
			"gave a vector of %d dimensions, and at most %d can be indexed: choose another EMBEDDINGS_MODEL", dimensions, MaxDimensions)}
	}
	values := make([]float64, 0, dimensions)
	sum := 0.0
	for number := range bytes.SplitSeq(array, []byte{','}) {
		value, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 64)
		if err != nil {
			return nil, unusable("gave a vector that holds something else than finite numbers, such as NaN")
		}
		values = append(values, value)
		sum += float64(value * value)
	}
	length := math.Sqrt(sum)
	if math.IsInf(length, 0) {
		return nil, unusable("gave a vector too long to be one")
	}
	if length < math.SmallestNonzeroFloat32 {
		return nil, unusable("gave a vector of zeros")
	}
	vector := make([]float32, dimensions)
	for i, value := range values {
		vector[i] = float32(value / length)
	}
	return vector, nil
}

func unusable(format string, args ...any) *Error {
	return (*Error)(endpoint.NotUsable(format, args...))
}
