package verifier

import (
	"strings"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// Pins are what a caller believes, as it is written down.
type Pins struct {
	Key       string   // the log's verifier key, one line as /log.pub serves it
	Origin    string   // the log's name; empty: the key's
	Witnesses []string // verifier keys
	Quorum    int      // how many witnesses must have signed; negative: all of them
}

// Policy reads the pins. Faults: BAD_USER_INPUT names the one that is wrong.
func (p Pins) Policy() (seal.Policy, error) {
	key := strings.TrimRight(p.Key, "\r\n")
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return seal.Policy{}, fault.Input("--key", "is no verifier key, which is one line as /log.pub serves it: name+id+key")
	}
	policy := seal.Policy{Origin: p.Origin, Log: verifier, Quorum: p.Quorum}
	if policy.Origin == "" {
		policy.Origin = verifier.Name()
	}
	known := map[string]bool{}
	for _, text := range p.Witnesses {
		witness, err := cosign.NewVerifierForCosignatureV1(strings.TrimSpace(text))
		if err != nil {
			return seal.Policy{}, fault.Input("--witness", "%q is no verifier key of a witness: name+id+key", text)
		}
		if known[witness.Name()] {
			return seal.Policy{}, fault.Input("--witness", "%s is there twice", witness.Name())
		}
		known[witness.Name()] = true
		policy.Witnesses = append(policy.Witnesses, witness)
	}
	if policy.Quorum < 0 {
		policy.Quorum = len(policy.Witnesses)
	}
	if policy.Quorum > len(policy.Witnesses) {
		return seal.Policy{}, fault.Input("--quorum", "%d is more than the %d witnesses that are named", policy.Quorum, len(policy.Witnesses))
	}
	return policy, nil
}
