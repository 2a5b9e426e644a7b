package embeddings

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
