package main

import (
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/summary"
	"github.com/tzzr/context-manager/internal/token"
)

// newExtractive gives the summariser that is built in, with the vectors that the search has.
func newExtractive() (*summary.Extractive, error) {
	count, err := token.Default()
	if err != nil {
		return nil, err
	}
	return summary.New(func() func(string) summary.Vector {
		documents := embeddings.NewDocuments()
		return func(text string) summary.Vector {
			p := documents.Document(text)[0]
			return summary.Vector{Terms: p.Terms, Values: p.Values, Keys: p.Keys}
		}
	}, count), nil
}
