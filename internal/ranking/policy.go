package ranking

import (
	"encoding/json"
	"time"
)

// Policy holds every constant of the ranking. A receipt commits to it, so that a replay knows what had ranked.
type Policy struct {
	Version string `json:"version"`

	Near    float64 `json:"near"`    // part of the share of the messages directly before and after
	Far     float64 `json:"far"`     // part of the share of those at distance two
	Owner   float64 `json:"owner"`   // added when the query names the message's owner
	Session float64 `json:"session"` // part of the session's mean share

	Middle float64 `json:"middle"` // the sum of shares that is as likely as not what was asked for: relevance 0.7

	Semantic      float64 `json:"semantic"`      // weight of the dense half when there is one
	SemanticFloor float64 `json:"semanticFloor"` // cosine that means nothing: relevance 0

	Recency       float64 `json:"recency"`       // added for what is new
	RecencyWindow int64   `json:"recencyWindow"` // seconds that new lasts
	Preference    float64 `json:"preference"`    // added for what the player prefers
}

// Default is the policy in use. Changing any constant takes a new Version.
func Default() Policy {
	return Policy{
		Version: "lexical-v1",
		Near:    0.5, Far: 0.2, Owner: 0.05, Session: 0.3,
		Middle:   0.25,
		Semantic: 0.5, SemanticFloor: 0.2,
		Recency: 0.1, RecencyWindow: int64(time.Hour / time.Second),
		Preference: 0.15,
	}
}

// Canonical gives the policy as JSON: the same bytes for the same policy.
func (p Policy) Canonical() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic("ranking: a policy holds a number that JSON has no form for: " + err.Error())
	}
	return text
}
