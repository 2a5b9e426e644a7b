package db

import (
	"github.com/tzzr/context-manager/embeddings"
	"github.com/tzzr/context-manager/internal/judge"
	"github.com/tzzr/context-manager/internal/summary"
	"github.com/tzzr/context-manager/internal/token"
	"github.com/tzzr/context-manager/internal/window"
)

// BuiltIn gives the judge and the summariser that need no model.
func BuiltIn() (window.Judge, window.Summariser) {
	count, err := token.Default()
	if err != nil {
		panic(err) // the vocabulary is part of the binary
	}
	return judge.New(), summary.New(vectorOf, count)
}

// vectorOf gives the lexical vectors of texts of a few hundred bytes, each one passage.
func vectorOf() func(text string) summary.Vector {
	documents := embeddings.NewDocuments()
	return func(text string) summary.Vector {
		p := documents.Document(text)[0]
		return summary.Vector{Terms: p.Terms, Values: p.Values, Keys: p.Keys}
	}
}
