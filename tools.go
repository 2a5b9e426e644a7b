//go:build tools

// Package main's tools: the code generators and checkers, pinned by go.mod.
package main

import (
	_ "github.com/99designs/gqlgen"
	_ "github.com/99designs/gqlgen/graphql/introspection"
)
