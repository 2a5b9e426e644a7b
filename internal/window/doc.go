// Package window decides what an agent's context window holds: what may enter, what leaves when it fills up, and what two
// writers make of each other. It is pure: a window and a wish in, a plan out. Where there is something to judge or to
// summarise it asks a Judge or a Summariser.
package window
