package ranking

import (
	"encoding/json"
	"time"

	"github.com/tzzr/context-manager/internal/portable"
)

// Policy holds every constant of the ranking. A receipt commits to it, so that a replay knows what had ranked.
type Policy struct {
	Version string `json:"version"`

	// Before and After are the parts of their shares that a message gets from those before and after it in its
	// session, by distance from 1. Answer is what it gets besides from the one directly before, if that asks.
	Before []float64 `json:"before"`
	After  []float64 `json:"after"`
	Answer float64   `json:"answer"`
	// Session is the part it gets of the root of the sum of its session's SessionTop greatest squared shares: a session
	// does not gain by being long. Policies before lexical-v3 had no SessionTop, and took all.
	Session    float64 `json:"session"`
	SessionTop int     `json:"sessionTop,omitzero"`

	// Owner, Time, Date, Opening and Question are parts of the best candidate's share: added when the query names the
	// message's owner; when the query asks for a time and the message tells one; when the query names a time and the
	// message was sent then, or at most DateTold days later; when the message is the first of its session; and taken
	// off when the message asks. Policies before lexical-v2 had no Date and no Opening, and their JSON stays as it was.
	Owner    float64 `json:"owner"`
	Time     float64 `json:"time"`
	Date     float64 `json:"date,omitzero"`
	DateTold int     `json:"dateTold,omitzero"`
	Opening  float64 `json:"opening,omitzero"`
	Question float64 `json:"question"`

	// Record multiplies the share of a record, which has no neighbours to add theirs.
	Record float64 `json:"record"`
	// Middle is the sum at which a candidate is as likely as not what was asked for: relevance 0.7.
	Middle float64 `json:"middle"`

	// Semantic is the part of what words leave that a dense vector can add at most. SemanticFloor is how far above what
	// is unrelated a cosine still means nothing, SemanticMiddle how much farther it is as likely as not that of what was
	// asked for: both in spreads of Unrelated. Policies before lexical-v4 had no SemanticMiddle: see score.
	Semantic       float64 `json:"semantic"`
	SemanticFloor  float64 `json:"semanticFloor"`
	SemanticMiddle float64 `json:"semanticMiddle,omitzero"`

	Recency       float64 `json:"recency"`       // added for what is new
	RecencyWindow int64   `json:"recencyWindow"` // seconds that new lasts
	Preference    float64 `json:"preference"`    // added for what the player prefers

	// Unrelated is what the dense model that takes part gives for texts that have nothing to do with each other; nil if
	// none does. It is measured and no constant, but decides as much.
	Unrelated *Unrelated `json:"unrelated,omitempty"`
}

// Default is the policy in use. A change of any constant takes a new Version.
func Default() Policy {
	return Policy{
		Version: "lexical-v4",
		Before:  []float64{0.5, 0.2, 0.1, 0.1},
		After:   []float64{0.4, 0.2, 0.1, 0.1},
		Answer:  0.4,
		Session: 0.2, SessionTop: 12,
		Owner: 0.2, Time: 0.2, Date: 0.4, DateTold: 7, Opening: 0.05, Question: 0.1,
		Record:   1.6,
		Middle:   0.26,
		Semantic: 1, SemanticFloor: 2.5, SemanticMiddle: 2.5,
		Recency: 0.1, RecencyWindow: int64(time.Hour / time.Second),
		Preference: 0.15,
	}
}

// Calibrate turns a sum of shares into a relevance in [0, 1]:
//
//	1 − 0.3^(sum/Middle)
//
// so that 0 gives 0 and Middle gives 0.7. It rises strictly, so it never changes an order.
func (p Policy) Calibrate(sum float64) float64 {
	return likelihood(max(0, sum) / p.Middle)
}

// likelihood gives 1 − 0.3^x.
func likelihood(x float64) float64 {
	const ln03 = -1.2039728043259361 // ln 0.3
	return 1 - portable.Exp(float64(ln03*x))
}

// Canonical gives the policy as JSON: the same bytes for the same policy. Its numbers must be finite.
func (p Policy) Canonical() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic("ranking: policy holds a number that is not finite: " + err.Error())
	}
	return text
}
