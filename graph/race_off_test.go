//go:build !race

package graph

const slowdown = 1
