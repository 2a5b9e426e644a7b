package judge

import (
	"strconv"
	"strings"
)

// reader takes the values out of the words after a verb.
type reader struct {
	*lexicon
	words  []word
	at     int
	values [kinds][]value
	rest   []string // the meanings of the other words
}

// extract reads what is said in some words: its values, and the meanings of the other words, in their order.
func (l *lexicon) extract(list []word) (values [kinds][]value, rest []string) {
	r := reader{lexicon: l, words: list}
	for r.at < len(list) {
		if !r.readDate() && !r.readClock() && !r.readNumber() && !r.readPlace() {
			r.readWord()
		}
	}
	return r.values, r.rest
}

// word gives the word at a distance, or an empty one.
func (r *reader) word(distance int) word {
	if i := r.at + distance; i >= 0 && i < len(r.words) {
		return r.words[i]
	}
	return word{}
}

// take ends a value of some words.
func (r *reader) take(k kind, v value, count int) bool {
	var texts []string
	for _, w := range r.words[r.at : r.at+count] {
		texts = append(texts, w.text)
	}
	v.text = strings.Join(texts, " ")
	r.values[k] = append(r.values[k], v)
	r.at += count
	return true
}

// skip gives the distance of the next word that is none of those that stand between the parts of a date.
func (r *reader) skip(distance int) int {
	for {
		switch r.word(distance).norm {
		case ",", "of", "de", "del", "the", "el":
			distance++
		default:
			return distance
		}
	}
}

func (r *reader) readDate() bool {
	w := r.word(0)
	if d, ok := w.numericDate(); ok {
		return r.take(date, value{day: d}, 1)
	}
	var d day
	end := 0
	if n := indexOf(weekdays[:], w.norm); n > 0 {
		if before := r.word(-1).norm; before == "los" || before == "every" || before == "cada" || before == "todos" {
			return false // again and again: no date
		}
		d.weekday, end = n, 1
	}
	next := r.skip(end)
	switch month, number := r.word(next).month(), r.word(next).small(31); {
	case month > 0 && end == 0 && next > 0:
		return false
	case month > 0:
		d.month, end = month, next+1
		if n := r.word(r.skip(end)).small(31); n > 0 && !r.counts(r.skip(end)) {
			d.day = n
			end = r.skip(end) + 1
		}
	case number > 0 && r.word(r.skip(next+1)).month() > 0:
		d.day, d.month = number, r.word(r.skip(next+1)).month()
		end = r.skip(next+1) + 1
	case number > 0 && d.weekday > 0 && !r.counts(next) && r.word(next+1).norm != "am" && r.word(next+1).norm != "pm":
		d.day, end = number, next+1
	}
	if d.month > 0 {
		if y := r.word(r.skip(end)).year(); y > 0 {
			d.year = y
			end = r.skip(end) + 1
		}
	}
	if end == 0 && w.year() > 0 && dates(r.word(-1).norm) && !r.counts(0) {
		d.year, end = w.year(), 1
	}
	return end > 0 && r.take(date, value{day: d}, end)
}

// dates says whether a number of four digits after a word is a year.
func dates(word string) bool {
	switch word {
	case "in", "en", "since", "until", "from", "de", "by", "desde", "hasta":
		return true
	}
	return false
}

// counts says whether a unit follows the word at a distance.
func (r *reader) counts(distance int) bool {
	_, ok := r.units[r.word(distance+1).norm]
	return ok
}

const noon = 720

func (r *reader) readClock() bool {
	w, next := r.word(0), r.word(1).norm
	switch w.norm {
	case "noon", "midday", "mediodia":
		return r.take(clock, value{amount: noon}, 1)
	case "midnight", "medianoche":
		return r.take(clock, value{}, 1)
	}
	at, ok := w.minutes()
	if !ok {
		n, isNumber := w.amount()
		before := r.word(-1).norm
		if !isNumber || n > 24 || n != float64(int(n)) {
			return false
		}
		told := next == "am" || next == "pm" || next == "o'clock" || before == "las" && (next == "h" || next == "horas" || !r.counts(0))
		if !told && (before != "at" || r.counts(0) || r.nounFollows()) {
			return false
		}
		at = 60 * n
	}
	v := value{amount: at, half: at > 0 && at <= noon}
	count := 1
	switch next {
	case "am":
		v.half, count = false, 2
		if at >= noon {
			v.amount = at - noon
		}
	case "pm":
		v.half, count = false, 2
		if at < noon {
			v.amount = at + noon
		}
	case "h", "horas", "hours", "o'clock", "hrs":
		count = 2
	}
	if strings.ContainsRune(w.norm, ':') && count == 1 { // "9:00" may be in the evening, "09:00" and "15:00" are not
		v.half = v.half && len(w.norm) < len("09:00") || v.amount == noon && v.half
	}
	if v.amount == noon {
		v.half = false
	}
	return r.take(clock, v, count)
}

// nounFollows says whether a word comes next that a number could count.
func (r *reader) nounFollows() bool {
	next := r.word(1)
	return next.norm != "" && !r.is("drop", next.norm) && next.norm != "," && next.norm != "(" && indexOf(weekdays[:], strings.TrimSuffix(next.norm, "s")) == 0
}

func (r *reader) readNumber() bool {
	w := r.word(0)
	currency, isCurrency := r.units[w.norm]
	if isCurrency && (w.norm == "$" || w.norm == "€" || w.norm == "£") {
		if n, ok := r.word(1).amount(); ok {
			return r.take(number, value{amount: n * currency.factor, measure: currency.measure}, 2)
		}
	}
	n, ok := w.amount()
	if !ok {
		if _, counts := r.units[r.word(1).norm]; !counts || !(w.norm == "one" || r.at == 0 && r.is("indefinite", w.norm)) {
			return false
		}
		n = 1 // "an hour"
	}
	v := value{amount: n, about: r.is("about", r.word(-1).norm)}
	if u, ok := r.units[r.word(1).norm]; ok {
		v.amount, v.measure = n*u.factor, u.measure
		return r.take(number, v, 2)
	}
	if before := r.word(-1).norm; before != "" && !r.is("drop", before) && !v.about && !r.is("from", before) && before != "maximum" && before != ":" {
		return false // "room 12": it names, and does not count
	}
	return r.take(number, v, 1)
}

func (r *reader) readPlace() bool {
	w := r.word(0)
	if p, ok := r.places[w.norm]; ok && w.upper {
		return r.take(location, value{place: p}, 1)
	}
	if name := r.word(1); r.is("locator", r.concept(w.norm)) && (name.digit || name.upper) && indexOf(weekdays[:], name.norm) == 0 {
		return r.take(location, value{place: place{level: r.concept(w.norm), name: name.norm}}, 2)
	}
	if n, next := indexOf(ordinals[:], w.norm), r.concept(r.word(1).norm); n > 0 && r.is("locator", next) {
		return r.take(location, value{place: place{level: next, name: strconv.Itoa(n)}}, 2)
	}
	return false
}

// readWord takes any other word.
func (r *reader) readWord() {
	w := r.word(0)
	r.at++
	if r.is("drop", w.norm) || r.is("negation", w.norm) || r.is("about", w.norm) || len(w.norm) == 1 && !w.digit && !w.upper {
		return
	}
	if recurring := strings.TrimSuffix(w.norm, "s"); indexOf(weekdays[:], recurring) > 0 || indexOf(weekdays[:], w.norm) > 0 {
		r.rest = append(r.rest, "every "+recurring)
		return
	}
	if next := r.word(0); w.norm == "budget" && next.norm != "" && !r.is("drop", next.norm) && !next.digit {
		r.rest = append(r.rest, "cheap") // "budget hotels", and not "the budget"
		return
	}
	r.rest = append(r.rest, r.concept(w.norm))
}
