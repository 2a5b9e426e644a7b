package embeddings

import "github.com/tzzr/context-manager/internal/ranking"

// functionWord says in which languages a word only holds a sentence together: articles, pronouns, prepositions,
// auxiliaries, question words, and what is left of a contraction at its apostrophe. Such words tell a text's
// language, and say nothing of what a query is after.
func functionWord(word string) language {
	switch word {
	case "a", "he", "has", "me", "no":
		return inEnglish | inSpanish
	case "i", "as", "an", "the", "and", "or", "but", "if", "of", "to", "in", "on", "at", "by", "for", "with", "from",
		"is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "doing", "have", "had",
		"having", "you", "she", "it", "we", "they", "him", "her", "us", "them", "my", "your", "his", "its", "our",
		"their", "this", "that", "these", "those", "what", "which", "who", "whom", "whose", "when", "where", "why",
		"how", "will", "would", "can", "could", "should", "shall", "may", "might", "must", "not", "so", "than",
		"then", "there", "here", "about", "into", "over", "after", "before", "up", "down", "out", "just", "mine",
		"s", "t", "d", "m", "ll", "re", "ve", "don", "didn", "doesn", "isn", "aren", "wasn", "weren", "hasn",
		"haven", "hadn", "couldn", "wouldn", "shouldn", "won":
		return inEnglish
	case "el", "la", "los", "las", "un", "una", "unos", "unas", "de", "del", "al", "en", "con", "por", "para",
		"sin", "sobre", "entre", "hasta", "desde", "y", "o", "u", "e", "ni", "pero", "que", "porque", "si", "sí",
		"como", "cuando", "donde", "quien", "cual", "qué", "cuándo", "dónde", "adónde", "quién", "quiénes", "cómo",
		"cuál", "cuáles", "cuánto", "cuánta", "cuántos", "cuántas", "yo", "tú", "él", "ella", "ellos",
		"ellas", "usted", "ustedes", "nosotros", "te", "se", "nos", "os", "le", "les", "lo", "mi", "mis", "tu",
		"tus", "su", "sus", "nuestro", "nuestra", "este", "esta", "esto", "estos", "estas", "ese", "esa", "eso",
		"esos", "esas", "es", "era", "eran", "fue", "fueron", "ser", "soy", "eres", "somos", "está", "están",
		"estaba", "estoy", "estar", "hay", "había", "ha", "han", "hemos", "muy", "más", "ya", "también":
		return inSpanish
	}
	return 0
}

// empty says whether a word tells nothing of what a query is after, in either language: function words, and such as
// any message may have, since in a log everything was said, asked or done by someone.
func empty(word string) bool {
	if functionWord(word) != 0 {
		return true
	}
	switch ranking.Plain(word) {
	case "say", "says", "said", "saying", "tell", "tells", "told", "telling", "talk", "talks", "talked", "talking",
		"ask", "asks", "asked", "mention", "mentioned", "know", "knows", "knew", "think", "thinks", "thought",
		"mean", "means", "go", "goes", "went", "going", "get", "gets", "got", "getting", "done", "happen", "happened",
		"happening", "let", "thing", "things", "something", "anything", "everything", "nothing", "someone", "anyone",
		"everyone", "some", "any", "all", "more", "most", "much", "many", "very", "too", "also", "only", "now",
		"other", "because", "while", "though", "through", "between", "during", "again", "once", "both", "each",
		"such", "own", "same", "nor", "under", "off", "above", "below", "until", "against", "further", "myself",
		"yourself", "himself", "herself", "itself", "ourselves", "themselves", "ours", "yours", "hers", "theirs":
		return true
	case "decir", "dice", "dices", "dicen", "dijo", "dije", "dijeron", "dicho", "hablar", "habla", "hablan", "hablo",
		"hablaron", "hablamos", "hablado", "saber", "sabe", "sabes", "pensar", "piensa", "pasa", "paso", "pasado",
		"ocurrio", "hacer", "hace", "hizo", "hacen", "hicieron", "hecho", "ir", "va", "van", "vas", "voy", "iba",
		"tener", "tiene", "tienen", "tengo", "tenia", "cosa", "cosas", "todo", "toda", "todos", "todas", "algo",
		"nada", "alguien", "nadie", "otro", "otra", "otros", "otras", "mucho", "mucha", "muchos", "muchas", "poco",
		"tan", "tanto", "mas", "tambien", "tampoco", "ahora", "aqui", "alli", "ahi", "asi", "aunque", "mientras",
		"segun", "sino", "durante", "antes", "despues", "donde", "adonde", "cuanto", "cuanta", "cuantos", "cuantas",
		"cuales", "quienes", "estan", "estas", "habia", "ti", "conmigo", "contigo", "nosotras", "vosotros", "vosotras",
		"suyo", "suya", "mio", "mia", "aquel", "aquella", "aquello", "fui", "son", "eran", "sea", "he", "has", "contra",
		"ante", "algun", "alguno", "alguna", "algunos", "algunas", "cada", "cual":
		return true
	}
	return false
}
