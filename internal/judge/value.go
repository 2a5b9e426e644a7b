package judge

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is what a value tells.
type kind int

const (
	number kind = iota
	clock
	date
	location
	kinds
)

var kindNames = [kinds]string{"number", "time", "date", "place"}

// value is what a claim gives of one kind.
type value struct {
	text    string
	amount  float64 // a number, or minutes since midnight
	measure string  // of a number: its unit's; empty: what is counted stands among the words
	about   bool    // the number is no exact one
	half    bool    // the time may be before noon or after
	day     day
	place   place
}

// day is a date, or as much as is said of it: 0 is what is not said.
type day struct {
	year, month, day, weekday int
	ambiguous                 bool // which is the day and which the month is not certain
}

// likeness says how two values stand to each other.
type likeness int

const (
	unsure likeness = iota
	equal
	conflict
)

// compare says whether two values of one kind are the same or cannot be both.
func (v value) compare(other value, k kind) likeness {
	switch k {
	case number:
		return v.compareNumber(other)
	case clock:
		a, b := v.amount, other.amount
		if v.half || other.half {
			a, b = math.Mod(a, 720), math.Mod(b, 720)
		}
		return equalOr(a == b, conflict)
	case date:
		return v.day.compare(other.day)
	default:
		return v.place.compare(other.place)
	}
}

func equalOr(same bool, otherwise likeness) likeness {
	if same {
		return equal
	}
	return otherwise
}

// coarse is how many times as large one of two numbers must be to differ, if one is only about right.
const coarse = 1.5

func (v value) compareNumber(other value) likeness {
	if v.measure != other.measure {
		return unsure
	}
	low, high := min(v.amount, other.amount), max(v.amount, other.amount)
	if low == high {
		return equal
	}
	if (v.about || other.about) && high < coarse*low {
		return unsure
	}
	return conflict
}

func (d day) compare(other day) likeness {
	if d == other {
		return equal
	}
	if d.ambiguous || other.ambiguous {
		swapped := d
		swapped.day, swapped.month, swapped.ambiguous = d.month, d.day, other.ambiguous
		if swapped == other {
			return unsure
		}
	}
	shared := 0
	for _, pair := range [...][2]int{{d.year, other.year}, {d.month, other.month}, {d.day, other.day}, {d.weekday, other.weekday}} {
		if pair[0] == 0 || pair[1] == 0 {
			continue
		}
		if pair[0] != pair[1] {
			return conflict
		}
		shared++
	}
	return equalOr(shared > 0, unsure)
}

func (p place) compare(other place) likeness {
	if p.level == other.level {
		return equalOr(p.name == other.name, conflict)
	}
	city, country := p, other
	if city.level == "country" {
		city, country = country, city
	}
	if city.level == "city" && country.level == "country" && !slices.Contains(city.countries, country.name) {
		return conflict
	}
	return unsure // one may lie in the other
}

var months = [...][]string{
	{"january", "enero", "jan"}, {"february", "febrero", "feb"}, {"march", "marzo", "mar"}, {"april", "abril", "apr"}, {"may", "mayo"},
	{"june", "junio", "jun"}, {"july", "julio", "jul"}, {"august", "agosto", "aug"}, {"september", "septiembre", "setiembre", "sept", "sep"},
	{"october", "octubre", "oct"}, {"november", "noviembre", "nov"}, {"december", "diciembre", "dec"},
}

var weekdays = [...][]string{
	{"monday", "lunes"}, {"tuesday", "martes"}, {"wednesday", "miercoles"}, {"thursday", "jueves"}, {"friday", "viernes"},
	{"saturday", "sabado"}, {"sunday", "domingo"},
}

func indexOf(lists [][]string, name string) int {
	return 1 + slices.IndexFunc(lists, func(names []string) bool { return slices.Contains(names, name) })
}

// month gives the number of the month that a word names, or 0. "May" and "mar" are months only if they look like it.
func (w word) month() int {
	if (w.norm == "may" || w.norm == "march" || w.norm == "mar" || w.norm == "sep" || w.norm == "dec" || w.norm == "jan") && !w.upper {
		return 0
	}
	return indexOf(months[:], w.norm)
}

var numerals = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
	"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
	"dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10, "doce": 12,
	"trece": 13, "catorce": 14, "quince": 15, "dieciseis": 16, "diecisiete": 17, "dieciocho": 18, "diecinueve": 19, "veinte": 20,
	"treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90, "cien": 100,
}

// amount reads a number: "12", "1,500", "1.500", "12,5", "twelve".
func (w word) amount() (float64, bool) {
	if n, ok := numerals[w.norm]; ok {
		return n, true
	}
	if !w.digit {
		return 0, false
	}
	text := w.norm
	if i := strings.LastIndexAny(text, ".,"); i >= 0 {
		whole := strings.NewReplacer(".", "", ",", "").Replace(text[:i])
		if len(text)-i-1 == 3 {
			text = whole + text[i+1:] // thousands
		} else {
			text = whole + "." + text[i+1:]
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !strings.ContainsAny(text, "xXeEpP_") && !math.IsInf(n, 0)
}

// small reads a whole number of at most limit, ordinals too; 0 for anything else.
func (w word) small(limit int) int {
	if !w.digit {
		return 0
	}
	text := w.norm
	for _, ending := range [...]string{"st", "nd", "rd", "th", "º"} {
		text = strings.TrimSuffix(text, ending)
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= limit {
		return n
	}
	return 0
}

var ordinals = [...][]string{
	{"first", "primer", "primero", "primera", "1st"}, {"second", "segundo", "segunda", "2nd"}, {"third", "tercer", "tercero", "tercera", "3rd"},
	{"fourth", "cuarto", "cuarta", "4th"}, {"fifth", "quinto", "quinta", "5th"}, {"sixth", "sexto", "sexta", "6th"},
	{"seventh", "septimo", "septima", "7th"}, {"eighth", "octavo", "octava", "8th"}, {"ninth", "noveno", "novena", "9th"}, {"tenth", "decimo", "decima", "10th"},
}

// The years that a number may be.
const (
	firstYear = 1000
	lastYear  = 2200
)

func (w word) year() int {
	if n := w.small(lastYear); n >= firstYear && len(w.norm) == 4 {
		return n
	}
	return 0
}

// numericDate reads "2026-03-15", "15/03/2026" and "15-03-2026".
func (w word) numericDate() (day, bool) {
	parts := strings.FieldsFunc(w.norm, func(r rune) bool { return r == '-' || r == '/' })
	if !w.digit || len(parts) != 3 {
		return day{}, false
	}
	var n [3]int
	for i, part := range parts {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil || n[i] <= 0 || n[i] > lastYear {
			return day{}, false
		}
	}
	switch {
	case n[0] >= firstYear:
		return day{year: n[0], month: n[1], day: n[2]}, n[1] <= 12 && n[2] <= 31
	case n[2] < firstYear || n[0] > 31 || n[1] > 31 || n[0] > 12 && n[1] > 12:
		return day{}, false
	case n[1] > 12:
		return day{year: n[2], month: n[0], day: n[1]}, true
	}
	return day{year: n[2], month: n[1], day: n[0], ambiguous: n[0] <= 12 && n[0] != n[1]}, true
}

// minutes reads "15:30" as minutes since midnight.
func (w word) minutes() (float64, bool) {
	hours, minutes, ok := strings.Cut(w.norm, ":")
	h, err := strconv.Atoi(hours)
	m, err2 := strconv.Atoi(minutes)
	return float64(60*h + m), ok && w.digit && err == nil && err2 == nil && h >= 0 && h <= 24 && m >= 0 && m < 60
}
