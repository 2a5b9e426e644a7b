package judge

import (
	"embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed words/*.txt
var words embed.FS

// lexicon is what the rules know of words. It does not change once it is loaded.
type lexicon struct {
	verbs     map[string]verbForm
	concepts  map[string]string          // a word's form → what names its meaning
	opposites map[string]map[string]bool // by concept
	function  map[string]map[string]bool // by section
	units     map[string]unit            // by name
	places    map[string]place           // by name
	phrases   map[string]bool            // the beginnings of forms of several words
	joined    map[string]bool            // such forms in function.txt
	phrased   map[string]bool            // concepts that have such a form
}

type verb struct {
	name                                            string
	number, time, place, first, equates, like, hate bool
	opinion                                         bool // whoever it is said of, it is no claim
}

type verbForm struct {
	*verb
	past, first, object bool // object: what is liked is its grammatical subject, as in "me gusta"
}

// unit is what a number counts: of the same measure, amounts can be compared.
type unit struct {
	measure string
	factor  float64
}

// place is where something is. Places of one level exclude each other, a city those countries that it is not in.
type place struct {
	level, name string
	countries   []string
}

var load = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		verbs: map[string]verbForm{}, concepts: map[string]string{}, opposites: map[string]map[string]bool{},
		function: map[string]map[string]bool{}, units: map[string]unit{}, places: map[string]place{}, phrases: map[string]bool{}, joined: map[string]bool{}, phrased: map[string]bool{},
	}
	eachLine("verbs", l.addVerb)
	eachLine("concepts", func(line string) {
		forms := strings.Fields(line)
		for _, form := range forms {
			if _, taken := l.concepts[form]; !taken {
				l.concepts[form] = forms[0]
				if strings.ContainsAny(form, "_-") {
					l.phrased[forms[0]] = true
				}
				l.addPhrase(form)
			}
		}
	})
	eachLine("opposites", func(line string) {
		names := strings.Fields(line)
		for _, a := range names {
			for _, b := range names {
				if a != b {
					if l.opposites[a] == nil {
						l.opposites[a] = map[string]bool{}
					}
					l.opposites[a][b] = true
				}
			}
		}
	})
	eachLine("function", func(line string) {
		name, list, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
		l.function[name] = map[string]bool{}
		for _, form := range strings.Fields(list) {
			l.function[name][form] = true
			if strings.Contains(form, "_") {
				l.addPhrase(form)
				l.joined[form] = true
			}
		}
	})
	eachLine("units", func(line string) {
		fields := strings.Fields(line)
		factor, _ := strconv.ParseFloat(fields[1], 64)
		for _, name := range fields[2:] {
			l.units[name] = unit{fields[0], factor}
			l.addPhrase(name)
		}
	})
	eachLine("places", l.addPlaces)
	return l
})

// eachLine calls f with each line of a word list that is no comment.
func eachLine(name string, f func(string)) {
	text, err := words.ReadFile("words/" + name + ".txt")
	if err != nil {
		panic(err) // it is embedded
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			f(line)
		}
	}
}

func (l *lexicon) addVerb(line string) {
	head, forms, _ := strings.Cut(line, ":")
	name, marks, _ := strings.Cut(head, " ")
	has := func(mark string) bool { return strings.Contains(marks, mark) }
	v := &verb{
		name: name, number: has("n"), time: has("t"), place: has("p"), first: has("f"), equates: has("="), like: has("+"), hate: has("-"),
		opinion: has("?"),
	}
	for _, form := range strings.Fields(forms) {
		text := strings.TrimRight(form, "<1@")
		if _, taken := l.verbs[text]; !taken {
			l.verbs[text] = verbForm{v, strings.HasSuffix(form, "<"), strings.HasSuffix(form, "1"), strings.HasSuffix(form, "@")}
			l.addPhrase(text)
		}
	}
}

func (l *lexicon) addPlaces(line string) {
	head, list, _ := strings.Cut(line, ":")
	level, names, _ := strings.Cut(head, " ")
	country := l.addPlace(place{level: level}, names)
	for _, names := range strings.Fields(list) {
		p := place{level: level}
		if level == "country" {
			p = place{level: "city", countries: []string{country}}
		}
		l.addPlace(p, names)
	}
}

// addPlace adds a place under each of its names. One name of two places is a place in both their countries.
func (l *lexicon) addPlace(p place, names string) string {
	all := strings.FieldsFunc(names, func(r rune) bool { return r == '=' })
	if len(all) == 0 {
		return ""
	}
	p.name = all[0]
	for _, name := range all {
		if known, taken := l.places[name]; taken {
			known.countries = append(slices.Clone(known.countries), p.countries...)
			l.places[name] = known
			continue
		}
		l.places[name] = p
		l.addPhrase(name)
	}
	return p.name
}

func (l *lexicon) addPhrase(form string) {
	for i := range len(form) {
		if form[i] == '_' {
			l.phrases[form[:i]] = true
		}
	}
}

// is says whether a word is in a section of function.txt.
func (l *lexicon) is(section, word string) bool { return l.function[section][word] }

// concept names what a word means: of a word that no list has, its singular.
func (l *lexicon) concept(word string) string {
	if name, ok := l.concepts[word]; ok {
		return name
	}
	singular := word
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		singular = word[:len(word)-1]
		if name, ok := l.concepts[singular]; ok {
			return name
		}
		if len(word) > 5 && strings.HasSuffix(word, "es") {
			if name, ok := l.concepts[word[:len(word)-2]]; ok {
				return name
			}
		}
	}
	if len(singular) > 3 && strings.HasSuffix(singular, "a") {
		if name, ok := l.concepts[singular[:len(singular)-1]+"o"]; ok {
			return name
		}
	}
	return singular
}

// known says whether a form is in any of the lists that phrases come from.
func (l *lexicon) known(form string) bool {
	_, v := l.verbs[form]
	_, c := l.concepts[form]
	_, u := l.units[form]
	_, p := l.places[form]
	return v || c || u || p || l.joined[form]
}
