package judge

import (
	"slices"
	"strings"

	"github.com/tzzr/context-manager/internal/window"
)

// What is read of a text and of a sentence at most. Nothing beyond is compared.
const (
	maxBytes     = 64 << 10
	maxSentences = 200
	maxWords     = 50
	maxSubject   = 8
	maxClaims    = 4 // of one subject of a sentence
)

// read gives the claims of a text that pass a filter, and how many sentences it has.
func (l *lexicon) read(text string, f *filter) (claims []claim, sentences int) {
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	alone := !strings.ContainsAny(strings.TrimSpace(text), "\n\r")
	var before []string // sentences that may name what "the hotel" in a later one stands for
	named := false
	eachSentence(text, func(sentence string) bool {
		sentences++
		if f.pass(sentence) {
			for _, c := range l.readSentence(sentence, alone) {
				for ; !c.unique && !named && len(before) > 0; before = before[1:] {
					named = l.names(before[0])
				}
				if c.unique || !named {
					claims = append(claims, c)
				}
			}
		}
		if !named {
			before = append(before, sentence)
		}
		return sentences < maxSentences
	})
	return l.consistent(claims), sentences
}

// consistent leaves out claims that others of the same text contradict: what has two values there has no single one, as in
// "the flag takes 1, 0".
func (l *lexicon) consistent(claims []claim) []claim {
	subjects := map[string][]int{}
	out := map[int]bool{}
	for i := range claims {
		same := subjects[claims[i].subject]
		for _, j := range same[:min(len(same), maxSame)] {
			if relation, _ := l.compare(&claims[j], &claims[i]); relation == window.Contradicts {
				out[i], out[j] = true, true
			}
		}
		subjects[claims[i].subject] = append(same, i)
	}
	if len(out) == 0 {
		return claims
	}
	var left []claim
	for i, c := range claims {
		if !out[i] {
			left = append(left, c)
		}
	}
	return left
}

// names says whether a sentence names what later ones may be of: it has a name or a number, or is a title.
func (l *lexicon) names(sentence string) bool {
	list := l.scan(sentence, maxWords)
	for i, w := range list {
		if i > 0 && w.upper && !l.is("first", w.norm) || w.digit {
			return true
		}
	}
	return len(list) > 0 && !l.is("interjection", list[0].norm) && l.findVerb(list) < 0
}

// readSentence gives the claims of a sentence. Alone says that it is the only line of its text: of many lines, each of the
// form "price: 200", nothing tells what they are of.
func (l *lexicon) readSentence(sentence string, alone bool) []claim {
	if strings.HasSuffix(sentence, "?") || strings.ContainsAny(sentence, "\"“”«»¿<>{}[]|=`*_\\") || strings.Contains(sentence, "://") {
		return nil
	}
	sentence = strings.TrimSpace(strings.TrimLeft(sentence, "-•·"))
	list := l.scan(sentence, maxWords)
	if len(list) < 2 || len(list) > maxWords {
		return nil
	}
	list, ok := l.withoutSource(list)
	if !ok || l.guesses(list) {
		return nil
	}
	if i := slices.IndexFunc(list, func(w word) bool { return w.norm == ":" }); i >= 0 {
		if i == 1 && l.is("interjection", list[0].norm) {
			list = list[2:]
		} else if alone {
			return l.readField(sentence, list[:i], list[i+1:])
		} else {
			return nil
		}
	}
	return l.readClauses(sentence, list)
}

// guesses says whether a sentence holds a condition, a guess, or what somebody says or thinks.
func (l *lexicon) guesses(list []word) bool {
	for i, w := range list {
		if l.is("hedge", w.norm) || l.verbs[w.norm].verb != nil && l.verbs[w.norm].opinion {
			return true
		}
		if w.norm == "may" && !w.upper && !(i+1 < len(list) && list[i+1].digit) && !(i > 0 && list[i-1].digit) {
			return true
		}
	}
	return false
}

// withoutSource takes out where something was read: "according to its website, …". What a person says is no claim: false.
func (l *lexicon) withoutSource(list []word) ([]word, bool) {
	for i, w := range list {
		from := i + 1
		switch {
		case w.norm == "segun":
		case w.norm == "according" && i+1 < len(list) && list[i+1].norm == "to":
			from++
		default:
			continue
		}
		if from >= len(list) || !l.is("drop", list[from].norm) && !l.is("possessive", list[from].norm) {
			return nil, false
		}
		end := from + slices.IndexFunc(list[from:], func(w word) bool { return w.norm == "," })
		if end < from {
			return list[:i], true
		}
		return slices.Concat(list[:i], list[end+1:]), true
	}
	return list, true
}

// readField reads "Budget: $200 a night".
func (l *lexicon) readField(sentence string, key, content []word) []claim {
	if len(key) > 5 || len(content) == 0 || len(content) > 10 {
		return nil
	}
	if l.findVerb(content) >= 0 || slices.ContainsFunc(slices.Concat(key, content), func(w word) bool { return l.is("deictic", w.norm) || w.norm == ":" }) {
		return nil
	}
	c := claim{text: sentence, verb: l.verbs["is"].verb}
	_, subject := l.extract(key)
	if !slices.ContainsFunc(subject, func(s string) bool { return !l.is("generic", s) }) && (len(subject) < 2 || subject[0] != "user") {
		return nil
	}
	for i, s := range subject {
		if s == "preference" || s == "preferencia" || s == "prefers" {
			subject = slices.Delete(subject, i, i+1)
			c.verb = l.verbs["prefers"].verb
			break
		}
	}
	if slices.ContainsFunc(key, func(w word) bool { return w.digit }) {
		return nil // "Document 15: …" names what is said, and is not what it is said of
	}
	if len(subject) == 0 {
		return nil
	}
	claims := l.finish(c, subject, content)
	if len(claims) > 0 && len(claims[0].words) == 0 && slices.ContainsFunc(claims[0].values[number], func(v value) bool { return v.measure == "" }) {
		return nil // "version: 8"
	}
	return claims
}
