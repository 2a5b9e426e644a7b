package embeddings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tzzr/context-manager/internal/ranking"
)

// A conversation of two people, one line a message, and questions about it with the lines that answer them.
type conversation struct {
	lines     string
	questions map[string]int
	unrelated []string
}

var talk = conversation{
	lines: `
Ursula: Good morning! How did the move go?
Aldous: Hectic. The van broke down near the quarry, so we arrived after midnight.
Ursula: Oh no. And what did you do with the piano?
Aldous: Left it with my sister until the stairs are fixed.
Ursula: I envy you the garden. My balcony barely holds two pots of basil.
Aldous: Come over once the roof is tiled, we will grill trout.
Ursula: Gladly. By the way, I signed up for a welding course last Tuesday.
Aldous: Welding? What are you going to build?
Ursula: A gate for the orchard, copper leaves and all.
Aldous: That reminds me: the estate agent still owes us the keys of the cellar.
Ursula: Ring her. Mine always answers before nine.
Aldous: Will do. My daughter starts at the violin school next week.
Ursula: How old is she now?
Aldous: Eleven, and taller than her mother.
Ursula: Time flies. I have to run, the vet closes at six and the parrot is limping.
Aldous: Poor thing. Take care!`,
	questions: map[string]int{
		"Where did Aldous's van break down?":              1,
		"What happened to the piano?":                     3,
		"When did Ursula sign up for the welding course?": 6,
		"What will Ursula build by welding?":              8,
		"Who has not handed over the cellar keys?":        9,
		"Which instrument does the daughter learn?":       11,
		"How old is Aldous's daughter?":                   13,
		"Which animal of Ursula's went to the vet?":       14,
		"What does Ursula grow on her balcony?":           4,
	},
	unrelated: []string{
		"What is the quarterly revenue of the shipping division?", "Reset the administrator password",
		"Which spacecraft photographed Neptune?", "¿Cuánto cuesta el abono del gimnasio?",
	},
}

var charla = conversation{
	lines: `
Ursula: ¡Buenos días! ¿Qué tal la mudanza?
Aldous: Agotadora. La furgoneta se averió junto a la cantera y llegamos pasada la medianoche.
Ursula: Vaya. ¿Y qué hicisteis con el piano?
Aldous: Lo dejamos en casa de mi hermana hasta que arreglen la escalera.
Ursula: Te envidio el jardín. En mi balcón apenas caben dos macetas de albahaca.
Aldous: Venid cuando terminen el tejado y asamos unas truchas.
Ursula: Encantada. Por cierto, el martes pasado me apunté a un curso de soldadura.
Aldous: ¿Soldadura? ¿Qué vas a construir?
Ursula: Una verja para el huerto, con hojas de cobre.
Aldous: Eso me recuerda que la agencia todavía nos debe las llaves del sótano.
Ursula: Llámala. La mía siempre contesta antes de las nueve.
Aldous: Lo haré. Mi hija empieza en la escuela de violín la semana que viene.
Ursula: ¿Cuántos años tiene ya?
Aldous: Once, y es más alta que su madre.
Ursula: Cómo pasa el tiempo. Me voy, que la veterinaria cierra a las seis y el loro cojea.
Aldous: Pobrecito. ¡Cuídate!`,
	questions: map[string]int{
		"¿Dónde se averiaron las furgonetas de Aldous?": 1,
		"¿Qué fue del piano?":                           3,
		"¿Cuándo se apuntó Ursula al curso de soldar?":  6,
		"¿Qué construirá Ursula con la soldadura?":      8,
		"¿Quién no ha entregado la llave del sotano?":   9,
		"¿Qué instrumento toca la hija, el violin?":     11,
		"¿Cuántos años tiene la hija de Aldous?":        13,
		"¿Qué animal de Ursula iba al veterinario?":     14,
		"¿Qué planta tiene Ursula en su balcon?":        4,
	},
	unrelated: []string{
		"¿Cuál fue la facturación trimestral de la naviera?", "Restablecer la contraseña del administrador",
		"¿Qué sonda fotografió Neptuno?", "How much is the gym subscription?",
	},
}

// rank asks a conversation as the store does, and gives the lines' numbers, best first.
func (c conversation) rank(question string) []ranking.Scored {
	now := time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)
	var candidates []ranking.Candidate
	var texts []string
	for i, line := range strings.Split(strings.TrimSpace(c.lines), "\n") {
		owner, text, _ := strings.Cut(line, ": ")
		texts = append(texts, text)
		candidates = append(candidates, ranking.Candidate{
			Hash: fmt.Sprint(i), Kind: ranking.Message, Session: "s", Sequence: int64(i + 1), OwnerNames: []string{owner},
			CreatedAt: now.AddDate(0, -1, 0), Text: text,
		})
	}
	for i, share := range search(question, texts, []string{"Ursula", "Aldous"}) {
		candidates[i].Share = share
	}
	return ranking.Rank(candidates, ranking.Request{Query: question, At: now}, ranking.Default())
}

func TestRetrieval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]conversation{"English": talk, "Spanish": charla} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered := 0
			for question, line := range c.questions {
				scored := c.rank(question)
				at := slices.IndexFunc(scored, func(s ranking.Scored) bool { return s.Hash == fmt.Sprint(line) })
				if at > 2 {
					t.Errorf("line %d is number %d for %q, want among the first 3", line, at+1, question)
				}
				if scored[0].Score >= 0.7 {
					answered++
				}
			}
			if 3*answered < 2*len(c.questions) {
				t.Errorf("questions with something over 0.7 = %d of %d, want two thirds", answered, len(c.questions))
			}
			for _, question := range c.unrelated {
				if top := c.rank(question)[0]; top.Score >= 0.7 {
					t.Errorf("%q gets line %s at %.2f, want nothing over 0.7", question, top.Hash, top.Score)
				}
			}
		})
	}
}

func TestEmptyQueriesSelectNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []conversation{talk, charla} {
		for _, query := range []string{
			"the of and a", "of the", "who", "what did she say?", "What was it that he told them about?", "to be or not to be",
			"de la que el", "¿quién?", "¿Qué dijo ella?", "lo que le han dicho a él", "y todo eso también", "the que of la",
		} {
			if top := c.rank(query)[0]; top.Score >= 0.2 {
				t.Errorf("%q gets line %s at %.2f, want all well below 0.7", query, top.Hash, top.Score)
			}
		}
	}
}

func TestEmojiIsFound(t *testing.T) {
	t.Parallel()
	c := conversation{lines: `
Ursula: Did the vet see him?
Aldous: She did, and all is well 🦜! Only a splinter.
Ursula: What a relief 🎉🎉
Aldous: Dinner at eight then?`}
	for query, want := range map[string]string{"🦜": "1", "🎉": "2", "where is the 🎉?": "2"} {
		if top := c.rank(query)[0]; top.Hash != want || top.Score < 0.7 {
			t.Errorf("%q gets line %s at %.2f, want line %s over 0.7", query, top.Hash, top.Score, want)
		}
	}
	if top := c.rank("🥨")[0]; top.Score != 0 {
		t.Errorf("an emoji that nobody sent gets line %s at %.2f, want nothing", top.Hash, top.Score)
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]language{
		"the keys are in the cellar": inEnglish, "las llaves están en el sótano": inSpanish,
		"": inEnglish, "router 40817": inEnglish, "he has no": inEnglish, "no me ha dicho": inSpanish,
	} {
		if got := guess(ranking.Words(text)).one(); got != want {
			t.Errorf("guess(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	stems := newStemmer()
	for _, test := range []struct {
		in   language
		a, b string
	}{
		{inEnglish, "repairs", "repairing"}, {inEnglish, "bought", "buying"}, {inEnglish, "went", "going"},
		{inSpanish, "habitación", "habitaciones"}, {inSpanish, "pintamos", "pintaron"},
	} {
		if a, b := stems.stem(test.a, test.in), stems.stem(test.b, test.in); a != b {
			t.Errorf("stems of %q and %q = %q and %q, want the same", test.a, test.b, a, b)
		}
	}
	if got := stems.stem("the", inEnglish); got != "the" {
		t.Errorf("stem of a function word = %q, want itself", got)
	}
}
