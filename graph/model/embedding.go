package model

import (
	"github.com/99designs/gqlgen/graphql"

	"github.com/tzzr/context-manager/db"
)

// EmbeddingModel is a model whose vectors the database has.
type EmbeddingModel struct{ db.EmbeddingModel }

// LastError is what keeps it from embedding, nil while nothing does.
func (m EmbeddingModel) LastError() *string {
	if m.EmbeddingModel.LastError == "" {
		return nil
	}
	return &m.EmbeddingModel.LastError
}

// MarshalEmbeddingKind writes what a model's vectors are.
func MarshalEmbeddingKind(v db.EmbeddingKind) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalEmbeddingKind reads what a model's vectors are.
func UnmarshalEmbeddingKind(v any) (db.EmbeddingKind, error) {
	return unmarshalEnum[db.EmbeddingKind](v)
}

// MarshalEmbeddingModelState writes what a model is for.
func MarshalEmbeddingModelState(v db.EmbeddingState) graphql.Marshaler { return marshalEnum(v) }

// UnmarshalEmbeddingModelState reads what a model is for.
func UnmarshalEmbeddingModelState(v any) (db.EmbeddingState, error) {
	return unmarshalEnum[db.EmbeddingState](v)
}
