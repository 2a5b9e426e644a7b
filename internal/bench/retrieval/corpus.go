package retrieval

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
)

// What the log of a run is like, by messages: a thread has some fifty, a player some five hundred, and one of the players
// takes part in a tenth of all.
const (
	threadMessages = 50
	playerMessages = 500
	busyShare      = 10  // one thread in so many is the busy player's
	openThreads    = 200 // that go on side by side
	vocabularySize = 60_000
	zipfExponent   = 1.07 // of how often words occur, by rank
	topicWords     = 12   // that a thread keeps coming back to
	topicShare     = 0.2  // of its words
)

// corpus makes up a log. Two of the same size make the same. Not safe for concurrent use.
type corpus struct {
	words   []string
	zipf    *rand.Zipf
	random  *rand.Rand
	players int
	threads []int // numbers of those that are open
	begun   int   // threads so far
	left    map[int]int
}

func newCorpus(messages int) *corpus {
	random := rand.New(rand.NewPCG(20, 26))
	c := &corpus{
		words: vocabulary(random), random: random, players: max(20, messages/playerMessages), left: map[int]int{},
		zipf: rand.NewZipf(random, zipfExponent, 4, vocabularySize-1),
	}
	return c
}

// vocabulary makes words up out of syllables, the shorter ones first, as in a language.
func vocabulary(random *rand.Rand) []string {
	onsets, vowels := strings.Fields("b c d f g l m n p r s t v br cr dr gr pl pr st tr"), strings.Fields("a e i o u")
	codas := append(strings.Fields("l m n r s"), "", "", "", "")
	seen, words := map[string]bool{}, make([]string, 0, vocabularySize)
	for len(words) < vocabularySize {
		syllables := 1 + len(words)/(vocabularySize/4)
		var b strings.Builder
		for range syllables + random.IntN(2) {
			b.WriteString(onsets[random.IntN(len(onsets))])
			b.WriteString(vowels[random.IntN(len(vowels))])
			b.WriteString(codas[random.IntN(len(codas))])
		}
		if word := b.String(); !seen[word] {
			seen[word], words = true, append(words, word)
		}
	}
	return words
}

func named(kind string, n int) chain.Hash {
	return chain.Sum(fmt.Appendf(nil, "retrieval %s %d", kind, n))
}

// busy is the player of a tenth of the log.
func busy() chain.Hash { return named("player", 0) }

func thread(n int) chain.Hash { return named("thread", n) }

// sides gives the two players of a thread.
func (c *corpus) sides(n int) (a, b chain.Hash) {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	a, b = named("player", 1+random.IntN(c.players-1)), named("player", 1+random.IntN(c.players-1))
	if n%busyShare == 0 {
		a = busy()
	}
	return a, b
}

// topic gives the words that a thread keeps coming back to: neither the commonest nor the rarest.
func (c *corpus) topic(n int) []string {
	random := rand.New(rand.NewPCG(uint64(n), 2))
	words := make([]string, topicWords)
	for i := range words {
		words[i] = c.words[500+random.IntN(20_000)]
	}
	return words
}

// draft makes the next message.
func (c *corpus) draft() chain.Draft {
	for len(c.threads) < openThreads {
		c.threads = append(c.threads, c.begun)
		c.left[c.begun] = threadMessages/2 + c.random.IntN(threadMessages)
		c.begun++
	}
	at := c.random.IntN(len(c.threads))
	n := c.threads[at]
	if c.left[n]--; c.left[n] == 0 {
		delete(c.left, n)
		c.threads[at] = c.threads[len(c.threads)-1]
		c.threads = c.threads[:len(c.threads)-1]
	}
	owner, other := c.sides(n)
	if c.random.IntN(2) == 0 {
		owner, other = other, owner
	}
	session, role := thread(n), "user"
	return chain.Draft{
		SessionHash: session, ThreadHash: &session, OwnerID: owner, PlayerIDs: []chain.Hash{other}, Role: &role,
		EventType: chain.EventMessage, Content: c.text(n),
	}
}

func (c *corpus) text(n int) string {
	topic := c.topic(n)
	var b strings.Builder
	for i := range 12 + c.random.IntN(30) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if c.random.Float64() < topicShare {
			b.WriteString(topic[c.random.IntN(len(topic))])
		} else {
			b.WriteString(c.words[c.zipf.Uint64()])
		}
	}
	return b.String()
}

// query asks for what a thread is about, among words that any message may have.
func (c *corpus) query(n int, random *rand.Rand) string {
	topic := c.topic(n)
	words := []string{topic[random.IntN(topicWords)], topic[random.IntN(topicWords)], topic[random.IntN(topicWords)]}
	for range 3 {
		words = append(words, c.words[random.IntN(200)])
	}
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, " ")
}
