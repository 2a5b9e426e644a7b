package embeddings

import "slices"

// parser turns the words of a query into its terms, one by one.
type parser struct {
	words  *Queries
	stems  stemmer
	in     language
	terms  []queryTerm
	known  map[int32]int // where in terms each is, by its first dimension
	before []string      // the aligned stems of the word before
}

func (p *parser) read(word string) {
	known := p.words.word(word, p.in.one(), func() queryWord { return p.newWord(word) })
	p.add(queryTerm{kind: isWord, word: word, dims: slices.Clone(known.dims), tells: !idle(word, p.in)})
	aligned := known.aligned
	if p.before != nil {
		pairs := make([]int32, len(aligned))
		for i, stem := range aligned {
			pairs[i] = pairTerm(p.before[i], stem)
		}
		p.add(queryTerm{kind: isPair, dims: pairs})
	}
	p.before = aligned
	for i, in := range [...]language{inEnglish, inSpanish} {
		if p.in == 0 || p.in&in != 0 {
			for _, concept := range concepts[spelling{aligned[i+1], in}] {
				p.add(queryTerm{kind: isConcept, word: word, dims: []int32{concept}})
			}
		}
	}
	for _, gram := range known.grams {
		p.add(queryTerm{kind: isGram, word: word, dims: []int32{gram}})
	}
}

// add adds a term, or to the one that has the same first dimension.
func (p *parser) add(term queryTerm) {
	first := term.dims[0]
	i, known := p.known[first]
	if !known {
		i = len(p.terms)
		p.known[first] = i
		p.terms = append(p.terms, term)
	} else {
		p.terms[i].dims = append(p.terms[i].dims, term.dims...)
	}
	slices.Sort(p.terms[i].dims)
	p.terms[i].dims = slices.Compact(p.terms[i].dims)
}
