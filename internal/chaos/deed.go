package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tzzr/context-manager/internal/auth"
)

// What else the crew does, besides appending. What was acknowledged of it is in the journal, as a deed.
const (
	deedExchange   = "exchange"   // Session: the conversation's id, Content: what the user and the assistant said, a line each
	deedQuarantine = "quarantine" // Hash: of the message
	deedErasure    = "erasure"    // Hash: of the message
	deedRevocation = "revocation" // Hash: the token's id
)

// deedsEvery is how many times as long as a writer's the pause between two deeds is: most of the load are appends.
const deedsEvery = 10

// spareTokens are made before anything fails: of one whose answer was lost, nobody knew the id.
const spareTokens = 25

// doer does deeds, one after the other, with the administrator's token.
type doer struct {
	*crew
	conversation string
	events       *sender
	tokens       []string // ids, to be revoked
}

// deedSession is where the messages are that the doer quarantines and erases.
var deedSession = hashOf("session of deeds")

// doer begins what deeds need.
func (c *crew) doer(ctx context.Context, tokens int) (*doer, error) {
	d := &doer{crew: c, events: &sender{number: 1, client: c.client}}
	var data struct {
		StartConversation struct {
			ID string `json:"id"`
		} `json:"startConversation"`
	}
	if err := c.client.ask(ctx, `mutation { startConversation(role: CLIENT, userId: "doer") { id } }`, nil, &data); err != nil {
		return nil, fmt.Errorf("startConversation: %w", err)
	}
	d.conversation = data.StartConversation.ID
	for n := range tokens {
		_, id, err := c.makeToken(ctx, hashOf(fmt.Sprint("spare ", n)), nil)
		if err != nil {
			return nil, err
		}
		d.tokens = append(d.tokens, id)
	}
	return d, c.begin(ctx, deedSession, "begin of deeds")
}

// work does one deed after the other.
func (d *doer) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		do := []func(context.Context, int) error{d.exchange, d.event, d.quarantine, d.erase, d.revoke}[n%5]
		d.gate.RLock()
		err := do(ctx, n)
		d.gate.RUnlock()
		if err != nil && !errors.Is(err, errGivenUp) {
			return
		}
		if pause(ctx, max(deedsEvery*d.load.think, retryEvery)) != nil {
			return
		}
	}
}

var errGivenUp = errors.New("given up, which the next check tells")

// insist repeats what is safe to repeat until it is acknowledged, and then notes it. As a writer does, it gives up what is refused
// for good.
func (d *doer) insist(ctx context.Context, what string, try func(ctx context.Context) ([]deed, error)) error {
	first := time.Now()
	var refused time.Time
	for {
		began := time.Now()
		asking, cancel := context.WithTimeout(ctx, patience)
		done, err := try(asking)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if err := d.journal.note(done...); err != nil {
				d.acknowledged(deedSession, 0, err)
				return err
			}
			return nil
		}
		code, text := outcome(err)
		if passing(code) {
			refused = time.Time{}
		} else if refused.IsZero() {
			refused = began
		}
		if !refused.IsZero() && time.Since(refused) >= d.lasting || time.Since(first) >= longest {
			d.giveUp("%s was not acknowledged in %s: %s %s", what, short(time.Since(first)), code, text)
			return errGivenUp
		}
		if err := pause(ctx, retryEvery); err != nil {
			return err
		}
	}
}

const exchangeQuery = `mutation($c: String!, $u: String!, $a: String!, $s: JSON, $k: String) {
	recordExchange(conversation: $c, user: $u, assistant: $a, state: $s, idempotencyKey: $k) { history { content message { hash session { hash } } } } }`

// exchange records what two have said, and confirms a number with it.
func (d *doer) exchange(ctx context.Context, n int) error {
	said := []string{fmt.Sprintf("exchange %d, the user", n), fmt.Sprintf("exchange %d, the assistant", n)}
	return d.insist(ctx, said[0], func(ctx context.Context) ([]deed, error) {
		var data struct {
			RecordExchange struct {
				History []struct {
					Content string `json:"content"`
					Message struct {
						Hash    string `json:"hash"`
						Session struct {
							Hash string `json:"hash"`
						} `json:"session"`
					} `json:"message"`
				} `json:"history"`
			} `json:"recordExchange"`
		}
		if err := d.client.ask(ctx, exchangeQuery, map[string]any{
			"c": d.conversation, "u": said[0], "a": said[1], "s": map[string]any{"last": fmt.Sprint(n)}, "k": fmt.Sprint(n),
		}, &data); err != nil {
			return nil, err
		}
		turns := data.RecordExchange.History
		if len(turns) < 2 {
			return nil, fmt.Errorf("an exchange was recorded, and the history has %d turns", len(turns))
		}
		done := []deed{{Kind: deedExchange, Session: d.conversation, Content: strings.Join(said, "\n"), Hash: fmt.Sprint(n)}}
		for i, turn := range turns[len(turns)-2:] {
			if turn.Content != said[i] {
				return nil, fmt.Errorf("%q was recorded, and the history ends with %q", said[i], turn.Content)
			}
			done = append(done, deed{Hash: turn.Message.Hash, Session: turn.Message.Session.Hash, Content: turn.Content})
		}
		return done, nil
	})
}

// event delivers one.
func (d *doer) event(ctx context.Context, n int) error {
	e := event{Source: eventSource, Agent: "agent", User: "doer", Channel: "webchat", Thread: "deeds", Type: "message", Role: "user",
		Content: fmt.Sprintf("event %d", n), Payload: map[string]string{"backend_message_id": fmt.Sprintf("deed-%d", n)}}
	body, err := json.Marshal([]event{e})
	if err != nil {
		return err
	}
	return d.insist(ctx, e.Content, func(ctx context.Context) ([]deed, error) {
		hashes, status, err := d.events.try(ctx, body, fmt.Sprint("deed ", n))
		switch {
		case err != nil:
			return nil, err
		case status != http.StatusOK || len(hashes) != 1:
			return nil, &refusal{fmt.Sprint(status), fmt.Sprintf("%d hashes", len(hashes))}
		}
		return []deed{{Hash: hashes[0], Session: e.session(), Content: e.Content}}, nil
	})
}

// said appends a message, and does something with it.
func (d *doer) said(ctx context.Context, kind string, n int, do string) error {
	content := fmt.Sprintf("for %s %d", kind, n)
	var hash string
	if err := d.insist(ctx, content, func(ctx context.Context) (done []deed, err error) {
		m := message{deedSession, auth.Administrator().Player.String(), content, "deed-" + fmt.Sprint(n)}
		hash, _, err = d.client.append(ctx, m)
		return []deed{{Hash: hash, Session: m.Session, Content: m.Content}}, err
	}); err != nil {
		return err
	}
	return d.insist(ctx, kind, func(ctx context.Context) ([]deed, error) {
		err := d.client.ask(ctx, do, map[string]any{"h": hash}, nil)
		if _, text := outcome(err); strings.Contains(text, "was erased before") {
			err = nil // by a try whose answer was lost
		}
		return []deed{{Kind: kind, Hash: hash}}, err
	})
}

func (d *doer) quarantine(ctx context.Context, n int) error {
	return d.said(ctx, deedQuarantine, n, `mutation($h: Hash!) { quarantine(message: $h, reason: "chaos") { reason } }`)
}

func (d *doer) erase(ctx context.Context, n int) error {
	return d.said(ctx, deedErasure, n, `mutation($h: Hash!) { eraseMessage(hash: $h, reason: "chaos") { hash } }`)
}

// revoke revokes the next token, if there is one left.
func (d *doer) revoke(ctx context.Context, _ int) error {
	if len(d.tokens) == 0 {
		return nil
	}
	id := d.tokens[0]
	d.tokens = d.tokens[1:]
	return d.insist(ctx, deedRevocation, func(ctx context.Context) ([]deed, error) {
		err := d.client.ask(ctx, `mutation($i: ID!) { revokeToken(id: $i) { id } }`, map[string]any{"i": id}, nil)
		return []deed{{Kind: deedRevocation, Hash: id}}, err
	})
}
