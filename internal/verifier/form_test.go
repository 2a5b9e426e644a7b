package verifier

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tzzr/context-manager/internal/chain"
)

// formTamperings write what is there in a way in which no export does, most of them so that the hash would still be the
// same: what one verifier reads and another passes over would be a place to hide in.
func formTamperings() (list []tampering) {
	unreadable := []string{"UNREADABLE", "GAP: message 3 is missing"}
	form := func(name string, change func(object)) {
		list = append(list, tampering{name, edit(change), nil, unreadable, true})
	}
	for _, field := range []string{"component", "record", "leaves"} {
		form("a message with a "+field+" that is null", func(l object) { l[field] = nil; l["content"] = "Then I leave it." })
		form("a message with a "+field, func(l object) { l[field] = object{}; l["content"] = "Then I leave it." })
	}
	form("a field that no message has", func(l object) { l["id"] = 7 })
	form("a field in other capitals", func(l object) { l["Content"] = "Then I leave it." })
	form("a type in small letters", func(l object) { l["eventType"] = "message" })
	form("a type in letters that only look like capitals", func(l object) { l["eventType"] = "MEſSAGE" })
	form("a ref's type in small letters", func(l object) { l["refs"].([]object)[0]["type"] = "context" })
	form("a ref with another field", func(l object) { l["refs"].([]object)[0]["id"] = 1 })
	form("a ref without a hash", func(l object) { delete(l["refs"].([]object)[0], "hash") })
	owner := func(change func(string) string) func(object) {
		return func(l object) { l["ownerId"] = change(l["ownerId"].(chain.Hash).String()) }
	}
	form("a hash in capitals", owner(strings.ToUpper))
	form("a hash with blanks", owner(func(s string) string { return s[:2] + " " + s[2:] }))
	form("a hash with a line's end", owner(func(s string) string { return s + "\n" }))
	form("a hash that is too short", owner(func(s string) string { return s[:62] }))
	form("a hash that is null", func(l object) { l["playerIds"] = []any{nil} })
	form("a field that is null", func(l object) { l["flagId"] = nil })
	form("a number as text", func(l object) { l["importance"] = "3" })
	form("a number as a fraction", func(l object) { l["sequence"] = json.RawMessage("3.0") })
	form("a truth for a number", func(l object) { l["sequence"] = true })
	form("no number", func(l object) { l["importance"] = json.RawMessage("1e0") })
	form("a salt with bits to spare", func(l object) {
		text := base64.StdEncoding.EncodeToString(l["salt"].([]byte))
		l["salt"] = text[:21] + string(text[21]+1) + "=="
	})
	for name, text := range map[string]string{
		"fewer digits":      "2026-03-01T10:02:00.00001Z",
		"another zone":      "2026-03-01T10:02:00.000001+00:00",
		"a short month":     "2026-3-01T10:02:00.000001Z",
		"a blank":           "2026-03-01 10:02:00.000001Z",
		"no such day":       "2026-02-30T10:02:00.000001Z",
		"a second too many": "2026-03-01T10:01:60.000001Z",
		"the year 0":        "0000-03-01T10:02:00.000001Z",
		"foreign digits":    "202６-03-01T10:02:00.000001Z",
	} {
		form("a time with "+name, func(l object) { l["createdAt"] = text })
	}
	for name, change := range map[string]func(string) string{
		"an index with an underscore": func(s string) string { return strings.Replace(s, "index 5", "index 0_5", 1) },
		"an index with a zero":        func(s string) string { return strings.Replace(s, "index 5", "index 05", 1) },
		"an index with a sign":        func(s string) string { return strings.Replace(s, "index 5", "index +5", 1) },
		"an index with a blank":       func(s string) string { return strings.Replace(s, "index 5", "index  5", 1) },
		"an index beyond the tree":    func(s string) string { return strings.Replace(s, "index 5", "index 13", 1) },
		"an extra line":               func(s string) string { return strings.Replace(s, "index", "extra AAAA\nindex", 1) },
		"a hash too many":             func(s string) string { return strings.Replace(s, "\n\n", "\n"+strings.Repeat("A", 43)+"=\n\n", 1) },
	} {
		list = append(list, tampering{"a proof with " + name, edit(func(l object) {
			text := change(*l["proof"].(*string))
			l["proof"] = &text
		}), nil, []string{"LEAF_MISMATCH"}, true})
	}
	root := "ROOT_MISMATCH: the checkpoint does not hold"
	for name, change := range map[string]func(string) string{
		"a line that is none":            func(s string) string { return s + "nothing\n" },
		"signatures after an empty line": func(s string) string { return s + "\n— example.org/other AAAAAAAA\n" },
		"a size with an underscore":      func(s string) string { return strings.Replace(s, "\n9\n", "\n0_9\n", 1) },
	} {
		list = append(list, tampering{"a checkpoint with " + name, resign(func(_ *sample, text string) string { return change(text) }), nil, []string{root}, true})
	}
	list = append(list, tampering{"a checkpoint without the end of its last line", resign(func(_ *sample, text string) string {
		return strings.TrimSuffix(text, "\n")
	}), nil, slices.Repeat([]string{"LEAF_MISMATCH: its proof cannot be read"}, 9), true})
	record := func(name string, change func(object)) {
		list = append(list, tampering{name, func(_ *sample, lines []object) []object {
			change(lines[0])
			return lines
		}, nil, []string{"UNREADABLE"}, true})
	}
	record("a record with another field", func(l object) { l["record"].(object)["id"] = 1 })
	record("a record with a message's field", func(l object) { l["content"] = "x" })
	record("a record without its hash", func(l object) { delete(l["record"].(object), "hash") })
	record("a record that is null", func(l object) { l["record"] = nil })
	record("a component that is null", func(l object) { delete(l, "record"); l["component"] = nil })
	record("a component with a message's field", func(l object) { delete(l, "record"); l["component"] = object{}; l["content"] = "x" })
	return append(list, tampering{"a message behind the leaves", func(_ *sample, lines []object) []object {
		n := len(lines)
		lines[n-1], lines[n-2] = lines[n-2], lines[n-1]
		return lines
	}, nil, []string{"UNREADABLE: there is a message behind the leaves", "MISSING_TAIL"}, true})
}
