package witness

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/seal"
)

// maxRequest is how long a request to add a checkpoint may be: an old size, a proof and a checkpoint.
const maxRequest = seal.MaxNote + (seal.MaxProofHashes+2)*64

// Handler serves the witness: POST /add-checkpoint, as C2SP's tlog-witness says, and for whoever watches a log,
// GET /checkpoint/<SHA-256 of its origin, in hexadecimal digits>, the last checkpoint cosigned, and GET /witness.pub,
// the witness's key.
func (w *Witness) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", w.serveAdd)
	mux.HandleFunc("GET /checkpoint/{origin}", w.serveLatest)
	mux.HandleFunc("GET /witness.pub", func(out http.ResponseWriter, _ *http.Request) {
		say(out, http.StatusOK, w.vkey+"\n")
	})
	return mux
}

func (w *Witness) serveAdd(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxRequest))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		say(out, http.StatusRequestEntityTooLarge, fmt.Sprintf("a request has at most %d bytes\n", maxRequest))
		return
	}
	if err != nil {
		return // the client has gone
	}
	old, proof, checkpoint, err := parseRequest(string(body))
	if err != nil {
		say(out, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	line, refused := w.cosign(old, proof, checkpoint)
	switch {
	case refused == nil:
		say(out, http.StatusOK, line)
	case refused.verdict == otherSize:
		out.Header().Set("Content-Type", sizeType)
		say(out, http.StatusConflict, fmt.Sprintf("%d\n", refused.size))
	default:
		say(out, int(refused.verdict), refused.reason+"\n")
	}
}

func (w *Witness) serveLatest(out http.ResponseWriter, r *http.Request) {
	sum, err := chain.ParseHash(r.PathValue("origin"))
	if err != nil {
		say(out, http.StatusNotFound, "a log is named by the SHA-256 of its origin, in hexadecimal digits\n")
		return
	}
	text, ok := w.latest(sum)
	if !ok {
		say(out, http.StatusNotFound, "no checkpoint of that log was cosigned\n")
		return
	}
	say(out, http.StatusOK, text)
}

func say(out http.ResponseWriter, status int, text string) {
	h := out.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	out.WriteHeader(status)
	_, _ = io.WriteString(out, text)
}
