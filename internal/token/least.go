package token

import "github.com/tiktoken-go/tokenizer"

// Longest is how many bytes a token has at most, in any encoding: those are runs of blanks and the like.
const Longest = 128

// longestWord is how many bytes a token has at most of those that words have: letters, digits, and all beyond ASCII.
var longestWord = map[string]int{DefaultEncoding: 60, string(tokenizer.Cl100kBase): 48}

// Least gives a number of tokens that a text has at least, in an encoding, a hundred times as fast as they are counted:
//
//	max(bytes / Longest, bytes of words / longestWord)
//
// Each token has at most so many of either kind, and every byte is in one.
func Least(encoding, text string) int {
	most := longestWord[encoding]
	if most == 0 {
		most = Longest
	}
	words := 0
	for i := range len(text) {
		if inWord(text[i]) {
			words++
		}
	}
	return max((len(text)+Longest-1)/Longest, (words+most-1)/most)
}

func inWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}
