package chain

// AppendEntry appends what it takes to check a message of a chain: F(hash) as it is stated, F(preimage), F of what the
// content's digest covers, or NULL once the content is erased, and F(refs), their count and per ref, by position, F(type) ‖
// F(hash). docs/chain.md, "A stretch". What is there in part of a content cannot be written, and is left empty.
func AppendEntry(to []byte, m *Message, refs []Ref) []byte {
	f := frames(to)
	f.bytes(m.Hash[:])
	f = f.framed(m.appendPreimage)
	switch {
	case m.Content != nil && m.Attachments != nil && len(m.Salt) == SaltBytes:
		f = f.framed(func(f frames) frames {
			return appendContentPreimage(f, m.Salt, *m.Content, *m.Attachments, m.Ambient)
		})
	case m.Content == nil && m.Attachments == nil && m.Ambient == nil && m.Salt == nil:
		f.none()
	default:
		f.count(0)
	}
	return f.framed(func(f frames) frames { return appendRefs(f, refs) })
}

// framed appends F of what is appended by another.
func (f frames) framed(add func(frames) frames) frames {
	at := len(f)
	f.count(0)
	f = add(f)
	length := frames(f[:at])
	length.count(len(f) - at - 4)
	return f
}
