package verifier

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/fault"
)

// maxAnswer is how long an answer of the API, or one event of a stream, may be.
const maxAnswer = 16 << 20

// api asks a server's API. What it says is what the server says.
type api struct {
	url   string // of the server, without a slash at the end
	token string
	http  *http.Client
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
		return fault.New(fault.Unavailable, "the server says: %s", a.Errors[0].Message)
	}
	if err := json.Unmarshal(a.Data, data); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the server's answer cannot be read")
	}
	return nil
}

// post sends a query, and gives the answer's body.
func (a *api) post(ctx context.Context, accept, query string, variables any) (io.ReadCloser, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return nil, fault.Input("--server", "%q is no address of a server", a.url)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	request.Header.Set("Authorization", "Bearer "+a.token)
	response, err := a.http.Do(request)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "%s cannot be reached", a.url)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, fault.New(fault.Unavailable, "%s answers %d: is the token right?", a.url+"/graphql", response.StatusCode)
	}
	return response.Body, nil
}

func (a *api) ask(ctx context.Context, query string, variables, data any) error {
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

// verify lets the server check its log, and gives how many messages it checked and what it found.
func (a *api) verify(ctx context.Context, progress func(done, total int64)) (checked int64, found []ownBreak, err error) {
	const query = `subscription { verificationProgress { checked total done breaks { session sequence messageHash reason detail } } }`
	body, err := a.post(ctx, "text/event-stream", query, nil)
	if err != nil {
		return 0, nil, err
	}
	defer body.Close()
	events := bufio.NewScanner(body)
	events.Buffer(nil, maxAnswer)
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

// sessions calls f with every session, some perhaps twice.
func (a *api) sessions(ctx context.Context, f func(head)) error {
	const query = `query($after: String) { sessions(first: 200, after: $after) {
		edges { node { hash length head } } pageInfo { hasNextPage endCursor } } }`
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
		if err := a.ask(ctx, query, map[string]any{"after": after}, &data); err != nil {
			return err
		}
		for _, e := range data.Sessions.Edges {
			f(e.Node)
		}
		page := data.Sessions.PageInfo
		if !page.HasNextPage {
			return nil
		}
		if after = page.EndCursor; after == nil || len(data.Sessions.Edges) == 0 {
			return fault.New(fault.Unavailable, "the server's list of sessions does not go on")
		}
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
