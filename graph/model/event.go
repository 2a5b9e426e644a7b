package model

import (
	"time"

	"github.com/tzzr/context-manager/internal/chain"
)

// EventThread is a conversation of an agent with a user, as events call it.
type EventThread struct {
	Hash        chain.Hash // of the thread
	ThreadID    string
	StartedAt   time.Time
	LastEventAt time.Time
	NumEvents   int64
}
