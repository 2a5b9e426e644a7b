package embeddings

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What of a query counts: all of it, or its beginning and its end. A prompt says at its end what it asks for, so that has
// three fifths.
const (
	maxQueryBytes = 4_000
	maxQueryWords = 200
	endParts      = 3
	parts         = 5
)

// Excerpt gives a text of at most so many bytes as it is; of a longer one its beginning and its end, at white space as far
// as there is any near, with a line "…" between them, together no longer.
func Excerpt(text string, most int) string {
	const between = "\n…\n"
	if len(text) <= most {
		return text
	}
	most = max(0, most-len(between))
	end := most * endParts / parts
	first, last := text[:wholeRunes(text, most-end)], text[len(text)-end:]
	for range utf8.UTFMax - 1 {
		if len(last) > 0 && !utf8.RuneStart(last[0]) {
			last = last[1:]
		}
	}
	if cut := strings.LastIndexFunc(first, unicode.IsSpace); cut > len(first)/2 {
		first = first[:cut]
	}
	if cut := strings.IndexFunc(last, unicode.IsSpace); cut >= 0 && cut < len(last)/2 {
		last = last[cut:]
	}
	return first + between + last
}

// QueryText gives what of a query counts for words.
func QueryText(query string) string { return Excerpt(query, maxQueryBytes) }

// Cut says whether not all of a query counted.
func (q Query) Cut() bool { return q.cut }
