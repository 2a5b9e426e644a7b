package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/window"
)

const (
	// unitBytes is the longest unit. What has no sentences, such as a tool's output, is cut at white space, or anywhere.
	unitBytes = 400
	// tokenBytes is about how many bytes a token has.
	tokenBytes = 4
	// sentenceBudget is the share of the budget that a long sentence may take before it is cut into clauses.
	sentenceBudget = 0.2
	// shortSentence is how long one may be in any case, unless it takes more than half of the budget.
	shortSentence = 80
	// maxUnits is about how many there are at most: what has more is cut into longer ones.
	maxUnits            = 20_000
	longestAbbreviation = 8 // in bytes
	// clauseWords is how many words each side of a cut has at least.
	clauseWords = 4
)

// unit is the smallest piece that is chosen or not: a sentence, or a clause of a long one.
type unit struct {
	part   int
	number int    // in its part, ascending
	text   string // white space made single
	joined bool   // no white space stood before it
	tokens int    // about: what it adds to a text
	vector Vector
}

// cut gives the units of all parts, in order, of a length that suits a budget, unless it is over.
func cut(parts []window.Part, budget int, over func() error) ([]unit, error) {
	room := budget * tokenBytes
	longest := min(max(int(sentenceBudget*float64(room)), min(shortSentence, room/2)), unitBytes)
	var units []unit
	for i, part := range parts {
		if err := over(); err != nil {
			return nil, err
		}
		for line := range strings.Lines(strings.ToValidUTF8(part.Content, "\uFFFD")) {
			for inLine := false; line != ""; {
				end := sentenceEnd(line)
				units = appendClauses(units, unit{part: i, joined: inLine}, line[:end], longest)
				line, inLine = line[end:], true
			}
		}
	}
	return merged(units), nil
}

// appendClauses adds a sentence that is like a unit, or its clauses if it is too long.
func appendClauses(units []unit, like unit, sentence string, longest int) []unit {
	for sentence != "" {
		end := len(sentence)
		if end > longest {
			end = clauseEnd(sentence[:min(end, unitBytes+1)])
		}
		if end > unitBytes {
			end = hardEnd(sentence)
		}
		if text := single(sentence[:end]); strings.ContainsFunc(text, tells) {
			first, _ := utf8.DecodeRuneInString(sentence)
			u := unit{part: like.part, text: text, joined: like.joined && !unicode.IsSpace(first)}
			if last := len(units) - 1; last >= 0 && units[last].part == u.part {
				u.number = units[last].number + 1
			}
			units = append(units, u)
		}
		sentence, like.joined = sentence[end:], true
	}
	return units
}

// tells says whether a character is more than punctuation.
func tells(r rune) bool { return inWord(r) || unicode.IsSymbol(r) && r >= utf8.RuneSelf }

// single makes white space single.
func single(text string) string { return strings.Join(strings.Fields(text), " ") }

// merged joins so many neighbours of a part to one that there are not too many.
func merged(units []unit) []unit {
	each := (len(units) + maxUnits - 1) / maxUnits
	if each < 2 {
		return units
	}
	var out []unit
	for _, u := range units {
		if last := len(out) - 1; u.number%each == 0 || last < 0 || out[last].part != u.part {
			u.number /= each
			out = append(out, u)
		} else if u.joined {
			out[last].text += u.text
		} else {
			out[last].text += " " + u.text
		}
	}
	return out
}

// sentenceEnd gives how many bytes of a line its first sentence has: up to a mark that ends one and the quotes and brackets
// that it closes, where white space follows, or none is needed.
func sentenceEnd(line string) int {
	for i, r := range line {
		if !strings.ContainsRune(".!?…。！？।؟", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		if r == '.' && abbreviated(line[max(0, i-longestAbbreviation):i]) {
			continue
		}
		for end < len(line) {
			next, size := utf8.DecodeRuneInString(line[end:])
			if !strings.ContainsRune(".!?…。！？»”’\"')]」』", next) {
				break
			}
			end += size
		}
		next, _ := utf8.DecodeRuneInString(line[end:])
		if end == len(line) || unicode.IsSpace(next) || strings.ContainsRune("。！？", r) {
			return end
		}
	}
	return len(line)
}

// abbreviated says whether a point after the text belongs to a word: a title, an initial, the number
// of an item.
func abbreviated(text string) bool {
	word := text[strings.LastIndexFunc(text, unicode.IsSpace)+1:]
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "sr", "sra", "srta", "dra", "no", "nº", "núm", "vs", "etc", "e.g", "i.e", "p.ej", "approx", "aprox", "av", "avda", "jr":
		return true
	}
	if strings.Trim(word, "0123456789") == "" && len(word) < 4 {
		return strings.TrimSpace(text) == word // the number of an item
	}
	return utf8.RuneCountInString(word) == 1 && word != "I" || strings.Contains(word, ".")
}

// clauseEnd gives how many bytes the first clause of a sentence has: up to a comma, semicolon, colon, dash or conjunction that
// leaves some words on either side, or all of it.
func clauseEnd(sentence string) int {
	words := 0
	for i := 0; i < len(sentence); {
		start := i
		for i < len(sentence) && isSpace(sentence[i]) {
			i++
		}
		from := i
		for i < len(sentence) && !isSpace(sentence[i]) {
			i++
		}
		if word := sentence[from:i]; words >= clauseWords && begins(word) && atLeast(clauseWords, sentence[start:]) {
			return start
		} else if words++; words >= clauseWords && word != "" && strings.ContainsRune(",;:", rune(word[len(word)-1])) &&
			atLeast(clauseWords, sentence[i:]) {
			return i
		}
	}
	return len(sentence)
}

// atLeast says whether a text has at least n words.
func atLeast(n int, text string) bool {
	for range strings.FieldsSeq(text) {
		if n--; n <= 0 {
			return true
		}
	}
	return false
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// begins says whether a word begins a clause that can stand alone.
func begins(word string) bool {
	switch word {
	case "-", "–", "—", "but", "because", "so", "although", "while", "which", "pero", "porque", "aunque", "mientras", "así":
		return true
	}
	return false
}

// hardEnd gives a cut for what has no place to cut: at white space if there is some, never in a character.
func hardEnd(text string) int {
	if space := strings.LastIndexFunc(text[:unitBytes], unicode.IsSpace); space > unitBytes/2 {
		return space
	}
	if mark := strings.LastIndexAny(text[:unitBytes], ",;}])"); mark > unitBytes/2 {
		return mark + 1
	}
	end := unitBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}
