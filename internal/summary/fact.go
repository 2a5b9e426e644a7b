package summary

import (
	_ "embed" // for the words
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/ranking"
)

//go:embed words.txt
var wordLines string

// Kinds of words, as words.txt has them.
const (
	timeWords     = "times"
	numberWords   = "numbers"
	vagueWords    = "vague" // numbers and times, too
	negationWords = "negations"
)

// kinds tells the kind of each word of words.txt, without accents.
var kinds = readKinds(wordLines)

func readKinds(lines string) map[string]string {
	kinds := map[string]string{}
	for line := range strings.Lines(lines) {
		if kind, words, ok := strings.Cut(line, ": "); ok && line[0] != '#' {
			for word := range strings.FieldsSeq(words) {
				kinds[ranking.Plain(word)] = kind
			}
		}
	}
	return kinds
}

// kindOf gives the kind of a word as it stands in a text.
func kindOf(word string) string {
	return kinds[ranking.Plain(strings.ReplaceAll(strings.ToLower(word), "’", "'"))]
}

// fact says what is kept of a text before anything else.
type fact int

const (
	noFact fact = iota
	name
	number // or a date
)

// longFact is the longest word, in bytes, that is kept whole for the digits in it: in a script without spaces, or in what
// only machines read, a word may be all of the text.
const longFact = 64

// bare takes the punctuation off a word's ends that is no part of it.
func bare(word string) string {
	word = strings.TrimRightFunc(word, func(r rune) bool { return !inWord(r) && !strings.ContainsRune("%°€$£¥+#", r) })
	return strings.TrimLeftFunc(word, func(r rune) bool { return !inWord(r) && !strings.ContainsRune("€$£¥#@+-−<>≤≥~", r) })
}

func inWord(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) }

// factOf tells whether a bare word is a name, also of what machines know, or a number. A word that begins a sentence is capital anyhow, and counts as a
// name only there where to keep too much does no harm.
func factOf(word string, first bool) fact {
	if strings.ContainsFunc(word, unicode.IsNumber) {
		return number
	}
	switch kindOf(word) {
	case timeWords, numberWords, vagueWords:
		return number
	case negationWords:
		return noFact
	}
	if capital(word, first) || strings.Contains(word, "://") || strings.ContainsAny(strings.Trim(word, "@._"), "@._") {
		return name
	}
	return noFact
}

// capital says whether a word is written as names are: with a capital, and not only since a sentence begins with it. "I"
// and what hangs on it is no name.
func capital(word string, first bool) bool {
	head, size := utf8.DecodeRuneInString(word)
	if strings.ContainsFunc(word[size:], unicode.IsUpper) {
		return true
	}
	if first || !unicode.IsUpper(head) && !unicode.IsTitle(head) {
		return false
	}
	return head != 'I' || len(word) > 1 && word[1] != '\'' && !strings.HasPrefix(word[1:], "’")
}
