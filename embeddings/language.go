package embeddings

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/spanish"

	"github.com/tzzr/context-manager/internal/ranking"
)

// language is a set of languages whose function words and stems are known.
type language uint8

const (
	inEnglish language = 1 << iota
	inSpanish
)

// guess tells the one language of a text by its function words, of which those of a single language count; English
// when in doubt.
func guess(words []string) language {
	lead := 0
	for _, word := range words {
		switch functionWord(word) {
		case inSpanish:
			lead++
		case inEnglish:
			lead--
		}
	}
	if lead > 0 {
		return inSpanish
	}
	return inEnglish
}

// longestWord is the longest, in bytes, that is taken for language rather than data, and stemmed.
const longestWord = 64

// stemmer finds the stems of words. It is not safe for concurrent use.
type stemmer struct{ env *snowballstem.Env }

func newStemmer() stemmer { return stemmer{snowballstem.NewEnv("")} }

// stem gives the stem of a word that ranking.Words gave, without accents. A function word is its own stem; an
// irregular form has the stem of its base form.
func (s stemmer) stem(word string, in language) string {
	if len(word) < 3 || len(word) > longestWord || functionWord(word)&in != 0 {
		return ranking.Plain(word)
	}
	switch in {
	case inSpanish:
		s.env.SetCurrent(word)
		spanish.Stem(s.env)
	default:
		if base := irregular(word); base != "" {
			word = base
		}
		s.env.SetCurrent(word)
		english.Stem(s.env)
	}
	return ranking.Plain(s.env.Current())
}
