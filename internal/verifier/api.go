package verifier

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// Limits of what a server may make a check take. The answers that an honest one gives are far below.
const (
	maxAnswer  = 1 << 20 // bytes of an answer: a page of sessions has some 50 kB
	maxEvent   = 4 << 20 // bytes of one event of a stream, which may have 1,000 breaks
	maxMessage = 1000    // runes of an error that are repeated
	maxCursor  = 256     // bytes
	pageLength = 200     // sessions, of each page but the last
)

// api asks a server's API. What it says is what the server says.
type api struct {
	url   string // of the server, without a slash at the end
	token string
	http  *http.Client

	patience time.Duration
}

// ownBreak is a break as the API has it.
type ownBreak struct {
	Session     chain.Hash
	Sequence    *int64
	MessageHash *chain.Hash
	Reason      chain.BreakReason
	Detail      string
}

// answer is what comes back, or one event of a stream.
type answer struct {
	Data   json.RawMessage
	Errors []struct{ Message string }
}

func (a *answer) into(data any) error {
	if len(a.Errors) > 0 {
		return fault.New(fault.Unavailable, "the server says: %.*s", maxMessage, a.Errors[0].Message)
	}
	if err := json.Unmarshal(a.Data, data); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the server's answer cannot be read")
	}
	return nil
}

// awaited is an answer's body that ends the request when nothing of it comes for too long, or when it is closed.
type awaited struct {
	io.ReadCloser
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelFunc
}

// Read reads what there is, and gives the server as long again for the rest.
func (a *awaited) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 {
		a.timer.Reset(a.limit)
	}
	return n, err
}

// Close ends the request.
func (a *awaited) Close() error {
	a.timer.Stop()
	a.cancel()
	return a.ReadCloser.Close()
}

// post sends a query, and gives the answer's body, of which something must come again and again.
func (a *api) post(ctx context.Context, accept, query string, variables any) (io.ReadCloser, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(a.patience, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, fault.Input("--server", "%q is no address of a server", a.url)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	request.Header.Set("Authorization", "Bearer "+a.token)
	response, err := a.http.Do(request)
	if err != nil {
		cancel()
		return nil, fault.Wrap(err, fault.Unavailable, "%s cannot be reached", a.url)
	}
	answer := &awaited{response.Body, timer, a.patience, cancel}
	if response.StatusCode != http.StatusOK {
		defer answer.Close()
		return nil, fault.New(fault.Unavailable, "%s answers %d: is the token right?", a.url+"/graphql", response.StatusCode)
	}
	return answer, nil
}

// ask gives the one answer to a query, all of which must come in time.
func (a *api) ask(ctx context.Context, query string, variables, data any) error {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	body, err := a.post(ctx, "application/json", query, variables)
	if err != nil {
		return err
	}
	defer body.Close()
	var got answer
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&got); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the server's answer cannot be read")
	}
	return got.into(data)
}

// verifyTries is how often a check is asked for whose connection breaks, as connections through proxies do.
const verifyTries = 3

// verify lets the server check its log, and gives how many messages it checked and what it found.
func (a *api) verify(ctx context.Context, progress func(done, total int64)) (checked int64, found []ownBreak, err error) {
	for try := 1; ; try++ {
		checked, found, err = a.verifyOnce(ctx, progress)
		if try == verifyTries || !errors.Is(err, io.ErrUnexpectedEOF) {
			return checked, found, err
		}
	}
}

func (a *api) verifyOnce(ctx context.Context, progress func(done, total int64)) (checked int64, found []ownBreak, err error) {
	const query = `subscription { verificationProgress { checked total done breaks { session sequence messageHash reason detail } } }`
	body, err := a.post(ctx, "text/event-stream", query, nil)
	if err != nil {
		return 0, nil, err
	}
	defer body.Close()
	events := bufio.NewScanner(body)
	events.Buffer(nil, maxEvent)
	for events.Scan() {
		text, ok := strings.CutPrefix(events.Text(), "data: ")
		if !ok {
			continue
		}
		var event answer
		var data struct {
			VerificationProgress struct {
				Checked, Total int64
				Done           bool
				Breaks         []ownBreak
			}
		}
		if err := json.Unmarshal([]byte(text), &event); err != nil {
			return 0, nil, fault.Wrap(err, fault.Unavailable, "the server's answer cannot be read")
		}
		if err := event.into(&data); err != nil {
			return 0, nil, err
		}
		p := data.VerificationProgress
		if len(p.Breaks) > MaxBreaks {
			return 0, nil, fault.New(fault.Unavailable, "the server lists %d breaks, and at most %d are listed", len(p.Breaks), MaxBreaks)
		}
		progress(p.Checked, p.Total)
		if p.Done {
			return p.Checked, p.Breaks, nil
		}
	}
	if err := events.Err(); err != nil {
		return 0, nil, fault.Wrap(err, fault.Unavailable, "the server's check was broken off")
	}
	return 0, nil, fault.New(fault.Unavailable, "the server's check ended before it was done")
}

// head is a session as the API has it.
type head struct {
	Hash   chain.Hash
	Length int64
	Head   chain.Hash
}

// sessions calls f with each page of sessions, of which some may come twice, until it gives false. No cursor comes
// twice, all pages but the last are full, and no session is empty.
func (a *api) sessions(ctx context.Context, f func([]head) (bool, error)) error {
	const query = `query($first: Int, $after: String) { sessions(first: $first, after: $after) {
		edges { node { hash length head } } pageInfo { hasNextPage endCursor } } }`
	known := map[string]bool{}
	for after := (*string)(nil); ; {
		var data struct {
			Sessions struct {
				Edges    []struct{ Node head }
				PageInfo struct {
					HasNextPage bool
					EndCursor   *string
				}
			}
		}
		if err := a.ask(ctx, query, map[string]any{"first": pageLength, "after": after}, &data); err != nil {
			return err
		}
		page := make([]head, len(data.Sessions.Edges))
		for i, e := range data.Sessions.Edges {
			if page[i] = e.Node; e.Node.Length < 1 {
				return fault.New(fault.Unavailable, "the server lists session %s with a length of %d", e.Node.Hash, e.Node.Length)
			}
		}
		info := data.Sessions.PageInfo
		after = info.EndCursor
		switch more, err := f(page); {
		case err != nil || !more || !info.HasNextPage:
			return err
		case len(page) != pageLength || after == nil || len(*after) > maxCursor || known[*after]:
			return fault.New(fault.Unavailable, "the server's list of sessions does not go on")
		}
		known[*after] = true
	}
}

// session gives one session; nil if the server says that there is none.
func (a *api) session(ctx context.Context, hash chain.Hash) (*head, error) {
	var data struct{ Session *head }
	err := a.ask(ctx, `query($hash: Hash!) { session(hash: $hash) { hash length head } }`, map[string]any{"hash": hash}, &data)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", hash, err)
	}
	return data.Session, nil
}
