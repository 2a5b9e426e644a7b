package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
)

// vocabulary is what the messages of a run are made of: everyday words, of everyday lengths.
var vocabulary = strings.Fields(`the a to of and in is it on for with that was at by from this have not are but you all can
	room view sea booking night price agreed phone manager asked deposit friday bank transfer two days more planned please confirm
	late arrival breakfast included guests invoice address station train platform delayed ticket refund contract signed copy
	delivery warehouse pallet driver morning window customer complaint answered twice waiting reply meeting moved tuesday notes
	attached summary decision budget approved quarter review team report server backup restored disk alert checked clear`)

// writer makes messages up. Two with the same seed make the same. Not safe for concurrent use.
type writer struct{ random *rand.Rand }

func newWriter(seed uint64) writer { return writer{rand.New(rand.NewPCG(seed, 0))} }

func (w writer) content() string {
	var b strings.Builder
	for i := range 12 + w.random.IntN(30) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[w.random.IntN(len(vocabulary))])
	}
	return b.String()
}

func named(kind string, n int) chain.Hash { return chain.Sum(fmt.Appendf(nil, "bench %s %d", kind, n)) }

// draft makes a message of one of so many sessions, which are threads as well: a sender, a receiver and a tag.
func (w writer) draft(sessions int) chain.Draft {
	n := w.random.IntN(sessions)
	session, role := named("session", n), "user"
	return chain.Draft{
		SessionHash: session, ThreadHash: &session, OwnerID: named("owner", n%50), PlayerIDs: []chain.Hash{named("player", n%7)},
		Role: &role, EventType: chain.EventMessage, Content: w.content(), Hashtags: []chain.Hash{named("tag", w.random.IntN(30))},
	}
}

const appendQuery = `mutation Append($messages: [MessageInput!]!) { appendMessages(messages: $messages) { hash } }`

// request gives the body of a GraphQL request that appends so many messages.
func (w writer) request(messages, sessions int) ([]byte, error) {
	list := make([]map[string]any, messages)
	for i := range list {
		d := w.draft(sessions)
		list[i] = map[string]any{
			"sessionHash": d.SessionHash, "threadHash": d.ThreadHash, "ownerId": d.OwnerID, "playerIds": d.PlayerIDs,
			"role": d.Role, "content": d.Content, "hashtags": d.Hashtags,
		}
	}
	return json.Marshal(map[string]any{"query": appendQuery, "variables": map[string]any{"messages": list}})
}
