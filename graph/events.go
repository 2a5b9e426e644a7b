package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
	maxEventsBody   = MaxAppendBody
	maxSignedBody   = 1 << 20
	mostEventBodies = 128 << 20       // of all together that are being received or worked on
	maxEventValues  = 100_000         // of JSON, names included
	signatureLasts  = 5 * time.Minute // either way
)

// NewEvents serves POST /hooks/events: one event or a list, with a token that has the scope events:ingest, or signed with the
// secret of its source. All of a list are appended, or none. The caller stands in the request's context. Places bounds how
// many are at work at once; nil does not.
func NewEvents(store *db.DB, secrets map[string]string, places *overload.Gate, cfg Config) http.Handler {
	return &hooks{store: store, secrets: secrets, places: places, bodies: overload.NewRoom(mostEventBodies), present: presenter{log: cfg.Log}, now: store.Now}
}

type hooks struct {
	store   *db.DB
	secrets map[string]string // by source
	places  *overload.Gate
	bodies  *overload.Room // of what is being received or worked on
	present presenter
	now     func() time.Time
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	hashes, err := h.take(w, r)
	switch {
	case errors.Is(err, overload.ErrFull):
		writeFull(w, r, err)
		return
	case err != nil:
		h.present.refuse(w, r, eventsStatus(err), err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string][]chain.Hash{"hashes": hashes})
}

func eventsStatus(err error) int {
	if fault.CodeOf(err) == fault.Conflict {
		return http.StatusConflict
	}
	return exportStatus(err)
}

// sending is what somebody has sent.
type sending struct {
	by     *chain.Hash // the token's player; nil if it is signed
	source string      // whose secret has signed it
	key    string      // of the call, if it has one
	body   []byte
}

// take reads who sends what, then waits for a place in their name: nobody holds one who has not said all.
func (h *hooks) take(w http.ResponseWriter, r *http.Request) ([]chain.Hash, error) {
	if _, err := checkHeader(r); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), operationLimit)
	defer cancel()
	in := &intake{all: h.bodies}
	defer in.release()
	d, err := h.identify(w, r, in)
	if err != nil {
		return nil, err
	}
	leave, err := h.places.Enter(ctx, in.who)
	if err != nil {
		return nil, err
	}
	defer leave()
	values := scanner{text: d.body, most: maxEventValues, left: maxEventValues, deepest: bodyNesting}
	if values.space(); values.at < len(d.body) {
		if err := values.value(); err != nil && !errors.Is(err, errCut) {
			return nil, err
		}
	}
	events, err := ingest.ReadEvents(d.body)
	if err != nil {
		return nil, err
	}
	for i := range events {
		if d.source != "" && events[i].Source != d.source {
			return nil, forbidden(fmt.Sprintf("events[%d].source", i), "is not %s, whose secret has signed this", d.source)
		}
	}
	return h.append(ctx, events, d)
}

// identify reads the body of those who have a token, or may have signed it.
func (h *hooks) identify(w http.ResponseWriter, r *http.Request, in *intake) (d sending, err error) {
	limit := maxEventsBody
	caller, err := auth.From(r.Context())
	signed := r.Header.Get("X-Signature-256")
	switch {
	case err == nil:
		if err := needScopes(caller, auth.EventsIngest); err != nil {
			return d, err
		}
		d.by, d.key, in.who = &caller.Player, r.Header.Get("Idempotency-Key"), whoAsks(r.Context())
	case signed == "" || r.Header.Get("Authorization") != "":
		return d, err
	default:
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		limit, in.who = maxSignedBody, "from "+host
	}
	in.from = http.MaxBytesReader(w, r.Body, int64(limit))
	if err := in.read(bodyLimit(r.ContentLength, limit)); errors.Is(err, overload.ErrFull) {
		return d, err
	} else if err != nil {
		return d, fault.Wrap(err, fault.BadUserInput, "the body has more than %d bytes, or ended too early", limit)
	}
	if d.body = in.body; d.by == nil {
		var mac []byte
		if d.source, mac, err = h.signer(signed, r.Header.Get("X-Signature-Timestamp"), d.body); err == nil {
			d.key = hex.EncodeToString(mac) // who sends again what was heard changes nothing
		}
	}
	return d, err
}

// signer gives the source whose secret has signed a body: HMAC-SHA-256 over the time stamp, a point and the body.
func (h *hooks) signer(signature, stamp string, body []byte) (source string, mac []byte, err error) {
	refused := fault.New(fault.Unauthenticated, "the signature is that of no source: X-Signature-256 is `sha256=` and the HMAC-SHA-256, in hexadecimal, of X-Signature-Timestamp, a point and the body")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return "", nil, fault.New(fault.Unauthenticated, "X-Signature-Timestamp is not the time of the signature in seconds since 1970")
	}
	if off := h.now().Sub(time.Unix(seconds, 0)); off > signatureLasts || off < -signatureLasts {
		return "", nil, fault.New(fault.Unauthenticated, "the signature is of another time: more than %v away", signatureLasts)
	}
	text, ok := strings.CutPrefix(signature, "sha256=")
	sent, err := hex.DecodeString(text)
	if !ok || err != nil || len(sent) != sha256.Size {
		return "", nil, refused
	}
	for name, secret := range h.secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = io.WriteString(mac, stamp+".")
		_, _ = mac.Write(body)
		if hmac.Equal(mac.Sum(nil), sent) {
			source = name
		}
	}
	if source == "" {
		return "", nil, refused
	}
	return source, sent, nil
}

// append makes sure of what events name, and appends them. What cannot be appended is refused before anything is named.
func (h *hooks) append(ctx context.Context, events []ingest.Event, d sending) ([]chain.Hash, error) {
	if checked, err := ingest.Drafts(events, nil, d.by, d.key); err != nil {
		return nil, err
	} else if err := h.store.CheckDelivery(checked); err != nil {
		return nil, err
	}
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
	drafts, err := ingest.Drafts(events, named, d.by, d.key)
	if err != nil {
		return nil, err
	}
	written, err := h.store.Deliver(ctx, drafts)
	err = ingest.OfEvents(err)
	hashes := make([]chain.Hash, len(written))
	for i := range written {
		hashes[i] = written[i].Hash
	}
	return hashes, err
}

// eventNames refuses what no event can have been told under.
func eventNames(agent, userID string, threadID *string) error {
	for _, n := range []struct {
		field string
		text  *string
	}{{"agent", &agent}, {"userId", &userID}, {"threadId", threadID}} {
		if n.text != nil && *n.text == "" {
			return fault.Input(n.field, "is empty")
		}
		if err := chain.CheckText(n.field, n.text, ingest.MaxEventNameBytes); err != nil {
			return err
		}
	}
	return nil
}

// given is an argument, or what it is by default: null may be stated.
func given(argument *int, otherwise int) int {
	if argument == nil {
		return otherwise
	}
	return *argument
}
