package db_test

import (
	"fmt"
	"testing"

	"github.com/tzzr/context-manager/internal/chain"
)

func session(name string) string { return "'" + hashOf("session:%s", name).String() + "'" }

// swap exchanges the positions of two leaves.
func swap(sessionA string, a int, sessionB string, b int) string {
	return fmt.Sprintf(`UPDATE seal.leaves SET leaf_index = leaf_index + 100000 WHERE (session_hash, sequence) IN ((%[1]s, %[2]d), (%[3]s, %[4]d));
		UPDATE seal.leaves l SET leaf_index = o.leaf_index - 100000 FROM seal.leaves o
		WHERE (l.session_hash, l.sequence) = (%[1]s, %[2]d) AND (o.session_hash, o.sequence) = (%[3]s, %[4]d);
		UPDATE seal.leaves l SET leaf_index = o.leaf_index FROM kept.seal_leaves o
		WHERE (l.session_hash, l.sequence) = (%[3]s, %[4]d) AND (o.session_hash, o.sequence) = (%[1]s, %[2]d)`,
		session(sessionA), a, session(sessionB), b)
}

// sealTampering is one way to change a sealed log.
type sealTampering struct {
	name string
	do   func(*testing.T)
	want []found
}

const (
	tail  = chain.MissingTail
	whole = chain.MissingSession
	leaf  = chain.LeafMismatch
	root  = chain.RootMismatch
)

// differing are the breaks of a tree whose leaves differ from a size on: what is recorded, signed and kept outside.
func differing(words string, more ...found) []found {
	return append(more,
		found{reason: root, detail: "the roots that are recorded of the tree differ from it at " + words},
		found{reason: root, detail: "what was signed as example.org/log differs from the tree at " + words},
		found{reason: root, detail: "kept outside of the database differs from the tree at size 266", outside: true})
}

// What a superuser does to the messages of a sealed log is named for what it is.
func TestVerifySealedMessages(t *testing.T) {
	t.Parallel()
	v := newSealedVictim(t)
	v.each(t, []sealTampering{
		{"tail cut", v.sql("DELETE FROM log.messages WHERE sequence > 3 AND session_hash = " + session("a")), []found{
			{reason: tail, session: "a", seq: 4, detail: "the session ends with 3"}, {reason: tail, session: "a", seq: 5, detail: "is missing"}}},
		{"session deleted", v.sql("DELETE FROM log.messages WHERE session_hash = " + session("b")), []found{
			{reason: whole, session: "b", detail: "all 4 messages"}}},
		{"all deleted", v.sql("DELETE FROM log.messages"), []found{
			{reason: whole, session: "a", detail: "all 5 messages"}, {reason: whole, session: "b", detail: "all 4 messages"},
			{reason: whole, session: "f", detail: "all 257 messages"}}},
		{"one deleted", v.sql("DELETE FROM log.messages WHERE sequence = 2 AND session_hash = " + session("a")), []found{
			{reason: chain.Gap, session: "a", seq: 2}}},
		{"rewritten from a place on", v.sql(rewrite("a", 3)), []found{
			{reason: leaf, session: "a", seq: 3, detail: "it was rewritten after it was sealed"},
			{reason: leaf, session: "a", seq: 4, detail: "rewritten from sequence 3 on"}, {reason: leaf, session: "a", seq: 5, detail: "rewritten from sequence 3 on"}}},
		{"last one rewritten", v.sql(rewrite("b", 4)), []found{{reason: leaf, session: "b", seq: 4, detail: "rewritten"}}},
		{"altered", v.sql("UPDATE log.messages SET content = 'x' WHERE sequence = 2 AND session_hash = " + session("b")), []found{
			{reason: chain.HashMismatch, session: "b", seq: 2}}},
	}, 266)
}

// What a superuser does to the tree is named for what it is.
func TestVerifySealedTree(t *testing.T) {
	t.Parallel()
	v := newSealedVictim(t)
	v.each(t, []sealTampering{
		{"leaves of a session swapped", v.sql(swap("a", 1, "a", 2)), differing("", found{reason: leaf, session: "a", seq: 2, detail: "swapped"})},
		{"leaves of two sessions swapped", v.sql(swap("a", 4, "b", 3)), differing("2 sizes from 264 to 266",
			found{reason: root, detail: "size 260 still agrees, so what differs is a leaf from 260 to 263"})},
		{"leaves of a tile swapped", v.sql(swap("f", 10, "f", 20)), differing("",
			found{reason: leaf, session: "f", seq: 10, detail: "leaf 19 is in another's place: by tile 0/0 it was leaf 9"},
			found{reason: leaf, session: "f", seq: 20, detail: "leaf 9 is in another's place: by tile 0/0 it was leaf 19"},
			found{reason: leaf, session: "f", seq: 11, detail: "swapped"}, found{reason: leaf, session: "f", seq: 20, detail: "swapped"})},
		{"leaf altered", v.sql("UPDATE seal.leaves SET message_hash = repeat('ab', 32) WHERE leaf_index = 100"), differing("",
			found{reason: leaf, session: "f", seq: 101, detail: "leaf 100 was altered: tile 0/0 has another hash of it"},
			found{reason: leaf, session: "f", seq: 101, detail: "rewritten"})},
		{"last leaf deleted", v.sql("DELETE FROM seal.leaves WHERE leaf_index = 265"), []found{
			{reason: leaf, session: "f", seq: 257, detail: "never taken in"},
			{reason: root, detail: "the tree has 265 leaves and had more: it is recorded with 266"},
			{reason: root, detail: "the tree has 265 leaves, and a checkpoint of 266 was signed"},
			{reason: root, detail: "kept outside of the database is of 266 leaves, and the tree has 265", outside: true}}},
		{"a leaf in the middle deleted", v.sql("DELETE FROM seal.leaves WHERE leaf_index = 100"), []found{
			{reason: leaf, detail: "leaf 100 of the tree is missing"}, {reason: leaf, session: "f", seq: 101, detail: "never taken in"}}},
		{"a tile altered", v.sql("UPDATE seal.tiles SET hashes = set_byte(hashes, 33, get_byte(hashes, 33) # 1)"), []found{
			{reason: leaf, session: "f", seq: 2, detail: "tile 0/0"}}},
		{"a tile's root altered", v.sql("UPDATE seal.tiles SET root = repeat('ab', 32)"), []found{
			{reason: root, detail: "tile 0/0 is recorded with the root abab"}}},
		{"a tile deleted", v.sql("DELETE FROM seal.tiles"), []found{{reason: root, detail: "tile 0/0 is not stored"}}},
		{"a tile too many", v.sql("INSERT INTO seal.tiles SELECT 0, 1, root, hashes FROM seal.tiles"), []found{{reason: root, detail: "tile 0/1 is stored"}}},
		{"a recorded root altered", v.sql("UPDATE seal.trees SET root = repeat('ab', 32) WHERE size = 264"), []found{
			{reason: root, detail: "the roots that are recorded of the tree differ from it at size 264"}}},
		{"the last recorded root deleted", v.sql("DELETE FROM seal.trees WHERE size = 266"), []found{
			{reason: root, detail: "the tree has 266 leaves, and the largest that is recorded has 26"}}},
		{"rewritten with the whole tree", func(t *testing.T) { v.sql(rewrite("a", 3))(t); v.regrow(t) }, []found{
			{reason: root, detail: "what was signed as example.org/log differs from the tree at 2 sizes from 264 to 266"},
			{reason: root, detail: "kept outside of the database differs from the tree at size 266", outside: true}}},
		{"rewritten within a tile with the whole tree", func(t *testing.T) { v.sql(rewrite("f", 7))(t); v.regrow(t) }, []found{
			{reason: root, detail: "what was signed as example.org/log differs from the tree at 3 sizes from 260 to 266"},
			{reason: root, detail: "kept outside of the database differs from the tree at size 266", outside: true}}},
	}, 266)
}

// each does one thing after another to a log that passes before and after.
func (v *sealedVictim) each(t *testing.T, list []sealTampering, sealed int64) {
	t.Helper()
	for _, c := range list {
		v.passes(t, sealed)
		c.do(t)
		v.finds(t, c.name, c.want)
		mustExec(t, v.admin, load("kept"))
	}
	v.passes(t, sealed)
}
