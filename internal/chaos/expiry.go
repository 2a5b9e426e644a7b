package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tzzr/context-manager/internal/auth"
)

// tokenCache is how long a server may believe what it knows of a token.
const tokenCache = 2 * time.Second

// newToken makes an agent's token of a player, and notes in the journal what the log says of that. One at a time; none of the
// players has two.
func (c *crew) newToken(ctx context.Context, player string, ends *time.Time) (secret string, err error) {
	secret, _, err = c.makeToken(ctx, player, ends)
	return secret, err
}

// makeToken is newToken that gives the token's id as well.
func (c *crew) makeToken(ctx context.Context, player string, ends *time.Time) (secret, id string, err error) {
	input := map[string]any{"kind": "AGENT", "player": player}
	if ends != nil {
		input["expiresAt"] = ends.Format(time.RFC3339Nano)
	}
	var data struct {
		CreateToken struct {
			Secret string `json:"secret"`
			Token  struct {
				ID string `json:"id"`
			} `json:"token"`
		} `json:"createToken"`
		Session struct {
			Messages struct {
				Edges []struct {
					Node struct {
						Hash    string `json:"hash"`
						Content string `json:"content"`
					} `json:"node"`
				} `json:"edges"`
			} `json:"messages"`
		} `json:"session"`
	}
	if err := c.client.ask(ctx, "mutation($i: TokenInput!) { createToken(input: $i) { secret token { id } } }", map[string]any{"i": input}, &data); err != nil {
		return "", "", fmt.Errorf("createToken: %w", err)
	}
	audit := hashOf("audit:" + auth.Administrator().Player.String())
	if err := c.client.ask(ctx, "query($s: Hash!) { session(hash: $s) { messages(last: 1) { edges { node { hash content } } } } }",
		map[string]any{"s": audit}, &data); err != nil {
		return "", "", fmt.Errorf("the administrator's audit session: %w", err)
	}
	edges := data.Session.Messages.Edges
	if len(edges) != 1 || !strings.Contains(edges[0].Node.Content, player) {
		return "", "", fmt.Errorf("a token was made for the player %s, and the audit session ends with %+v", player, edges)
	}
	return data.CreateToken.Secret, data.CreateToken.Token.ID, c.journal.add(entry{edges[0].Node.Hash, audit, edges[0].Node.Content})
}

// token makes an agent's token that ends so long from now, by Postgres' clock.
func (s *scene) token(ctx context.Context, c *cluster, player string, life time.Duration) (secret string, ends time.Time, err error) {
	now, err := c.clock(ctx)
	if err != nil {
		return "", ends, err
	}
	ends = now.Add(life)
	secret, err = s.crew.newToken(ctx, hashOf(player), &ends)
	return secret, ends, err
}

// opens tells what the server answers to a token: "ok", or an error's code.
func (s *scene) opens(ctx context.Context, secret string) string {
	client := s.server.client(1)
	defer client.http.CloseIdleConnections()
	client.token = secret
	code, _ := outcome(client.ask(ctx, "query($s: Hash!) { session(hash: $s) { hash } }", map[string]any{"s": s.crew.load.session(0)}, nil))
	return code
}

// expires looks whether tokens end by Postgres' clock, while the server's is so many hours off.
func (s *scene) expires(ctx context.Context, c *cluster, d dial) error {
	for _, hours := range []int{1, -1, 0} {
		if err := d.set(hours * 3600); err != nil {
			return err
		}
		if hours == 0 {
			return nil
		}
		if _, err := until(ctx, startLimit, "the clock is moved", func() bool {
			at, err := s.server.clock()
			return err == nil && at.Sub(time.Now().Add(time.Duration(hours)*time.Hour)).Abs() < 10*time.Minute
		}); err != nil {
			return err
		}
		secret, ends, err := s.token(ctx, c, fmt.Sprintf("agent of %+d h", hours), 3*time.Second)
		if err != nil {
			return err
		}
		at := s.opens(ctx, secret)
		before, err := c.clock(ctx)
		if err != nil {
			return err
		}
		if err := pause(ctx, time.Until(time.Now().Add(ends.Sub(before)))+tokenCache+time.Second); err != nil {
			return err
		}
		after := s.opens(ctx, secret)
		s.found(fmt.Sprintf("the server's clock %+d h, a token of 3 s", hours), 1, "it ends by Postgres' clock",
			fmt.Sprintf("at first %s, %s later %s", at, 3*time.Second+tokenCache+time.Second, after),
			at == answered && before.Before(ends) && after == "UNAUTHENTICATED", nil)
	}
	return nil
}

// overtaken looks whether a token has ended once Postgres' clock is past its end.
func (s *scene) overtaken(ctx context.Context, c *cluster, d dial) error {
	secret, _, err := s.token(ctx, c, "agent who is overtaken", 30*time.Minute)
	if err != nil {
		return err
	}
	at := s.opens(ctx, secret)
	if err := d.set(3600); err != nil {
		return err
	}
	if err := pause(ctx, tokenCache+time.Second); err != nil {
		return err
	}
	after := s.opens(ctx, secret)
	s.found("Postgres' clock +1 h, a token of half an hour", 1, "it has ended", fmt.Sprintf("before %s, then %s", at, after),
		at == answered && after == "UNAUTHENTICATED", nil)
	return d.set(0)
}
