package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is a word, number or mark of a sentence.
type word struct {
	text  string // as it was written
	norm  string // in lower case, without accents; of several words, joined by "_"
	upper bool   // begins with a capital letter
	digit bool   // begins with a digit
}

// letters says whether it begins with a letter: it is no number and no mark.
func (w word) letters() bool {
	r, _ := utf8.DecodeRuneInString(w.norm)
	return unicode.IsLetter(r)
}

// eachSentence calls yield with the sentences and lines of a text, until it says false.
func eachSentence(text string, yield func(string) bool) {
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n', '\r', ';', '!', '?':
		case '.':
			if i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\n' && text[i+1] != '\r' || abbreviates(text[start:i]) {
				continue
			}
		default:
			continue
		}
		end := i + 1 // with its mark: a question is known by it
		if s := strings.TrimSpace(text[start:end]); len(s) > 1 && !yield(s) {
			return
		}
		start = end
	}
	if s := strings.TrimSpace(text[start:]); s != "" {
		yield(s)
	}
}

// abbreviates says whether a full stop after a text belongs to its last word: "Dr. Weiss", "J. Smith", "9 a.m. on".
func abbreviates(text string) bool {
	last := text[strings.LastIndexByte(text, ' ')+1:]
	switch strings.ToLower(last) {
	case "mr", "mrs", "ms", "dr", "dra", "sr", "sra", "st", "no", "vs", "etc", "e.g", "i.e", "prof", "approx", "a.m", "p.m", "p.ej":
		return true
	}
	return len(last) == 1 && last[0] >= 'A' && last[0] <= 'Z'
}

// scan splits a sentence into words, numbers and marks, joining what the lexicon knows as one. It stops after limit words.
func (l *lexicon) scan(sentence string, limit int) []word {
	var found []word
	for i := 0; i < len(sentence) && len(found) <= limit; {
		size := wordBytes(sentence[i:])
		if size == 0 {
			r, n := utf8.DecodeRuneInString(sentence[i:])
			if strings.ContainsRune(",:()$€£%+#—–", r) {
				found = append(found, word{text: sentence[i : i+n], norm: string(r)})
			}
			i += n
			continue
		}
		found = appendWord(found, sentence[i:i+size])
		i += size
	}
	return l.join(found)
}

// wordBytes gives how long the word is that a text begins with: letters, digits and marks, and what stands between two of
// them in "don't", "check-in", "15:00", "1,500.50" and "10/06/2026".
func wordBytes(text string) int {
	end := 0
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) {
			end += n
			continue
		}
		if end == 0 || !inner(text, end, n, r) {
			break
		}
		end += n
	}
	return end
}

func inner(text string, at, size int, r rune) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+size:])
	switch r {
	case '\'', '’', '-':
		return (unicode.IsLetter(after) || unicode.IsDigit(after)) && (unicode.IsLetter(before) || unicode.IsDigit(before))
	case '.':
		return unicode.IsDigit(before) && unicode.IsDigit(after) || unicode.IsLetter(before) && unicode.IsLetter(after)
	case ',', ':', '/':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return false
}

// appendWord appends a word, "don't" as "do" and "not", "Ana's" as "Ana" and "'s", "9am" as "9" and "am".
func appendWord(list []word, text string) []word {
	plain := plain(text)
	first, _ := utf8.DecodeRuneInString(text)
	w := word{text: text, norm: plain, upper: unicode.IsUpper(first), digit: unicode.IsDigit(first)}
	switch plain {
	case "can't", "cannot":
		return append(list, word{text: text, norm: "can"}, word{norm: "not"})
	case "won't":
		return append(list, word{text: text, norm: "will"}, word{norm: "not"})
	}
	if stem, ok := strings.CutSuffix(plain, "n't"); ok {
		w.norm = stem
		return append(list, w, word{norm: "not"})
	}
	if i := strings.LastIndexByte(plain, '\''); i > 0 {
		rest := plain[i:]
		w.norm, w.text = plain[:i], text[:strings.LastIndexAny(text, "'’")]
		return append(list, w, word{text: rest, norm: rest})
	}
	if w.digit {
		if i := strings.IndexFunc(plain, unicode.IsLetter); i > 0 && strings.IndexByte(plain, '-') < 0 {
			switch plain[i:] {
			case "am", "pm", "a.m", "p.m", "h", "hs", "km", "kg", "m", "g", "min", "eur", "usd", "k":
				w.norm = plain[:i]
				return append(list, w, word{text: plain[i:], norm: strings.ReplaceAll(plain[i:], ".", "")})
			}
		}
	}
	w.norm = strings.TrimSuffix(strings.ReplaceAll(w.norm, "a.m", "am"), ".")
	if w.norm == "p.m" {
		w.norm = "pm"
	}
	return append(list, w)
}

// accented are the words that an accent makes others.
var accented = map[string]string{"está": "esta_v", "té": "tea", "sí": "yes", "él": "he"}

// plain gives a word in lower case, without accents.
func plain(text string) string {
	lower := strings.ToLower(text)
	if isASCII(lower) {
		return lower
	}
	lower = strings.ReplaceAll(norm.NFC.String(lower), "’", "'")
	if other, ok := accented[lower]; ok {
		return other
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(lower) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxPhrase is how many words a phrase of the lexicon has at most.
const maxPhrase = 4

// join makes one word of those that the lexicon knows together, the longest first. Names of places are capitalised.
func (l *lexicon) join(list []word) []word {
	joined := list[:0:0]
	for i := 0; i < len(list); {
		best, form := 1, list[i].norm
		for n, text := 1, list[i].norm; n < maxPhrase && i+n < len(list) && l.phrases[text]; n++ {
			text += "_" + list[i+n].norm
			_, isPlace := l.places[text]
			if l.known(text) && (!isPlace || list[i].upper || list[i+n].upper) {
				best, form = n+1, text
			}
		}
		w := list[i]
		w.norm = form
		w.upper = w.upper || best > 1 && list[i+best-1].upper
		joined = append(joined, w)
		i += best
	}
	return joined
}
