package chaos

import (
	"context"
	"fmt"
)

// outsider is a player who is none of the crew, with an agent's token and a session of their own. The server shares places and
// room out by player: whoever is to be in the crew's way must not be one of its players, or the crew would be refused for
// what it has taken itself.
type outsider struct {
	*client
	journal        *journal
	owner, session string
	written        int
}

// outsider makes one, who has begun their session.
func (c *crew) outsider(ctx context.Context, name string) (*outsider, error) {
	o := &outsider{journal: c.journal, owner: hashOf("outsider " + name), session: hashOf("session of " + name)}
	secret, err := c.newToken(ctx, o.owner, nil)
	if err != nil {
		return nil, err
	}
	o.client = c.client.with(secret)
	return o, o.write(ctx, "begin")
}

// write appends to their session, and notes it. One at a time; what is not acknowledged at once is an error.
func (o *outsider) write(ctx context.Context, content string) error {
	content = fmt.Sprintf("outsider %.8s, message %d: %s", o.owner, o.written, content)
	hash, _, err := o.append(ctx, message{o.session, o.owner, content, hashOf(content)})
	if err != nil {
		return fmt.Errorf("an outsider writes: %w", err)
	}
	o.written++
	return o.journal.add(entry{hash, o.session, content})
}
