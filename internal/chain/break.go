package chain

import "time"

// BreakReason says what kind of break was found. Its text is what GraphQL shows.
type BreakReason string

// The kinds of breaks.
const (
	HashMismatch   BreakReason = "HASH_MISMATCH"   // the stored fields do not give the stored hash, or digest
	BrokenLink     BreakReason = "BROKEN_LINK"     // it does not name its predecessor
	Gap            BreakReason = "GAP"             // a message is missing
	Fork           BreakReason = "FORK"            // two messages claim the same place or predecessor
	RefsMismatch   BreakReason = "REFS_MISMATCH"   // what it was sent with is not what it was written with
	MissingTail    BreakReason = "MISSING_TAIL"    // the last messages of a session are missing
	MissingSession BreakReason = "MISSING_SESSION" // a whole session is missing
	LeafMismatch   BreakReason = "LEAF_MISMATCH"   // its leaf in the tree is not its hash
	RootMismatch   BreakReason = "ROOT_MISMATCH"   // the tree's root is not what was signed
	Clock          BreakReason = "CLOCK"           // it is older than its predecessor, or its id does not follow it
)

// MaxBreaks is how many breaks a report lists. What is found beyond only makes it invalid.
const MaxBreaks = 1000

// Break is one thing that is wrong with the log.
type Break struct {
	Session     Hash   // all zero if it cannot be told, or concerns the tree and no session
	Sequence    *int64 // place in the session; of a missing message, the place it should have
	MessageHash *Hash  // as stored; of a missing message, as its successor states it
	Reason      BreakReason
	Detail      string // what differs, in words
}

// Progress is how far a check has come.
type Progress struct {
	Checked int64 // messages; begins again, once, if something is wrong with the log and it is looked for what
	Total   int64 // messages there were when it began
	Breaks  []Break
	Done    bool
}

// SessionReport is the outcome of checking one session.
type SessionReport struct {
	Session Hash
	Valid   bool
	Length  int64 // messages found
	Head    *Hash // of the last message found; nil if there is none
	Breaks  []Break
}

// LogReport is the outcome of checking every session.
type LogReport struct {
	Valid      bool
	Sessions   int64
	Messages   int64
	Sealed     int64 // messages whose leaf the checkpoint covers
	Erased     int64 // messages
	Checkpoint *SignedHead
	Breaks     []Break
	Took       time.Duration
}

// SignedHead is a checkpoint of the tree, as package seal reads it, that was found to be signed and to agree.
type SignedHead struct {
	Size         int64
	Root         Hash
	Origin       string
	Note         string // with the cosignatures
	SignedAt     time.Time
	Cosignatures []string // lines of the note
}
