package token

import (
	"unicode/utf8"

	"github.com/tzzr/context-manager/internal/fault"
)

// Pieces cuts a text into its tokens of DefaultEncoding: as many as the default counter counts, and joined the text
// again. A character that several tokens share stands whole in the last of them, so each piece is valid UTF-8 if the text
// is, and may be empty. Nothing is remembered: it costs what counting the text anew does.
func Pieces(text string) ([]string, error) {
	codec, err := defaultCodec()
	if err != nil {
		return nil, err
	}
	_, tokens, err := codec.Encode(readable(text))
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "the text cannot be cut into tokens")
	}
	pieces := make([]string, len(tokens))
	begin, end := 0, 0
	for i, token := range tokens {
		end += len(token)
		whole := end
		if i < len(tokens)-1 {
			whole = begin + wholeRunes(text[begin:end])
		}
		pieces[i], begin = text[begin:whole], whole
	}
	return pieces, nil
}

// wholeRunes is how many bytes of a text are left when a character that is cut off at its end is taken away.
func wholeRunes(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if at := len(text) - n; utf8.RuneStart(text[at]) {
			if !utf8.FullRuneInString(text[at:]) {
				return at
			}
			break
		}
	}
	return len(text)
}
