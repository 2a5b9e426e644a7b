package graph

import (
	"encoding/binary"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/graph/cursor"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/overload"
)

const stretchLabel = "context-manager/stretch/v1\n"

// NewStretches serves GET /stretch?session=HASH&after=SEQUENCE, and &upto=SEQUENCE: a part of a session's chain in few bytes, for whoever checks
// all of it, to those who see the session and have the scopes log:read and verify. docs/chain.md has the format. Places
// bounds how many are answered at once; nil does not. The caller stands in the request's context.
func NewStretches(store *db.DB, places *overload.Gate, cfg Config) http.Handler {
	e := &exporting{resolver: &Resolver{Store: store}, places: places, present: presenter{log: cfg.Log}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.serve(w, r, e.stretch) })
}

func (e *exporting) stretch(r *http.Request, out *download) error {
	session, caller, err := e.asked(r)
	if err != nil {
		return err
	}
	asked := r.URL.Query()
	after, err := sequenceIn(asked, "after", "0")
	if err != nil {
		return err
	}
	upto, err := sequenceIn(asked, "upto", strconv.Itoa(maxSequence))
	if err != nil {
		return err
	}
	ctx, cancel := reading(r.Context(), caller)
	defer cancel()
	found, err := e.resolver.view(ctx).Stretch(ctx, session, after, upto)
	if err != nil {
		return err
	}
	out.kind = "application/octet-stream"
	if _, err := out.Write(encodeStretch(&found)); err != nil {
		return err
	}
	return out.end()
}

// maxSequence is the largest that JavaScript can tell from its neighbours.
const maxSequence = 1<<53 - 1

func sequenceIn(asked url.Values, name, unless string) (int64, error) {
	given := append(asked[name], unless)
	n, err := strconv.ParseInt(given[0], 10, 64)
	if err != nil || n < 0 || n > maxSequence || len(given) > 2 {
		return 0, fault.Input(name, "is to be a sequence, given once")
	}
	return n, nil
}

func encodeStretch(s *db.Stretch) []byte {
	size := 4096 + 32*len(s.Path)
	for i := range s.Messages {
		size += 1024
		if content := s.Messages[i].Content; content != nil {
			size += len(*content)
		}
	}
	b := append(make([]byte, 0, size), stretchLabel...)
	if s.Checkpoint == nil {
		b = binary.BigEndian.AppendUint32(b, 0xFFFFFFFF)
	} else {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s.Checkpoint.Note)))
		b = append(b, s.Checkpoint.Note...)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(s.Witnessed))
	if s.More {
		next := cursor.SessionMessages.Encode(s.Messages[len(s.Messages)-1].Sequence)
		b = binary.BigEndian.AppendUint32(b, uint32(len(next)))
		b = append(b, next...)
	} else {
		b = binary.BigEndian.AppendUint32(b, 0xFFFFFFFF)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Messages)))
	for i := range s.Messages {
		b = chain.AppendEntry(b, &s.Messages[i], s.Refs[s.Messages[i].Hash])
		b = binary.BigEndian.AppendUint64(b, uint64(s.Leaves[i]))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Path)))
	for _, h := range s.Path {
		b = append(b, h[:]...)
	}
	return b
}
