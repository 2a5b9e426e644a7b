// Package judge tells by rules, without a model, whether two texts contradict each other, in English and Spanish.
//
// A text is read into claims: who or what, which verb, what is said of it, and the numbers, times, dates and places in it.
// Two claims contradict each other if they are of the same subject and differ in one thing alone that cannot be both. What
// is no plain claim (a question, a condition, a guess, somebody else's opinion, "it" and "this") is never compared: to miss
// a contradiction is cheaper than to take from an agent what it needs. docs/judge.md says what the rules know, and how they
// were measured.
//
// It never reads a file, and never calls anything.
package judge
