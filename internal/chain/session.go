package chain

import "time"

// Session is one hash chain, in short.
type Session struct {
	Hash          Hash
	Length        int64
	Head          Hash // of its last message
	StartedAt     time.Time
	LastMessageAt time.Time
}

// Thread is one conversation, in short.
type Thread struct {
	Hash          Hash
	MessageCount  int64
	StartedAt     time.Time
	LastMessageAt time.Time
	Last          Hash // of its last message
}
