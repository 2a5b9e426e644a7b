//go:build race

package graph

// slowdown is what the race detector costs at most, as its documentation has it, on a busy machine.
const slowdown = 10
