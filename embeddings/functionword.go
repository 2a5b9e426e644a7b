package embeddings

import (
	_ "embed" // for the words
	"strings"

	"github.com/tzzr/context-manager/internal/ranking"
)

//go:embed functionwords.txt
var functionWordLines string

// functionWords tells, of each function word, its languages; nationalLetters, of letters beyond ASCII.
var (
	functionWords   = readLanguages("", functionWordLines)
	nationalLetters = readLanguages("letters ", functionWordLines)
)

var languageCodes = map[string]language{
	"en": inEnglish, "es": inSpanish, "pt": inPortuguese, "fr": inFrench, "it": inItalian, "de": inGerman, "nl": inDutch,
	"sv": inSwedish, "no": inNorwegian, "da": inDanish, "fi": inFinnish, "hu": inHungarian, "ro": inRomanian,
	"tr": inTurkish, "ga": inIrish, "ru": inRussian, "ar": inArabic,
}

// readLanguages reads the lines that begin with a prefix and the code of a language, and tells the languages of each
// word.
func readLanguages(prefix, lines string) map[string]language {
	words := map[string]language{}
	for line := range strings.Lines(lines) {
		code, list, _ := strings.Cut(line, ": ")
		in := languageCodes[strings.TrimPrefix(code, prefix)]
		if in == 0 || !strings.HasPrefix(code, prefix) {
			continue
		}
		for word := range strings.FieldsSeq(list) {
			words[word] |= in
		}
	}
	return words
}

// functionWord says in which languages a word only holds a sentence together. Such words tell a text's language, and
// say nothing of what a query is after.
func functionWord(word string) language { return functionWords[word] }

// empty says whether a word tells nothing of what a text in one of the languages is about: function words, and such as
// any message may have, since in a log everything was said, asked or done by someone.
func empty(word string, in language) bool {
	return functionWord(word)&in != 0 || in&inEnglish != 0 && emptyEnglish(word) || in&inSpanish != 0 && emptySpanish(ranking.Plain(word))
}

// idle says whether a word of a query tells nothing. In doubt of its language, and for function words in any case, it
// may be English or Spanish.
func idle(word string, in language) bool {
	const likely = inEnglish | inSpanish
	if in == 0 {
		in = likely
	}
	return functionWord(word)&likely != 0 || empty(word, in.of(word))
}

func emptyEnglish(word string) bool {
	switch word {
	case "say", "says", "said", "saying", "tell", "tells", "told", "telling", "talk", "talks", "talked", "talking",
		"ask", "asks", "asked", "mention", "mentioned", "know", "knows", "knew", "think", "thinks", "thought",
		"mean", "means", "go", "goes", "went", "going", "get", "gets", "got", "getting", "done", "happen", "happened",
		"happening", "let", "thing", "things", "something", "anything", "everything", "nothing", "someone", "anyone",
		"everyone", "some", "any", "all", "more", "most", "much", "many", "very", "too", "also", "only", "now",
		"other", "because", "while", "though", "through", "between", "during", "again", "once", "both", "each",
		"such", "own", "same", "nor", "under", "off", "above", "below", "until", "against", "further", "myself",
		"yourself", "himself", "herself", "itself", "ourselves", "themselves", "ours", "yours", "hers", "theirs":
		return true
	}
	return false
}

// emptySpanish is told words without accents, since those are left out as often as not.
func emptySpanish(word string) bool {
	switch word {
	case "decir", "dice", "dices", "dicen", "dijo", "dije", "dijeron", "dicho", "hablar", "habla", "hablan", "hablo",
		"hablaron", "hablamos", "hablado", "saber", "sabe", "sabes", "pensar", "piensa", "pasa", "paso", "pasado",
		"ocurrio", "hacer", "hace", "hizo", "hacen", "hicieron", "hecho", "ir", "va", "van", "vas", "voy", "iba",
		"tener", "tiene", "tienen", "tengo", "tenia", "cosa", "cosas", "todo", "toda", "todos", "todas", "algo",
		"nada", "alguien", "nadie", "otro", "otra", "otros", "otras", "mucho", "mucha", "muchos", "muchas", "poco",
		"tan", "tanto", "mas", "tambien", "tampoco", "ahora", "aqui", "alli", "ahi", "asi", "aunque", "mientras",
		"segun", "sino", "durante", "antes", "despues", "donde", "adonde", "cuanto", "cuanta", "cuantos", "cuantas",
		"cuales", "quienes", "estan", "estas", "habia", "ti", "conmigo", "contigo", "nosotras", "vosotros", "vosotras",
		"suyo", "suya", "mio", "mia", "aquel", "aquella", "aquello", "fui", "son", "eran", "sea", "contra",
		"ante", "algun", "alguno", "alguna", "algunos", "algunas", "cada", "cual":
		return true
	}
	return false
}
