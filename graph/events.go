package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tzzr/context-manager/db"
	"github.com/tzzr/context-manager/internal/auth"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/ingest"
	"github.com/tzzr/context-manager/internal/overload"
)

// Limits of POST /hooks/events. What is signed is read before it is known who sent it.
const (
	maxEventsBody  = MaxAppendBody
	maxSignedBody  = 1 << 20
	signatureLasts = 5 * time.Minute // either way
)

// NewEvents serves POST /hooks/events: one event or a list, with a token that has the scope events:ingest, or signed with the
// secret of its source. All of a list are appended, or none. The caller stands in the request's context. Places bounds how
// many are at work at once; nil does not.
func NewEvents(store *db.DB, secrets map[string]string, places *overload.Gate, cfg Config) http.Handler {
	return &hooks{store: store, secrets: secrets, places: places, present: presenter{log: cfg.Log}, now: time.Now}
}

type hooks struct {
	store   *db.DB
	secrets map[string]string // by source
	places  *overload.Gate
	present presenter
	now     func() time.Time
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	leave, err := h.places.Enter(r.Context(), whoAsks(r.Context()))
	if err != nil {
		writeFull(w, r, err)
		return
	}
	defer leave()
	hashes, status, err := h.take(w, r)
	if err != nil {
		if fault.CodeOf(err) == fault.Internal {
			h.present.log.ErrorContext(r.Context(), "internal error", "cause", err)
		}
		writeError(w, r, status, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string][]chain.Hash{"hashes": hashes})
}

func (h *hooks) take(w http.ResponseWriter, r *http.Request) ([]chain.Hash, int, error) {
	if status, err := checkHeader(r); err != nil {
		return nil, status, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), operationLimit)
	defer cancel()
	by, body, source, err := h.identify(w, r)
	if err != nil {
		status, ok := map[fault.Code]int{fault.Unauthenticated: http.StatusUnauthorized}[fault.CodeOf(err)]
		if !ok {
			status = exportStatus(err)
		}
		return nil, status, err
	}
	events, err := ingest.ReadEvents(body)
	if err != nil {
		return nil, exportStatus(err), err
	}
	for i := range events {
		if source != "" && events[i].Source != source {
			return nil, http.StatusForbidden, forbidden("events["+strconv.Itoa(i)+"].source", "is not %s, whose secret has signed this", source)
		}
	}
	key := r.Header.Get("Idempotency-Key")
	if key == "" && source != "" { // who sends again what was heard changes nothing
		key = r.Header.Get("X-Signature-256")
	}
	hashes, err := h.append(ctx, events, by, key)
	if fault.CodeOf(err) == fault.Conflict {
		return nil, http.StatusConflict, err
	}
	return hashes, exportStatus(err), err
}

// identify gives who sends the events, nil if they are signed, the body, and the source whose secret has signed it.
func (h *hooks) identify(w http.ResponseWriter, r *http.Request) (by *chain.Hash, body []byte, source string, err error) {
	limit := int64(maxEventsBody)
	caller, err := auth.From(r.Context())
	signed := r.Header.Get("X-Signature-256")
	switch {
	case err == nil:
		if err := needScopes(caller, auth.EventsIngest); err != nil {
			return nil, nil, "", err
		}
		by = &caller.Player
	case signed == "" || r.Header.Get("Authorization") != "":
		return nil, nil, "", err
	default:
		limit = maxSignedBody
	}
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, nil, "", fault.Wrap(err, fault.BadUserInput, "the body has more than %d bytes, or ended too early", limit)
	}
	if by == nil {
		source, err = h.signer(signed, r.Header.Get("X-Signature-Timestamp"), body)
	}
	return by, body, source, err
}

// signer gives the source whose secret has signed a body: HMAC-SHA-256 over the time stamp, a point and the body.
func (h *hooks) signer(signature, stamp string, body []byte) (string, error) {
	refused := fault.New(fault.Unauthenticated, "the signature is that of no source: X-Signature-256 is `sha256=` and the HMAC-SHA-256, in hexadecimal, of X-Signature-Timestamp, a point and the body")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return "", fault.New(fault.Unauthenticated, "X-Signature-Timestamp is not the time of the signature in seconds since 1970")
	}
	if off := h.now().Sub(time.Unix(seconds, 0)); off > signatureLasts || off < -signatureLasts {
		return "", fault.New(fault.Unauthenticated, "the signature is of another time: more than %v away", signatureLasts)
	}
	text, ok := strings.CutPrefix(signature, "sha256=")
	sent, err := hex.DecodeString(text)
	if !ok || err != nil || len(sent) != sha256.Size {
		return "", refused
	}
	found := ""
	for source, secret := range h.secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = io.WriteString(mac, stamp+".")
		_, _ = mac.Write(body)
		if hmac.Equal(mac.Sum(nil), sent) {
			found = source
		}
	}
	if found == "" {
		return "", refused
	}
	return found, nil
}

// append makes sure of what events name, and appends them.
func (h *hooks) append(ctx context.Context, events []ingest.Event, by *chain.Hash, key string) ([]chain.Hash, error) {
	var named []chain.Hash
	for part := range slices.Chunk(ingest.Components(events), component.MaxDrafts) {
		made, err := h.store.UpsertComponents(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, c := range made {
			named = append(named, c.Hash)
		}
	}
	drafts, err := ingest.Drafts(events, named, by, key)
	if err != nil {
		return nil, err
	}
	written, err := h.store.Deliver(ctx, drafts)
	hashes := make([]chain.Hash, len(written))
	for i := range written {
		hashes[i] = written[i].Hash
	}
	return hashes, err
}
