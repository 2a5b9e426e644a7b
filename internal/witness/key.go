package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/fault"
)

// cosignatureV1 is the byte that says what signatures an Ed25519 key gives: cosignatures with a time.
const cosignatureV1 = 0x04

// ParseKey reads a witness's public key, name+id+key, of the kind cosignature/v1.
//
// Faults: BAD_USER_INPUT.
func ParseKey(vkey string) (note.Verifier, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	id, text, _ := strings.Cut(rest, "+")
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != cosignatureV1 {
		return nil, fault.Input("witness", "%q is no key of a witness: it is like name+0123abcd+key, of the kind cosignature/v1", vkey)
	}
	if id != keyID(name, key) {
		return nil, fault.Input("witness", "%q is miswritten: name and key do not give the id %s", vkey, id)
	}
	verifier, err := cosign.NewVerifierForCosignatureV1(vkey)
	if err != nil {
		return nil, fault.Input("witness", "%q is no key of a witness: %s", vkey, err)
	}
	return verifier, nil
}

// keyID gives the first four bytes of SHA-256(name ‖ \n ‖ kind ‖ public key), in hexadecimal digits.
func keyID(name string, key []byte) string {
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return fmt.Sprintf("%08x", binary.BigEndian.Uint32(sum[:]))
}

// generateKey makes a witness's key: the secret one as signers read it, and the public one.
func generateKey(name string) (secret, public string) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails
	return formatKeys(name, seed)
}

func formatKeys(name string, seed []byte) (secret, public string) {
	key := append([]byte{cosignatureV1}, ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)...)
	id := keyID(name, key)
	secret = "PRIVATE+KEY+" + name + "+" + id + "+" + base64.StdEncoding.EncodeToString(append([]byte{cosignatureV1}, seed...))
	return secret, name + "+" + id + "+" + base64.StdEncoding.EncodeToString(key)
}
