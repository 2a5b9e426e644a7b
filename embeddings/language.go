package embeddings

import (
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"

	"github.com/tzzr/context-manager/internal/ranking"
)

// language is a set of languages whose stems are known.
type language uint32

const (
	inEnglish language = 1 << iota
	inSpanish
	inPortuguese
	inFrench
	inItalian
	inGerman
	inDutch
	inSwedish
	inNorwegian
	inDanish
	inFinnish
	inHungarian
	inRomanian
	inTurkish
	inIrish
	inRussian
	inArabic
	inTamil

	inLatinScript = inRussian - 1
)

// stems holds the stemmer of each language, by the number of its bit.
var stems = [...]func(*snowballstem.Env) bool{
	english.Stem, spanish.Stem, portuguese.Stem, french.Stem, italian.Stem, german.Stem, dutch.Stem, swedish.Stem,
	norwegian.Stem, danish.Stem, finnish.Stem, hungarian.Stem, romanian.Stem, turkish.Stem, irish.Stem, russian.Stem,
	arabic.Stem, tamil.Stem,
}

// What is divided among the languages that a word of a text speaks for.
const (
	functionShare = 10 * letterShare
	letterShare   = 720
)

// guess tells the languages that a text may be in, by its function words and, much less, by letters beyond ASCII: each
// counts for the languages that have it, the less the more these are. One language, if that has the most; several in a
// tie; none if nothing speaks for any.
func guess(words []string) language {
	var scores [len(stems)]int
	count := func(in language, share int) {
		for rest := in; rest != 0; rest &= rest - 1 {
			scores[bits.TrailingZeros32(uint32(rest))] += share / bits.OnesCount32(uint32(in))
		}
	}
	for _, word := range words {
		count(functionWord(word), functionShare)
		for i, r := range word {
			if r >= utf8.RuneSelf {
				count(nationalLetters[word[i:i+utf8.RuneLen(r)]], letterShare)
			}
		}
	}
	best, most := language(0), 1
	for i, score := range scores {
		if score > most {
			best, most = 0, score
		}
		if score == most {
			best |= 1 << i
		}
	}
	return best
}

// one picks the language that a text is taken to be in: English when in doubt.
func (l language) one() language {
	if l&inEnglish != 0 || l == 0 {
		return inEnglish
	}
	return l & -l
}

// of narrows the languages of a text to those that a word of it may be in, by the word's script: a word in another
// script is of that script's language, and of none where no language is known.
func (l language) of(word string) language {
	script := language(0)
	switch r, _ := utf8.DecodeRuneInString(word); {
	case r < utf8.RuneSelf || unicode.Is(unicode.Latin, r):
		script = inLatinScript
	case unicode.Is(unicode.Cyrillic, r):
		script = inRussian
	case unicode.Is(unicode.Arabic, r):
		script = inArabic
	case unicode.Is(unicode.Tamil, r):
		script = inTamil
	}
	switch {
	case l&script != 0:
		return l & script
	case script == inLatinScript:
		return inEnglish
	}
	return script
}

// longestWord is the longest, in bytes, that is taken for language rather than data, and stemmed.
const longestWord = 64

// stemmer finds the stems of words. It is not safe for concurrent use.
type stemmer struct{ env *snowballstem.Env }

func newStemmer() stemmer { return stemmer{snowballstem.NewEnv("")} }

// stem gives the stem of a word that ranking.Words gave, without accents. A function word is its own stem; an
// irregular English form has the stem of its base form. A word in another script than the language's is stemmed as
// its script tells.
func (s stemmer) stem(word string, in language) string {
	in = in.of(word)
	if in == 0 || len(word) < 3 || len(word) > longestWord || functionWord(word)&in != 0 {
		return ranking.Plain(word)
	}
	if in == inEnglish {
		if base := irregular(word); base != "" {
			word = base
		}
	}
	s.env.SetCurrent(word)
	stems[bits.TrailingZeros32(uint32(in))](s.env)
	return ranking.Plain(s.env.Current())
}

// all gives the stems of a word under every language of its script, without repetition, that of the given one first.
func (s stemmer) all(word string, in language) []string {
	stems := []string{s.stem(word, in)}
	if in.of(word)&inLatinScript == 0 {
		return stems
	}
	for other := inEnglish; other < inRussian; other <<= 1 {
		if stem := s.stem(word, other); !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	return stems
}
