package ranking

import (
	"strconv"
	"strings"
	"time"
)

// span is a time that a query names, from one moment to just before another, perhaps of any year.
type span struct {
	from, to time.Time
	yearly   bool
}

// anyYear is the year in which a span of any year is held: a leap year.
const anyYear = 2000

func (s span) holds(at time.Time) bool {
	if !s.yearly {
		return !at.Before(s.from) && at.Before(s.to)
	}
	// The span may run over the end of the year.
	inYear := func(year int) bool {
		at := at.AddDate(year-at.Year(), 0, 0)
		return !at.Before(s.from) && at.Before(s.to)
	}
	return inYear(anyYear) || inYear(anyYear+1)
}

// spans gives the times that a query, in plain words, names, each prolonged by the days in which what happened is
// still told: days, months and years of the calendar, and such as are counted back from now.
func spans(query []string, now time.Time, told int) []span {
	now = now.UTC()
	today := day(now.Year(), now.Month(), now.Day())
	var found []span
	add := func(from, to time.Time, yearly bool) {
		found = append(found, span{from, to.AddDate(0, 0, told), yearly})
	}
	for i := range query {
		at := phrase{query, i}
		last := backward(at.word(-1)) || backward(at.word(1))
		switch at.word(0) {
		case "today", "hoy":
			add(today, today.AddDate(0, 0, 1), false)
		case "yesterday", "ayer", "anoche":
			add(today.AddDate(0, 0, -1), today, false)
		case "week", "semana":
			if monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7); last {
				add(monday.AddDate(0, 0, -7), monday, false)
			}
		case "month", "mes":
			if first := today.AddDate(0, 0, 1-today.Day()); last {
				add(first.AddDate(0, -1, 0), first, false)
			}
		case "year", "ano":
			if last {
				add(day(now.Year()-1, 1, 1), day(now.Year(), 1, 1), false)
			}
		default:
			if month := at.month(); month != 0 {
				from, to, yearly := at.dated(month, last, now)
				add(from, to, yearly)
			} else if year := yearNumber(at.word(0)); year != 0 && !at.afterMonth() {
				add(day(year, 1, 1), day(year+1, 1, 1), false)
			}
		}
	}
	return found
}

func day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func backward(word string) bool { return word == "last" || word == "pasado" || word == "pasada" }

// phrase is a place among words.
type phrase struct {
	words []string
	at    int
}

// word gives the word at a distance, or "".
func (p phrase) word(distance int) string {
	if i := p.at + distance; i >= 0 && i < len(p.words) {
		return p.words[i]
	}
	return ""
}

// month tells the month that is named here, or 0. "May" and "march" are months only beside a number or after a word
// that dates.
func (p phrase) month() time.Month {
	word := p.word(0)
	if word == "may" || word == "march" {
		switch p.word(-1) {
		case "in", "last", "of", "since", "during", "until", "by":
		default:
			if dayNumber(p.word(-1)) == 0 && dayNumber(p.word(1)) == 0 && yearNumber(p.word(1)) == 0 {
				return 0
			}
		}
	}
	return monthName(word)
}

// afterMonth says whether a month is named one to three words before: "May 2023", "May 8, 2023", "mayo de 2023".
func (p phrase) afterMonth() bool {
	for distance := -3; distance < 0; distance++ {
		if monthName(p.word(distance)) != 0 {
			return true
		}
	}
	return false
}

// dated gives the day or month that is named around a month: without a year that of any year, or the last one.
func (p phrase) dated(month time.Month, last bool, now time.Time) (from, to time.Time, yearly bool) {
	number, year := 0, 0
	for _, distance := range [...]int{-2, -1, 1, 2, 3} { // "the 8 of May", "8 May", "May 8", "May 2023", "8 de mayo de 2023"
		word := p.word(distance)
		if y := yearNumber(word); y != 0 && distance > 0 && year == 0 {
			year = y
		} else if d := dayNumber(word); d != 0 && number == 0 && distance < 2 {
			number = d
		}
	}
	switch {
	case year == 0 && last:
		if year = now.Year(); month >= now.Month() {
			year--
		}
	case year == 0:
		year, yearly = anyYear, true
	}
	if number == 0 {
		return day(year, month, 1), day(year, month+1, 1), yearly
	}
	return day(year, month, number), day(year, month, number+1), yearly
}

// dayNumber reads the number of a day: 8, 8th; 0 for any other word.
func dayNumber(word string) int {
	for _, ending := range [...]string{"st", "nd", "rd", "th"} {
		word = strings.TrimSuffix(word, ending)
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= 31 {
		return n
	}
	return 0
}

// yearNumber reads a year of four digits; 0 for any other word.
func yearNumber(word string) int {
	if n, err := strconv.Atoi(word); err == nil && len(word) == 4 && n >= 1900 && n < 2200 {
		return n
	}
	return 0
}

func monthName(word string) time.Month {
	switch word {
	case "january", "enero":
		return time.January
	case "february", "febrero":
		return time.February
	case "march", "marzo":
		return time.March
	case "april", "abril":
		return time.April
	case "may", "mayo":
		return time.May
	case "june", "junio":
		return time.June
	case "july", "julio":
		return time.July
	case "august", "agosto":
		return time.August
	case "september", "septiembre", "setiembre":
		return time.September
	case "october", "octubre":
		return time.October
	case "november", "noviembre":
		return time.November
	case "december", "diciembre":
		return time.December
	}
	return 0
}
