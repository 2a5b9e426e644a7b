package embeddings

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/spanish"

	"github.com/tzzr/context-manager/internal/ranking"
)

// language is one whose words are stemmed.
type language int

const (
	inEnglish language = iota
	inSpanish
)

// guess tells the language of a text by its function words; English when in doubt.
func guess(words []string) language {
	spanishWords, englishWords := 0, 0
	for _, word := range words {
		switch functionWord(word) {
		case inSpanish:
			spanishWords++
		case inEnglish:
			englishWords++
		}
	}
	if spanishWords > englishWords {
		return inSpanish
	}
	return inEnglish
}

const noLanguage language = -1

// functionWord gives the language that a word is a sign of, or noLanguage. Words of both languages ("me", "no",
// "a", "he") are signs of neither.
func functionWord(word string) language {
	if len(word) > 6 {
		return noLanguage
	}
	switch word {
	case "the", "and", "of", "to", "in", "is", "it", "you", "that", "was", "for", "on", "are", "with", "as", "his",
		"they", "at", "be", "this", "have", "from", "or", "had", "by", "but", "what", "were", "we", "when",
		"your", "can", "an", "which", "their", "if", "do", "will", "how", "about", "then", "them", "would",
		"these", "her", "him", "has", "did", "my", "who", "not", "does", "where", "why", "she", "our", "i":
		return inEnglish
	case "el", "la", "los", "las", "de", "que", "y", "en", "un", "una", "unos", "unas", "es", "se", "lo", "por",
		"con", "para", "su", "sus", "del", "al", "como", "más", "pero", "le", "ya", "fue", "este", "esta", "sí",
		"porque", "muy", "qué", "cuándo", "dónde", "quién", "cómo", "cuál", "está", "son", "mi", "tu", "te", "nos",
		"hay", "yo", "ella", "él", "o", "sin", "sobre", "cuando", "donde", "quien", "también":
		return inSpanish
	}
	return noLanguage
}

// stem gives the stem of a word as Words gives it, without accents.
func stem(word string, language language) string {
	if len(word) > longestWord || len(word) < 3 {
		return ranking.Plain(word)
	}
	env := snowballstem.NewEnv(strings.Clone(word))
	if language == inSpanish {
		spanish.Stem(env)
	} else {
		english.Stem(env)
	}
	return ranking.Plain(env.Current())
}
