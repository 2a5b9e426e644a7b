package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/sealfile"
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
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != cosignatureV1 || strings.ContainsAny(vkey, "\r\n") {
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

// key is a witness's own key.
type key struct {
	signer         *cosign.Signer
	secret, public string
}

// loadKey reads the key from a file. If there is none, it makes one, which is for write to keep; first says so.
//
// Faults: BAD_USER_INPUT if the file holds no key, or one of another name, or the name is none; UNAVAILABLE if it
// cannot be read.
func loadKey(path, name string) (k key, first bool, err error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return key{}, true, fault.Input("--name", "is needed at the first start: it names the witness in its cosignatures, as witness.example.org/1")
	case errors.Is(err, fs.ErrNotExist):
		secret, public := generateKey(name)
		k, err = parseSecret(secret, public)
		if err != nil {
			return key{}, true, fault.Input("--name", "%q cannot name a witness: it has blanks or a +", name)
		}
		return k, true, nil
	case err != nil:
		return key{}, false, fault.Wrap(err, fault.Unavailable, "cannot read the witness's key: %v", err)
	}
	secret, public, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if k, err = parseSecret(secret, public); err != nil {
		return key{}, false, fault.Input(path, "holds no key of a witness and its public key")
	}
	if name != "" && k.signer.Name() != name {
		return key{}, false, fault.Input("--name", "is %q, and the key in %s is that of %q", name, path, k.signer.Name())
	}
	return k, false, nil
}

// parseSecret reads a secret key that belongs to a public one.
func parseSecret(secret, public string) (key, error) {
	signer, err := cosign.NewSignerForCosignatureV1(secret)
	if err != nil {
		return key{}, err
	}
	if _, err := ParseKey(public); err != nil {
		return key{}, err
	}
	_, text, _ := strings.Cut(strings.TrimPrefix(secret, "PRIVATE+KEY+"+signer.Name()+"+"), "+") // base64 has a +, too
	seed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return key{}, errors.New("no secret key of Ed25519")
	}
	if s, p := formatKeys(signer.Name(), seed[1:]); s != secret || p != public {
		return key{}, errors.New("the public key is another's")
	}
	return key{signer: signer, secret: secret, public: public}, nil
}

// write keeps the key in a file that is not there yet. The state is locked.
func (k key) write(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Conflict, "another witness has made the key in %s", path)
	}
	if err := sealfile.Replace(path, k.secret+"\n"+k.public+"\n"); err != nil {
		return fault.Wrap(err, fault.Unavailable, "cannot write the witness's key: %v", err)
	}
	return nil
}
