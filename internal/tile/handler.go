// Package tile serves the log's tree over HTTP as C2SP's tlog-tiles has it, and reads it so: the newest checkpoint, the
// tiles of hashes and the leaves. What a checkpoint covers never changes, so that any cache may keep it, and nothing
// else is ever served.
package tile

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
)

// Log is what is served.
type Log interface {
	// NewestCheckpoint gives the newest checkpoint with its cosignatures; false before the first.
	NewestCheckpoint(ctx context.Context) (seal.Checkpoint, bool, error)
	// TileHashes gives the first width hashes, one after the other, of the n-th tile of a level.
	TileHashes(ctx context.Context, level int, n int64, width int) ([]byte, error)
	// Leaves gives leaves in order from the first on.
	Leaves(ctx context.Context, first, count int64) ([]seal.Leaf, error)
}

// forever is for what never changes.
const forever = "public, max-age=31536000, immutable"

// handler serves a log.
type handler struct {
	log       Log
	publicKey func() string
	diary     *slog.Logger
}

// NewHandler serves /checkpoint, /log.pub and /tile/…, to whoever asks. PublicKey gives the log's verifier key, which
// another may follow; nothing while there is none.
func NewHandler(log Log, publicKey func() string, diary *slog.Logger) http.Handler {
	h := &handler{log: log, publicKey: publicKey, diary: diary}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /checkpoint", h.checkpoint)
	mux.HandleFunc("GET /log.pub", h.key)
	mux.HandleFunc("GET /tile/", h.tile)
	return mux
}

func (h *handler) checkpoint(w http.ResponseWriter, r *http.Request) {
	checkpoint, ok, err := h.log.NewestCheckpoint(r.Context())
	switch {
	case err != nil:
		h.fail(w, r, err)
	case !ok:
		refuse(w, http.StatusNotFound, "there is no checkpoint yet")
	default:
		answer(w, "text/plain; charset=utf-8", "no-cache", []byte(checkpoint.Note))
	}
}

func (h *handler) key(w http.ResponseWriter, _ *http.Request) {
	key := h.publicKey()
	if key == "" {
		refuse(w, http.StatusNotFound, "the log has no key yet")
		return
	}
	answer(w, "text/plain; charset=utf-8", "no-cache", []byte(key+"\n"))
}

func (h *handler) tile(w http.ResponseWriter, r *http.Request) {
	place, ok := parsePath(r.URL.EscapedPath())
	if !ok {
		refuse(w, http.StatusNotFound, "that is no tile's path")
		return
	}
	checkpoint, ok, err := h.log.NewestCheckpoint(r.Context())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if !ok || !place.covers(checkpoint.Size) {
		refuse(w, http.StatusNotFound, "the newest checkpoint does not cover that")
		return
	}
	data, err := h.read(r.Context(), place)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	answer(w, "application/octet-stream", forever, data)
}

// read gives what is at a place, whole or not at all: what is answered once is kept by caches for ever.
func (h *handler) read(ctx context.Context, p place) (data []byte, err error) {
	want := p.width * tlog.HashSize
	if p.level == entries {
		want = p.width * (2 + seal.LeafBytes)
		data, err = h.entries(ctx, p)
	} else {
		data, err = h.log.TileHashes(ctx, p.level, p.n, p.width)
	}
	if err == nil && len(data) != want {
		err = fmt.Errorf("%s has %d bytes and not %d", p.path(), len(data), want)
	}
	return data, err
}

// entries gives leaves, each after its length in two bytes, big-endian.
func (h *handler) entries(ctx context.Context, p place) ([]byte, error) {
	leaves, err := h.log.Leaves(ctx, p.n*seal.TileWidth, int64(p.width))
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(leaves)*(2+seal.LeafBytes))
	for _, leaf := range leaves {
		data = binary.BigEndian.AppendUint16(data, uint16(seal.LeafBytes))
		data = append(data, leaf.Bytes()...)
	}
	return data, nil
}

// fail answers what a cache must not keep: the log cannot be read now.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if fault.CodeOf(err) == fault.NotFound { // another name is signed under since the checkpoint was read
		refuse(w, http.StatusNotFound, "the newest checkpoint does not cover that")
		return
	}
	h.diary.WarnContext(r.Context(), "the tree cannot be served", "cause", err)
	refuse(w, http.StatusServiceUnavailable, "the log cannot be read now")
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

func answer(w http.ResponseWriter, contentType, cache string, data []byte) {
	w.Header().Set("Cache-Control", cache)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}
