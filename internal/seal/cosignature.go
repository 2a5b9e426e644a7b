package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// maxTime is the end of the years that a cosignature may name: those that a timestamp in text has four digits for.
const maxTime = 253402300800 // seconds since 1970 of 10000-01-01

// Cosignature is a witness's signature on a checkpoint.
type Cosignature struct {
	Witness string // the name of its key
	At      time.Time
	Line    string // as it stands in the note, with the newline
}

// newCosignature reads a signature that has been verified.
func newCosignature(s note.Signature) (Cosignature, error) {
	if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
		return Cosignature{}, fmt.Errorf("the signature of %s is not written the one way that base64 writes it", s.Name)
	}
	at, err := cosign.CoSigV1Timestamp(s)
	if err != nil {
		return Cosignature{}, fmt.Errorf("the cosignature of %s: %w", s.Name, err)
	}
	if at.Unix() < 0 || at.Unix() >= maxTime {
		return Cosignature{}, fmt.Errorf("the cosignature of %s names no time of the years 1970 to 9999", s.Name)
	}
	return Cosignature{Witness: s.Name, At: at.UTC(), Line: "— " + s.Name + " " + s.Base64 + "\n"}, nil
}

// OpenCosignature finds in a witness's answer, lines of signatures, the one of its key on a checkpoint, and checks it.
// Lines of other keys are ignored.
func OpenCosignature(checkpoint, answer string, key note.Verifier) (Cosignature, error) {
	if len(checkpoint)+len(answer) > MaxNote {
		return Cosignature{}, fmt.Errorf("checkpoint and answer have more than %d bytes", MaxNote)
	}
	text, _, _ := strings.Cut(checkpoint, "\n\n") // without the signatures that it has
	signed, err := note.Open([]byte(text+"\n\n"+answer), note.VerifierList(key))
	if err != nil {
		return Cosignature{}, err
	}
	if signed.Text != text+"\n" {
		return Cosignature{}, errors.New("the answer is not lines of signatures")
	}
	return newCosignature(signed.Sigs[0])
}
