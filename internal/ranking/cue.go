package ranking

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// plainWords gives the words of a text without accents.
func plainWords(text string) []string {
	words := Words(text)
	for i, word := range words {
		words[i] = Plain(word)
	}
	return words
}

// unadorned gives the words without symbols, if there are others: who asks for "Ursula 🌻" writes "Ursula".
func unadorned(words []string) []string {
	adorns := func(word string) bool {
		r, _ := utf8.DecodeRuneInString(word)
		return symbolRune(r)
	}
	if plain := slices.DeleteFunc(slices.Clone(words), adorns); len(plain) > 0 {
		return plain
	}
	return words
}

// named says whether all words of a name stand among a query's.
func named(query []string, name string) bool {
	parts := unadorned(plainWords(name))
	return len(parts) > 0 && contains(query, parts)
}

// contains says whether all of the wanted words stand among the words.
func contains(words, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(word string) bool { return !slices.Contains(words, word) })
}

// asks says whether a text holds a question.
func asks(text string) bool {
	return strings.IndexByte(text, '?') >= 0 || !ascii(text) && strings.ContainsAny(text, "？؟")
}

// asksTime says whether a query, in plain words, is after a point or a span of time.
func asksTime(query []string) bool {
	for i, word := range query {
		next := ""
		if i+1 < len(query) {
			next = query[i+1]
		}
		switch word {
		case "when", "cuando":
			return true
		case "how":
			if next == "long" {
				return true
			}
		case "cuanto":
			if next == "tiempo" || next == "hace" {
				return true
			}
		case "que", "what", "which":
			switch next {
			case "dia", "fecha", "mes", "ano", "day", "date", "month", "year":
				return true
			}
		}
	}
	return false
}

// tellsTime says whether a text has a word for a point or a span of time.
func tellsTime(text string) bool {
	found := false
	eachWord(fold(text), func(word string) bool {
		found = timeWord(word)
		return !found
	})
	return found
}

func timeWord(word string) bool {
	switch word {
	case "yesterday", "today", "tomorrow", "tonight", "last", "next", "ago", "since", "recently", "soon", "morning",
		"night", "weekend", "day", "days", "week", "weeks", "month", "months", "year", "years",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
		"november", "december":
		return true
	case "ayer", "anteayer", "hoy", "mañana", "anoche", "pasado", "pasada", "próximo", "próxima", "hace", "desde",
		"pronto", "noche", "tarde", "finde", "día", "días", "semana", "semanas", "mes", "meses", "año", "años",
		"lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo",
		"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
		"noviembre", "diciembre":
		return true
	}
	return false
}

// preferences are a player's, each as its words in the singular.
type preferences [][]string

func newPreferences(texts []string) preferences {
	var p preferences
	for _, text := range texts {
		if words := unadorned(singulars(text)); len(words) > 0 {
			p = append(p, words)
		}
	}
	return p
}

// match says whether all words of one of the preferences stand in a candidate's text or in one of its labels.
func (p preferences) match(c Candidate) bool {
	if len(p) == 0 {
		return false
	}
	holds := func(text string) bool {
		words := singulars(text)
		return slices.ContainsFunc(p, func(preference []string) bool { return contains(words, preference) })
	}
	return holds(c.Text) || slices.ContainsFunc(c.Labels, holds)
}

// singulars gives the plain words of a text, the "s" or "es" of a plural taken off.
func singulars(text string) []string {
	words := plainWords(text)
	for i, word := range words {
		if len(word) > 4 && strings.HasSuffix(word, "es") {
			words[i] = word[:len(word)-2]
		} else if len(word) > 3 && strings.HasSuffix(word, "s") {
			words[i] = word[:len(word)-1]
		}
	}
	return words
}
