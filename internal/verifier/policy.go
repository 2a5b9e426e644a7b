package verifier

import (
	"encoding/base64"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/witness"
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
	// A quorum counts keys and not names, and the log's own key is no witness of the log.
	names, keys := map[string]bool{}, map[string]bool{publicKey(key): true}
	for _, text := range p.Witnesses {
		text = strings.TrimSpace(text)
		verifier, err := witness.ParseKey(text)
		if err != nil {
			return seal.Policy{}, fault.Input("--witness", "%q is no verifier key of a witness: name+id+key", text)
		}
		if names[verifier.Name()] {
			return seal.Policy{}, fault.Input("--witness", "%s is there twice", verifier.Name())
		}
		if keys[publicKey(text)] {
			return seal.Policy{}, fault.Input("--witness", "the key of %s is there twice: a quorum counts keys, and not the log's own", verifier.Name())
		}
		names[verifier.Name()], keys[publicKey(text)] = true, true
		policy.Witnesses = append(policy.Witnesses, verifier)
	}
	if policy.Quorum < 0 {
		policy.Quorum = len(policy.Witnesses)
	}
	if policy.Quorum > len(policy.Witnesses) {
		return seal.Policy{}, fault.Input("--quorum", "%d is more than the %d witnesses that are named", policy.Quorum, len(policy.Witnesses))
	}
	return policy, nil
}

// publicKey gives the public key of a verifier key that was read before, without its name and kind.
func publicKey(vkey string) string {
	_, text, _ := strings.Cut(vkey[strings.IndexByte(vkey, '+')+1:], "+")
	key, _ := base64.StdEncoding.DecodeString(text)
	return string(key[1:])
}
