package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/window"
)

// small are words that are numbers and dates, though they have neither digits nor a capital. In English the names of days
// and months have one.
var small = set(`two three four five six seven eight nine ten eleven twelve dozen hundred thousand million
dos tres cuatro cinco seis siete ocho nueve diez once doce docena cien ciento mil millón
enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
lunes martes miércoles jueves viernes sábado domingo`)

// openers are words that begin sentences without being a name.
var openers = set(`a all also always an and any are as ask at avoid be because but by can do does don't each every everything
for from give goal has have he her his how if in is it its keep let make my never no not nothing of on one only or our
please prefer prefers preference she should so some that the their them then there these they this those to use user users
was we what when where which who why with you your agent assistant decided decision
al algo aunque cada como cuando de debe decisión decidido del desde el ella ellos en entonces es esa ese eso está esta este
esto hay la las le lo los más me meta mi mis nada no nos nosotros nuestra nuestro nunca o objetivo otra otro para pero por
porque preferencia prefiere prefiero que quiere quiero se si sí siempre sin sobre solo su sus también tu un una uno usa
usuario y ya yo`)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

// Missing gives what of the parts' names, numbers and dates a summary does not have, each once, as it is spelled in them.
// A number is digits with what joins them, such as 7, 19:30, 2031-05-06 and 1,250.50, or the word for a small one. A name is
// a word with a capital. One that begins a sentence may have its capital for that alone: it is no name if it is one that
// sentences often begin with, and in the summary another form of it will do.
func Missing(parts []window.Part, summary string) []string {
	have := map[string]bool{}
	for _, w := range words(summary) {
		have[strings.ToLower(w.text)] = true
	}
	var missing []string
	for _, p := range parts {
		for _, w := range words(p.Content) {
			key := strings.ToLower(w.text)
			if have[key] || !w.isFact() || w.first && hasForm(have, key) {
				continue
			}
			have[key] = true
			missing = append(missing, w.text)
		}
	}
	return missing
}

// hasForm tells whether there is another form of a word: booked for book, using for use, prefer for prefers.
func hasForm(words map[string]bool, word string) bool {
	stem := strings.TrimRight(word, "se")
	if len(stem) < 2 || strings.ContainsFunc(word, unicode.IsDigit) {
		return false
	}
	for w := range words {
		if rest, ok := strings.CutPrefix(w, stem); ok && len(rest) <= 4 {
			return true
		}
	}
	return false
}

// word is a word of a text, or a number.
type word struct {
	text  string
	first bool // of a sentence
}

// words parts a text. What joins digits or letters, such as the dots of 1.5 and the dash of Jean-Luc, is part of a word
// between two of them.
func words(text string) []word {
	var all []word
	first := true
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !inWord(r) {
			first = first || strings.ContainsRune(".!?:;¿¡\n\"“«(", r) || r == '•'
			i += n
			continue
		}
		end := i + n
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if !inWord(r) {
				next, _ := utf8.DecodeRuneInString(text[end+n:])
				last, _ := utf8.DecodeLastRuneInString(text[:end])
				digits := unicode.IsDigit(last) && unicode.IsDigit(next) && strings.ContainsRune(".,:/-", r)
				letters := inWord(next) && strings.ContainsRune("-'’_@", r)
				if !digits && !letters {
					break
				}
			}
			end += n
		}
		all = append(all, word{text[i:end], first})
		first = false
		i = end
	}
	return all
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// isFact tells whether a word is a number, a name or part of a date.
func (w word) isFact() bool {
	if strings.ContainsFunc(w.text, unicode.IsDigit) {
		return true
	}
	initial, size := utf8.DecodeRuneInString(w.text)
	lower := strings.ToLower(w.text)
	switch {
	case small[lower], strings.ContainsFunc(w.text[size:], unicode.IsUpper):
		return true
	case size == len(w.text), strings.HasPrefix(w.text, "I'"), strings.HasPrefix(w.text, "I’"), w.first && openers[lower]:
		return false
	}
	return unicode.IsUpper(initial)
}
