package graph

import (
	"encoding/binary"
	"net/http"
	"strconv"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/overload"
)

const stretchLabel = "context-manager/stretch/v1\n"

// NewStretches serves GET /stretch?session=HASH&after=SEQUENCE: a part of a session's chain in few bytes, for whoever checks
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
	given := r.URL.Query()["after"]
	if len(given) != 1 {
		return fault.Input("after", "is to be given once, as in /stretch?session=…&after=0")
	}
	after, err := strconv.ParseUint(given[0], 10, 53)
	if err != nil {
		return fault.Input("after", "is to be a sequence, or 0")
	}
	ctx, cancel := reading(r.Context(), caller)
	defer cancel()
	found, err := e.resolver.view(ctx).Stretch(ctx, session, int64(after))
	if err != nil {
		return err
	}
	out.kind = "application/octet-stream"
	if _, err := out.Write(encodeStretch(&found)); err != nil {
		return err
	}
	return out.end()
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
	more := byte(0)
	if s.More {
		more = 1
	}
	b = append(b, more)
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
