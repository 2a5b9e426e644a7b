// Package tile serves the log's tree over HTTP as C2SP's tlog-tiles has it, and reads it so: the newest checkpoint, the
// tiles of hashes and the leaves. What a checkpoint covers never changes, so that any cache may keep it, and nothing
// else is ever served.
package tile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/tzzr/context-manager/internal/auth"
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
	log Log
	cfg Config
}

// Config is what a handler needs besides its log.
type Config struct {
	PublicKey func() string // the log's verifier key, which another may follow; nothing while there is none
	Private   bool          // only tokens with the scope verify see commitments
	Diary     *slog.Logger
}

// NewHandler serves /checkpoint, /log.pub and /tile/…. Commitments, which are checkpoints, hashes and the key, are for
// whoever asks unless the log is private; leaves, which tell who wrote when, are for administrators whose token has the
// scope verify. The caller stands in the request's context: see auth.Gate.
func NewHandler(log Log, cfg Config) http.Handler {
	h := &handler{log: log, cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /checkpoint", h.commitment(h.checkpoint))
	mux.HandleFunc("GET /log.pub", h.commitment(h.key))
	mux.HandleFunc("GET /tile/entries/", h.leaves(h.tile))
	mux.HandleFunc("GET /tile/", h.commitment(h.tile))
	return mux
}

// commitment lets in who may see commitments.
func (h *handler) commitment(next http.HandlerFunc) http.HandlerFunc {
	if !h.cfg.Private {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		caller, err := auth.From(r.Context())
		switch {
		case err != nil:
			refuseStranger(w, err)
		case !caller.Scopes.Has(auth.Verify):
			refuse(w, http.StatusForbidden, "the log is private: the token has no scope verify")
		default:
			next(w, r)
		}
	}
}

// leaves lets in administrators who may verify.
func (h *handler) leaves(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		caller, err := auth.From(r.Context())
		switch {
		case err != nil:
			refuseStranger(w, err)
		case !caller.IsAdmin():
			refuse(w, http.StatusForbidden, "leaves are for administrators")
		case !caller.Scopes.Has(auth.Verify):
			refuse(w, http.StatusForbidden, "the token has no scope verify")
		default:
			next(w, r)
		}
	}
}

func refuseStranger(w http.ResponseWriter, err error) {
	if fault.CodeOf(err) != fault.Unauthenticated {
		refuse(w, http.StatusServiceUnavailable, "tokens cannot be checked now")
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized, err.Error())
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
	key := h.cfg.PublicKey()
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
	answer(w, "application/octet-stream", h.caching(place), data)
}

// caching says who may keep a tile: what not everybody may see, nobody but the one who asked.
func (h *handler) caching(p place) string {
	if h.cfg.Private || p.level == entries {
		return strings.Replace(forever, "public", "private", 1)
	}
	return forever
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

// entries gives leaves, which are held against the tree, each after its length in two bytes, big-endian.
func (h *handler) entries(ctx context.Context, p place) ([]byte, error) {
	leaves, err := h.log.Leaves(ctx, p.n*seal.TileWidth, int64(p.width))
	if err != nil {
		return nil, err
	}
	hashes, err := h.log.TileHashes(ctx, 0, p.n, p.width)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(leaves)*(2+seal.LeafBytes))
	for i, leaf := range leaves {
		if hash := leaf.Hash(); !bytes.HasPrefix(hashes[min(i*tlog.HashSize, len(hashes)):], hash[:]) {
			return nil, fmt.Errorf("leaf %d is not the tree's", p.n*seal.TileWidth+int64(i))
		}
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
	h.cfg.Diary.WarnContext(r.Context(), "the tree cannot be served", "cause", err)
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
