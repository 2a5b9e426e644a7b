package chain

import "encoding/binary"

// Labels keep the three digests apart: no input of one can be an input of another.
const (
	contentLabel = "context-manager/content/v1\n"
	refsLabel    = "context-manager/refs/v1\n"
	messageLabel = "context-manager/message/v1\n"
	idLabel      = "context-manager/id/v1\n"
)

// frames builds the bytes that a digest covers. F(x) is a 4-byte big-endian length and then the bytes, with
// length FFFFFFFF and no bytes for an absent x; A(list) is a 4-byte big-endian count and then F of each.
// It is the framing of Postgres' binary COPY: no two different lists of fields give the same bytes.
type frames []byte

const absent = 0xFFFFFFFF

func (f *frames) bytes(x []byte) {
	*f = binary.BigEndian.AppendUint32(*f, uint32(len(x)))
	*f = append(*f, x...)
}

func (f *frames) text(x string) {
	*f = binary.BigEndian.AppendUint32(*f, uint32(len(x)))
	*f = append(*f, x...)
}

func (f *frames) count(n int) { *f = binary.BigEndian.AppendUint32(*f, uint32(n)) }

func (f *frames) int16(x int16) {
	*f = binary.BigEndian.AppendUint32(*f, 2)
	*f = binary.BigEndian.AppendUint16(*f, uint16(x))
}

func (f *frames) int64(x int64) {
	*f = binary.BigEndian.AppendUint32(*f, 8)
	*f = binary.BigEndian.AppendUint64(*f, uint64(x))
}

func (f *frames) none() { *f = binary.BigEndian.AppendUint32(*f, absent) }

func (f *frames) optionalText(x *string) {
	if x == nil {
		f.none()
		return
	}
	f.text(*x)
}

func (f *frames) optionalHash(x *Hash) {
	if x == nil {
		f.none()
		return
	}
	f.bytes(x[:])
}

func (f *frames) hashes(list []Hash) {
	*f = binary.BigEndian.AppendUint32(*f, uint32(len(list)))
	for _, x := range list {
		f.bytes(x[:])
	}
}

// ContentPreimage gives the bytes that content_digest covers:
// label ‖ salt ‖ F(content) ‖ F(attachments) ‖ F(ambient). The salt is SaltBytes long.
func ContentPreimage(salt []byte, content string, attachments JSON, ambient *JSON) []byte {
	size := len(contentLabel) + len(salt) + len(content) + len(attachments) + 12
	if ambient != nil {
		size += len(*ambient)
	}
	return appendContentPreimage(make(frames, 0, size), salt, content, attachments, ambient)
}

func appendContentPreimage(f frames, salt []byte, content string, attachments JSON, ambient *JSON) frames {
	f = append(append(f, contentLabel...), salt...)
	f.text(content)
	f.text(string(attachments))
	f.optionalText((*string)(ambient))
	return f
}

// RefsDigest is SHA-256 over label ‖ count ‖ per ref, by position: F(ref_type) ‖ F(ref_hash).
func RefsDigest(refs []Ref) Hash {
	f := make(frames, 0, len(refsLabel)+4+len(refs)*50)
	return Sum(appendRefs(append(f, refsLabel...), refs))
}

func appendRefs(f frames, refs []Ref) frames {
	f.count(len(refs))
	for _, r := range refs {
		f.text(string(r.Type))
		f.bytes(r.Hash[:])
	}
	return f
}

// Preimage gives the bytes whose SHA-256 is the message's hash: version 1 of the format, as docs/chain.md
// describes it. Content and refs enter by their digests.
func (m *Message) Preimage() []byte { return m.appendPreimage(make(frames, 0, 512)) }

func (m *Message) appendPreimage(f frames) frames {
	f = append(f, messageLabel...)
	f.bytes(m.SessionHash[:])
	f.int64(m.Sequence)
	f.optionalHash(m.PrevHash)
	f.optionalHash(m.ThreadHash)
	f.bytes(m.OwnerID[:])
	f.hashes(m.PlayerIDs)
	f.optionalHash(m.MasterPlayer)
	f.optionalText(m.Role)
	f.text(string(m.EventType))
	f.int16(m.Importance)
	f.optionalText(m.Channel)
	f.optionalText(m.Source)
	f.bytes(m.ContentDigest[:])
	f.hashes(m.Hashtags)
	f.optionalHash(m.FlagID)
	f.optionalHash(m.MasterItemID)
	f.hashes(m.ItemIDs)
	f.optionalHash(m.LocationID)
	f.bytes(m.RefsDigest[:])
	f.int64(m.CreatedAt.UnixMicro())
	return f
}

// ComputeHash gives the hash that the message's fields have, whatever its Hash says.
func (m *Message) ComputeHash() Hash { return Sum(m.Preimage()) }

// IDDigest is SHA-256 over label ‖ id (8 bytes) ‖ hash: it binds the place in this database's log, which
// the hash cannot cover because a copy of the log elsewhere has other places.
func IDDigest(id int64, hash Hash) Hash {
	f := append(frames{}, idLabel...)
	f = binary.BigEndian.AppendUint64(f, uint64(id))
	return Sum(append(f, hash[:]...))
}
