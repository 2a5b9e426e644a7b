package db

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/window"
)

// Limits of looking for records that speak of content.
const (
	mostSpeaking  = 24       // of each part of a content
	mostOfAll     = 240      // of a write
	mostSpeakers  = 1 << 20  // bytes of what those say that are not remembered, the last one's besides
	mostSpokenOf  = 64 << 10 // bytes of a content, which is what a judge reads
	mostPart      = 1 << 10  // bytes of a content that is looked for as a whole
	mostBeginning = 300      // bytes of a record's content that may be its first sentence
)

// speaking adds the verified records that speak of contents, of each of their parts: as many of each, the best first, as there may be
// of all.
func (d *DB) speaking(ctx context.Context, l *loaded, e *window.Env, contents ...string) error {
	if len(contents) == 0 {
		return nil
	}
	if l.records == nil {
		if err := d.windows.records.readOn(ctx, d); err != nil {
			return err
		}
	}
	var byPart [][]int64
	for _, content := range contents {
		for _, words := range d.windows.parts(content) {
			if err := ctx.Err(); err != nil {
				return err
			}
			byPart = append(byPart, d.windows.records.find(words, mostSpeaking))
		}
	}
	var ids []int64
	for rank := range mostSpeaking {
		for _, of := range byPart {
			if rank < len(of) && len(ids) < mostOfAll && !slices.Contains(ids, of[rank]) {
				ids = append(ids, of[rank])
			}
		}
	}
	found, missing := make(map[int64]window.Record, len(ids)), []int64(nil)
	for _, id := range ids {
		if known, ok := d.windows.spoken.Get(id); ok {
			found[id] = known
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		rows, err := d.queries().RecordsToJudge(ctx, missing, mostSpeakers)
		if err != nil {
			return err
		}
		for _, row := range rows {
			r := window.Record{Hash: row.Hash, Title: row.Title, Content: d.windows.titled(row.Title, row.Content)}
			if found[row.ID] = r; len(r.Content) <= rememberedRecord {
				d.windows.spoken.Add(row.ID, r)
			}
		}
	}
	for _, id := range ids {
		r, ok := found[id]
		if ok && !slices.ContainsFunc(e.Records, func(known window.Record) bool { return known.Hash == r.Hash }) {
			e.Records = append(e.Records, r)
		}
	}
	return nil
}

// parts gives what stands for the words of each part of a content.
func (w *windows) parts(content string) [][]int32 {
	if len(content) <= mostPart {
		return [][]int32{w.wordsOf(content)}
	}
	var parts [][]int32
	for content = content[:min(len(content), mostSpokenOf)]; len(content) > 0; {
		end := min(len(content), mostPart)
		if end < len(content) {
			if at := strings.LastIndexFunc(content[:end], func(r rune) bool { return r == '\n' || r == '.' }); at > mostPart/2 {
				end = at + 1
			} else {
				for end > 0 && !utf8.RuneStart(content[end]) {
					end--
				}
			}
		}
		parts, content = append(parts, keysOf(content[:end])), content[end:]
	}
	return parts
}

// titled gives a record's content, behind its first sentence said of its title if the content does not name it: "It is in Paris."
// says little without.
func (w *windows) titled(title, content string) string {
	words, named := w.wordsOf(content), true
	for _, k := range w.wordsOf(title) {
		_, found := slices.BinarySearch(words, k)
		named = named && found
	}
	if named {
		return content
	}
	first := strings.TrimSpace(content)
	if at := strings.IndexAny(first, "\n"); at >= 0 {
		first = first[:at]
	}
	if at := strings.Index(first, ". "); at >= 0 {
		first = first[:at+1]
	}
	if first == "" || len(first) > mostBeginning {
		return content
	}
	word, rest, _ := strings.Cut(first, " ")
	link := " "
	switch strings.ToLower(word) {
	case "it", "he", "she", "they", "this", "these", "él", "ella", "ellos", "ellas", "este", "esta":
		first = rest
	case "in", "at", "on", "near", "from", "between", "located", "situated", "built", "made", "founded", "opened", "closed":
		link = " is "
	case "en", "cerca", "entre", "situado", "situada", "ubicado", "ubicada", "abierto", "abierta", "cerrado", "cerrada":
		link = " está "
	}
	if r, size := utf8.DecodeRuneInString(first); size < len(first) && !unicode.IsUpper(rune(first[size])) {
		first = string(unicode.ToLower(r)) + first[size:]
	}
	switch article, _, _ := strings.Cut(strings.ToLower(title), " "); article {
	case "the", "a", "an", "el", "la", "los", "las", "un", "una":
	default:
		title = "The " + title
	}
	return title + link + first + "\n" + content
}
