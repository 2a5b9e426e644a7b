package knowledge

import (
	"encoding/binary"

	"github.com/tzzr/context-manager/internal/chain"
)

// hashLabel keeps the hashes of records apart from all others.
const hashLabel = "context-manager/record/v1\n"

// ComputeHash gives the hash that the record's fields have, whatever its Hash says: SHA-256 over the label ‖ F(kind) ‖
// F(book) ‖ F(title) ‖ F(content) ‖ F(data) ‖ F(verified, one byte), framed as docs/chain.md says. Data is as Postgres
// prints it.
func (r *Record) ComputeHash() chain.Hash {
	verified := "\x00"
	if r.Verified {
		verified = "\x01"
	}
	b := []byte(hashLabel)
	for _, field := range []string{string(r.Kind), r.Book, r.Title, r.Content, string(r.Data), verified} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
		b = append(b, field...)
	}
	return chain.Sum(b)
}
